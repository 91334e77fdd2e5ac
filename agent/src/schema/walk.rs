//! The program run over raw text without decoding: quietly, for a node that needs the whole value at once, and aloud,
//! after a failure, to name every problem.
//!
//! Quiet and aloud are one walk, so that they cannot differ: the quiet one stops at the first problem. What is said
//! where no alternative fits is in `alternatives`.

use super::error::Stop;
use super::number::Number;
use super::problem::{Found, MOST_PROBLEMS, Report, Step};
use super::program::{Fields, Id, List, NEVER, Node, Program, Types};
use super::seen::Seen;
use super::{describe, values};
use crate::json::scan::{Fault, MAX_DEPTH, ScanError, Scanner};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

/// How many nodes are walked inside one another: several for each level of a value that is deep and may be of many kinds.
const MOST_NESTED: usize = 512;

/// Whether the value fits; after `Ok(false)` the quiet walk stands anywhere.
pub(super) type Fits = Result<bool, ScanError>;

pub(super) struct Walk<'a> {
    pub(super) scan: Scanner<'a>,
    pub(super) program: &'a Program,
    pub(super) depth: usize,
    /// How many nodes are being walked, each inside the one before.
    nested: usize,
    /// What was found of a node at a place inside a union, so that unions in unions do not cost their product.
    memo: BTreeMap<(Id, usize), Option<usize>>,
    unions: usize,
    pub(super) report: Option<Report<'a>>,
}

impl<'a> Walk<'a> {
    /// A quiet walk.
    pub(super) fn quiet(program: &'a Program, scan: Scanner<'a>, depth: usize) -> Self {
        Self {
            scan,
            program,
            depth,
            nested: 0,
            memo: BTreeMap::new(),
            unions: 0,
            report: None,
        }
    }

    /// A walk that reports.
    pub(super) fn aloud(program: &'a Program, text: &'a str) -> Self {
        Self {
            report: Some(Report::default()),
            ..Self::quiet(program, Scanner::new(text), 0)
        }
    }

    pub(super) fn tell(&mut self, message: impl FnOnce(bool) -> String) -> bool {
        self.may_mend();
        self.tell_for_good(message)
    }

    /// Notes that mending might change what is found here.
    pub(super) fn may_mend(&mut self) {
        if let Some(report) = &mut self.report {
            report.may_mend = true;
        }
    }

    /// As `tell`, of a problem that no mending would take away.
    fn tell_for_good(&mut self, message: impl FnOnce(bool) -> String) -> bool {
        if let Some(report) = &mut self.report {
            if report.is_full() {
                report.omit(1);
            } else {
                let message = message(report.hidden > 0);
                report.push(message);
            }
        }
        false
    }

    /// Whether a quiet walk may stop here.
    fn done(&self, fits: bool) -> bool {
        !fits && self.report.is_none()
    }

    /// Walks one value against a node.
    pub(super) fn value(&mut self, id: Id) -> Fits {
        if self.nested >= MOST_NESTED {
            return Err(self.scan.error(Fault::Depth));
        }
        self.nested += 1;
        let fits = self.node(id);
        self.nested -= 1;
        fits
    }

    fn node(&mut self, id: Id) -> Fits {
        let program = self.program;
        let node = program.node(id);
        let byte = self.scan.peek_value()?;
        if node.free {
            return self.anything(byte);
        }
        if let Some(inner) = node.nullable {
            if byte == b'n' {
                self.scan.literal("null")?;
                return Ok(true);
            }
            return self.value(inner);
        }
        let start = self.scan.position();
        if !node.types.may_begin(byte) {
            let text = self.scan.text();
            if self.report.is_some() && is_mended(node.types, self.scan) {
                self.may_mend();
            }
            self.tell_for_good(|hidden| describe::must_be(program, id, text, start, hidden));
            if self.report.is_some() {
                self.scan.skip(self.depth)?;
            }
            return Ok(false);
        }
        let mut fits = true;
        if node.walked {
            fits = self.applied(node, start, byte)?;
            if self.done(fits) {
                return Ok(false);
            }
            self.may_mend();
            self.scan = Scanner::new_at(self.scan.text(), start);
        }
        Ok(self.own(node, byte, start)? && fits)
    }

