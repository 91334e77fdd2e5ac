//! The object of the arguments, parameter by parameter.

use super::error::ReadError;
use super::flatten::Flattened;
use super::program::{ANY, Fields, Property};
use super::read::Reader;
use super::seen::Seen;
use crate::json::scan::Scanner;
use serde::Deserialize;

/// How far the object of the arguments is read.
#[derive(Debug)]
pub(super) struct Top<'a> {
    pub(super) fields: Option<&'a Fields>,
    pub(super) started: bool,
    pub(super) blank: bool,
    /// The properties after the last that came: keys mostly come in their order.
    pub(super) ahead: &'a [Property],
    pub(super) seen: Seen<'a>,
    /// Keys of flattened parameters: which parameter (or none in particular) and where the key begins.
    pub(super) flattened: Vec<(Option<usize>, usize)>,
}

impl<'a> Top<'a> {
    pub(super) fn new(fields: Option<&'a Fields>) -> Self {
        Self {
            fields,
            started: false,
            blank: false,
            ahead: fields.map_or(&[], |fields| &fields.properties),
            seen: Seen::default(),
            flattened: Vec::new(),
        }
    }
}

impl<'a> Reader<'a> {
    /// Opens the object of the arguments. Blank text is an empty object.
    ///
    /// # Errors
    ///
    /// When something else than an object begins, or one that the schema refuses as a whole.
    pub fn object(&mut self) -> Result<(), ReadError> {
        match self.scan.peek() {
            None => self.top.blank = true,
            Some(b'{') => {
                let root = self.program.node(self.node);
                if root.walked
                    && let Err(error) = self.walk(self.node)
                    && !self.is_unclear_as_a_whole()
                {
                    return Err(error);
                }
                self.open()?;
            }
            Some(_) => return Err(self.unfit()),
        }
        self.node = ANY;
        Ok(())
    }

    /// The parameter whose value comes next: its index among the parameters that the schema was built from. `None`
    /// after the last, with the object checked and nothing behind it.
    ///
    /// Read its value with [`value`](Self::value) or pass it with [`skip`](Self::skip). Properties of flattened
    /// parameters are checked and passed on the way; [`flattened`](Self::flattened) reads them afterwards.
    ///
    /// # Errors
    ///
    /// When a key is unknown or given twice, a required one is missing, or the text is not JSON.
    #[inline]
    pub fn next_parameter(&mut self) -> Result<Option<usize>, ReadError> {
        match self.quick_parameter() {
            None => self.find_parameter(),
            parameter => Ok(parameter),
        }
    }

    /// As `next_parameter`, whatever comes next.
    #[inline(never)]
    fn find_parameter(&mut self) -> Result<Option<usize>, ReadError> {
        if let Some(mut gathering) = self.gathering.take() {
            let next = self.next_gathered(&mut gathering);
            self.gathering = Some(gathering);
            return next;
        }
        let (program, fields) = (self.program, self.top.fields);
        while !self.top.blank && self.scan.another(!self.top.started, b'}')? {
            self.top.started = true;
            self.scan.peek();
            let position = self.scan.position();
            let key = self.scan.key()?;
            let property = fields.and_then(|fields| fields.find_from(&mut self.top.ahead, &key));
            let is_new = match property {
                Some((index, _)) => self.top.seen.insert(index),
                None => self.top.seen.insert_other(key.clone()),
            };
            if !is_new {
                return Err(self.unfit());
            }
            let rest = fields.map_or(ANY, |fields| fields.rest);
            let (node, owner) = match property {
                Some((_, property)) if property.is_left_out(program, self.scan) => {
                    self.scan.literal("null")?;
                    self.has_left_out = true;
                    continue;
                }
                Some((_, property)) => (property.node, property.owner),
                None => (rest, Owner::Rest),
            };
            match owner {
                Owner::Parameter(parameter) => {
                    self.node = node;
                    return Ok(Some(parameter));
                }
                Owner::Flattened(parameter) => {
                    self.walk_on(node)?;
                    self.top.flattened.push((Some(parameter), position));
                }
                Owner::Rest => {
                    self.walk_on(node)?;
                    self.top.flattened.push((None, position));
                }
            }
        }
        if fields.is_some_and(|fields| fields.lacks(&self.top.seen)) {
            return Err(self.unfit());
        }
        self.scan.end()?;
        Ok(None)
    }

    /// Reads the value of the parameter that [`next_parameter`](Self::next_parameter) returned.
    ///
    /// # Errors
    ///
    /// When it does not fit the schema, or `T` refuses it.
    pub fn value<T: Deserialize<'a>>(&mut self) -> Result<T, ReadError> {
        let at = self.scan.position();
        match T::deserialize(&mut *self) {
            Ok(value) => Ok(value),
            Err(error) => Err(self.back_to(at, error)),
        }
    }

    /// Stands again before a value that was refused.
    #[cold]
    fn back_to(&mut self, at: usize, mut error: ReadError) -> ReadError {
        self.scan = Scanner::new_at(self.scan.text(), at);
        self.depth = 1;
        self.node = ANY;
        error.put_within(at);
        error
    }

    /// Passes the value of the parameter that [`next_parameter`](Self::next_parameter) returned, checking it.
    ///
    /// # Errors
    ///
    /// When it does not fit the schema.
    pub fn skip(&mut self) -> Result<(), ReadError> {
        let node = std::mem::replace(&mut self.node, ANY);
        self.walk_on(node)
    }

    /// Reads a flattened parameter, after [`next_parameter`](Self::next_parameter) has returned `None`: `T` gets the
    /// properties that its schema declares, and those that nobody declares where its schema leaves room for them (a
    /// map, an enum).
    ///
    /// # Errors
    ///
    /// When `T` refuses them.
    pub fn flattened<T: Deserialize<'a>>(&mut self, parameter: usize) -> Result<T, ReadError> {
        if self.is_spoilt(parameter) {
            return Err(self.unfit());
        }
        let mine = self
            .top
            .flattened
            .iter()
            .filter(|(owner, _)| owner.is_none_or(|owner| owner == parameter));
        let keys: Vec<usize> = mine.map(|(_, position)| *position).collect();
        T::deserialize(Flattened::new(self, keys))
    }
}

/// Whose a top-level property is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// A parameter of this index.
    Parameter(usize),
    /// A flattened parameter of this index.
    Flattened(usize),
    /// No one's in particular: flattened maps and enums look at it.
    Rest,
}