    /// The keywords of the value's own type.
    fn own(&mut self, node: &'a Node, byte: u8, start: usize) -> Fits {
        let text = self.scan.text();
        match byte {
            b'"' if node.text.is_some() => {
                let value = self.scan.string()?;
                match &node.text {
                    Some(wanted) if !node.takes_text(&value) => {
                        if node.types != Types::STRING || is_other(&value) {
                            self.may_mend();
                        }
                        Ok(self.tell_for_good(|hidden| {
                            wanted.problem(&value, hidden).unwrap_or_default()
                        }))
                    }
                    _ => Ok(true),
                }
            }
            b'-' | b'0'..=b'9' => {
                let written = self.scan.number()?;
                let number = Number::read(written);
                if node.takes_number(number, written.text) {
                    return Ok(true);
                }
                let shown = |hidden| describe::value(text, start, hidden);
                let is_whole = matches!(number, Number::Whole(_)) && node.types.has(Types::INTEGER);
                if !is_whole {
                    self.may_mend();
                }
                Ok(self.tell_for_good(|hidden| {
                    node.number_problem(number, written.text, &shown(hidden))
                        .unwrap_or_default()
                }))
            }
            b'[' => match &node.list {
                Some(list) => self.list(list),
                None => self.anything(byte),
            },
            b'{' => match &node.fields {
                Some(fields) => self.fields(fields),
                None => self.anything(byte),
            },
            _ => self.anything(byte),
        }
    }

    /// A value of which nothing is wanted, but that none of its objects has a key twice.
    fn anything(&mut self, byte: u8) -> Fits {
        static LIST: LazyLock<List> = LazyLock::new(List::any);
        static FIELDS: LazyLock<Fields> = LazyLock::new(Fields::any);
        match byte {
            b'[' => self.list(&LIST),
            b'{' => self.fields(&FIELDS),
            _ => {
                self.scan.skip(self.depth)?;
                Ok(true)
            }
        }
    }

    fn open(&mut self) -> Result<(), ScanError> {
        if self.depth + 1 >= MAX_DEPTH {
            return Err(self.scan.error(Fault::Depth));
        }
        self.scan.pass();
        self.depth += 1;
        Ok(())
    }

    fn list(&mut self, list: &'a List) -> Fits {
        self.open()?;
        let mut fits = true;
        let mut count = 0;
        let mut seen = list.unique.then(HashMap::new);
        while self.scan.another(count == 0, b']')? {
            let id = list.first.get(count).copied().unwrap_or(list.items);
            if let Some(report) = &mut self.report {
                report.path.push(Step::Index(count));
            }
            self.scan.peek_value()?;
            let start = self.scan.position();
            fits &= self.value(id)?;
            if let Some(seen) = &mut seen
                && !self.done(fits)
            {
                let element = values::canonical(
                    self.scan
                        .text()
                        .get(start..self.scan.position())
                        .unwrap_or_default(),
                );
                if let Some(first) = seen.insert(element, count) {
                    fits = self.tell(|_| {
                        format!("must differ from the other items, is the same as item {first}")
                    });
                }
            }
            if let Some(report) = &mut self.report {
                report.path.pop();
            }
            if self.done(fits) {
                return Ok(false);
            }
            count += 1;
        }
        self.depth -= 1;
        if !list.length.holds(count) {
            fits = self.tell(|_| {
                format!(
                    "{}, got {count}",
                    describe::count(list.length, "item", "items")
                )
            });
        }
        Ok(fits)
    }

    fn fields(&mut self, fields: &'a Fields) -> Fits {
        self.open()?;
        self.members(fields, None)
    }

    /// The arguments from one on, where those before it are as they should be.
    pub(super) fn arguments_from(&mut self, stop: Stop) -> Fits {
        let Some(fields) = self.program.root_fields() else {
            return Ok(true);
        };
        self.scan = Scanner::new_at(self.scan.text(), stop.at);
        (self.depth, self.nested) = (1, 1);
        self.members(fields, Some(stop))
    }

    /// The members of an object, from the value of one on.
    fn members(&mut self, fields: &'a Fields, from: Option<Stop>) -> Fits {
        let mut fits = true;
        let seen = from.map_or(0, |stop| stop.seen);
        let mut next = from.map_or(0, |stop| stop.property);
        let mut count = seen.count_ones() as usize;
        let mut seen = Seen::of(seen);
        let mut stopped = from.and_then(|stop| fields.properties.get(stop.property));
        let mut found = Found::default();
        // Unknown keys are as many as the text likes; only as many are kept, and put into words, as are told.
        let mut unknown = 0;
        loop {
            let key = match stopped.take() {
                Some(property) => Cow::Borrowed(&*property.name),
                None if self.scan.another(count == 0, b'}')? => self.scan.key()?,
                None => break,
            };
            count += 1;
            let before = self.report.as_ref().map_or(0, Report::len);
            let (index, property) = fields.find(&key, next).unzip();
            if index.is_none() && unknown >= MOST_PROBLEMS && fields.allows_only_properties() {
                // The words would name the nearest key, which costs a look at every property.
                fits = false;
                if let Some(report) = &mut self.report {
                    report.omit(1);
                    self.scan.peek_value()?;
                    self.scan.skip(self.depth)?;
                    continue;
                }
            }
            if let Some(report) = &mut self.report {
                report.path.push(match property {
                    Some(_) => Step::Key(key.clone()),
                    None => Step::Other(key.clone()),
                });
                report.hidden += usize::from(property.is_some_and(|property| property.secret));
            }
            let is_new = match index {
                Some(index) => {
                    next = index + 1;
                    seen.insert(index)
                }
                None => fields.allows_only_properties() || seen.insert_other(key.clone()),
            };
            if !is_new {
                fits = self.tell_for_good(|hidden| {
                    if hidden && index.is_none() {
                        "a key in here is given twice; give each once".to_owned()
                    } else {
                        "this key is given twice; give it once".to_owned()
                    }
                });
            }
            if property.is_some_and(|property| property.is_left_out(self.program, self.scan)) {
                self.scan.literal("null")?;
                self.may_mend();
            } else if !self.done(fits) {
                fits &= self.property(fields, property.map(|property| property.node), &key)?;
            }
            if let Some(report) = &mut self.report {
                report.hidden -= usize::from(property.is_some_and(|property| property.secret));
                report.path.pop();
                if report.len() > before {
                    let problems = report.split_off(before);
                    unknown += usize::from(index.is_none());
                    if index.is_none() && unknown > MOST_PROBLEMS {
                        report.omit(problems.len());
                    } else {
                        found.push(index.unwrap_or(usize::MAX), problems);
                    }
                }
            }
            if self.done(fits) {
                return Ok(false);
            }
        }
        self.depth -= 1;
        fits &= self.has_all(fields, &seen, &mut found);
        if let Some(report) = &mut self.report {
            found.put_into(report);
        }
        if !fields.length.holds(count) {
            fits = self.tell(|_| {
                format!(
                    "{}, got {count}",
                    describe::count(fields.length, "key", "keys")
                )
            });
        }
        Ok(fits)
    }

    /// Whether no required property is missing; each that is, is told under its rank.
    fn has_all(&mut self, fields: &Fields, seen: &Seen<'_>, found: &mut Found) -> bool {
        let mut is_whole = true;
        for (index, property) in fields.properties.iter().enumerate() {
            if !property.required || seen.contains(index) {
                continue;
            }
            is_whole = false;
            if let Some(report) = &mut self.report {
                let before = report.len();
                report.push_at(
                    &property.name,
                    format!(
                        "is missing; must be {}",
                        describe::node(self.program, property.node)
                    ),
                );
                found.push(index, report.split_off(before));
            }
        }
        is_whole
    }

    /// One property's value, and its key.
    fn property(&mut self, fields: &'a Fields, declared: Option<Id>, key: &str) -> Fits {
        let program = self.program;
        let mut fits = true;
        if let Some(names) = fields.names {
            let quoted = Value::String(key.to_owned()).to_string();
            if !Walk::quiet(program, Scanner::new(&quoted), 0).value(names)? {
                fits = self.tell(|_| {
                    format!(
                        "this key cannot be here; a key must be {}",
                        describe::node(program, names)
                    )
                });
            }
        }
        self.scan.peek_value()?;
        let start = self.scan.position();
        let mut walked = false;
        let patterns = fields
            .patterns
            .iter()
            .filter(|(pattern, _)| pattern.is_match(key))
            .map(|(_, id)| *id);
        for id in declared.into_iter().chain(patterns) {
            if self.done(fits) {
                return Ok(false);
            }
            self.scan = Scanner::new_at(self.scan.text(), start);
            fits &= self.value(id)?;
            walked = true;
        }
        if !walked && fields.rest == NEVER {
            fits = self.tell_for_good(|_| describe::unknown_key(key, fields));
            if self.report.is_some() {
                self.scan.skip(self.depth)?;
            }
        } else if !walked {
            fits &= self.value(fields.rest)?;
        }
        Ok(fits)
    }

    /// The keywords that look at the whole value. Each has a function of its own, since this one is on the stack for every
    /// node inside another.
    fn applied(&mut self, node: &'a Node, start: usize, byte: u8) -> Fits {
        let mut fits = match &node.values {
            Some(values) => self.listed(values, start)?,
            None => true,
        };
        for id in &node.all {
            if self.done(fits) {
                return Ok(false);
            }
            self.scan = Scanner::new_at(self.scan.text(), start);
            fits &= self.value(*id)?;
        }
        for union in &node.unions {
            if self.done(fits) {
                return Ok(false);
            }
            let mut first = None;
            for id in &union.of {
                if self.try_node(*id, start)?.is_none() {
                    continue;
                }
                if let Some(one) = first {
                    fits = self.fits_both(one, *id);
                    break;
                }
                first = Some(*id);
                if !union.single {
                    break;
                }
            }
            if first.is_none() {
                fits = self.none_fits(union, start, byte)?;
            }
        }
        if let Some(id) = node.not
            && !self.done(fits)
            && self.try_node(id, start)?.is_some()
        {
            fits = self.must_not_be(id, start);
        }
        Ok(fits)
    }

    fn listed(&mut self, values: &[Value], start: usize) -> Fits {
        let text = self.scan.text();
        self.scan.skip(self.depth)?;
        let slice = text.get(start..self.scan.position()).unwrap_or_default();
        let written = values::canonical(slice);
        let mut all = values.iter();
        Ok(
            all.any(|value| values::canonical(&value.to_string()) == written)
                || self.tell(|hidden| {
                    format!(
                        "must be {}, got {}",
                        describe::values(values),
                        describe::value(text, start, hidden)
                    )
                }),
        )
    }

    fn fits_both(&mut self, one: Id, other: Id) -> bool {
        let program = self.program;
        self.tell(|_| {
            let (one, other) = (describe::node(program, one), describe::node(program, other));
            format!("must fit exactly one alternative, fits both {one} and {other}")
        })
    }

    fn must_not_be(&mut self, id: Id, start: usize) -> bool {
        let (program, text) = (self.program, self.scan.text());
        self.tell(|hidden| {
            format!(
                "must not be {}, got {}",
                describe::node(program, id),
                describe::value(text, start, hidden)
            )
        })
    }

    /// Where the value at `start` ends if it fits the node. Quiet, and remembered inside unions.
    pub(super) fn try_node(&mut self, id: Id, start: usize) -> Result<Option<usize>, ScanError> {
        if let Some(known) = self.memo.get(&(id, start)) {
            return Ok(*known);
        }
        let report = self.report.take();
        let depth = self.depth;
        self.unions += 1;
        self.scan = Scanner::new_at(self.scan.text(), start);
        let fits = self.value(id)?;
        let end = fits.then(|| self.scan.position());
        self.unions -= 1;
        self.depth = depth;
        self.report = report;
        if self.unions > 0 || self.report.is_some() {
            self.memo.insert((id, start), end);
        }
        Ok(end)
    }
}

/// Whether a value of the wrong type might be mended to one of these.
fn is_mended(wanted: Types, mut scan: Scanner<'_>) -> bool {
    let is_plain = scan.peek() == Some(b'"') && scan.string().is_ok_and(|text| !is_other(&text));
    !is_plain || wanted.has(Types::ARRAY)
}

/// Whether a string may be another value in quotes: a number, a word of JSON's, an array, nothing.
fn is_other(text: &str) -> bool {
    let text = text.trim();
    let first = text.bytes().next().unwrap_or_default();
    !first.is_ascii_alphabetic()
        || ["true", "false", "null", "True", "False", "None"].contains(&text)
}
