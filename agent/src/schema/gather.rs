//! What the author's own code refuses, gathered after a failure: the arguments are read once more, each on its own, so
//! that it is told of one of them whatever the schema has against the others.

use super::error::{ReadError, Stop};
use super::explain;
use super::pointer::{first_key, push_key};
use super::problem::{Problem, Problems, Report};
use super::program::{ANY, Id, NEVER, Property};
use super::read::Reader;
use super::schema::Schema;
use super::top::Owner;
use serde::de;

type Read<T> = Result<T, ReadError>;

/// What the author's own code refuses: a validator, or a type's `Deserialize`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Of which parameter; one beyond the last, of the whole call.
    parameter: usize,
    problem: Problem,
    /// Said while decoding: nothing new where the schema says something of the same value.
    in_decoding: bool,
}

impl Refusal {
    /// What a validator says of this parameter, `name` on the wire; empty, where its fields are the object's.
    pub(crate) fn of(parameter: usize, name: &str, message: String) -> Self {
        let mut path = String::new();
        if !name.is_empty() {
            push_key(&mut path, name);
        }
        Self {
            parameter,
            problem: Problem::new(path, message),
            in_decoding: false,
        }
    }

    /// What a validator says of the whole call.
    pub(crate) fn of_all(message: String) -> Self {
        Self {
            parameter: usize::MAX,
            problem: Problem::new(String::new(), message),
            in_decoding: false,
        }
    }

    pub(super) fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Whether one of these problems, each with its parameter, says why this value could not be decoded.
    fn follows_from(&self, problems: &[(usize, Problem)]) -> bool {
        let path = &self.problem.path;
        let is_within = |inner: &str, outer: &str| {
            inner
                .strip_prefix(outer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.in_decoding
            && problems.iter().any(|(parameter, problem)| {
                *parameter == self.parameter
                    && (is_within(path, &problem.path) || is_within(&problem.path, path))
            })
    }
}

/// One list of what the schema has against a text and what the author's own code has, in the order of declaration.
pub(super) fn merge(
    schema: &Schema,
    told: Option<Problems>,
    refusals: &[Refusal],
) -> Option<Problems> {
    if refusals.is_empty() {
        return told;
    }
    let mut all: Vec<(usize, Problem)> = Vec::new();
    let mut report = Report::default();
    if let Some(told) = told {
        report.omit(told.omitted());
        for problem in told.into_list() {
            put(&mut all, parameter_of(schema, &problem.path), problem);
        }
    }
    let news: Vec<_> = refusals
        .iter()
        .filter(|refusal| !refusal.follows_from(&all))
        .map(|refusal| (refusal.parameter, refusal.problem.clone()))
        .collect();
    for (parameter, problem) in news {
        put(&mut all, parameter, problem);
    }
    for (_, problem) in all {
        report.add(problem);
    }
    report.finish()
}

/// Puts a problem behind those of its parameter. (There are few, and a sort of its own for each kind of list is much code.)
fn put(all: &mut Vec<(usize, Problem)>, parameter: usize, problem: Problem) {
    let at = all.partition_point(|(other, _)| *other <= parameter);
    all.insert(at, (parameter, problem));
}

/// The parameter in whose value a path ends; one beyond the last, where that is nobody's.
fn parameter_of(schema: &Schema, path: &str) -> usize {
    let property = first_key(path).and_then(|name| schema.program().root_fields()?.find(&name, 0));
    match property.map(|(_, property)| property.owner) {
        Some(Owner::Parameter(parameter) | Owner::Flattened(parameter)) => parameter,
        Some(Owner::Rest) | None => usize::MAX,
    }
}

/// How far the arguments are read, each on its own.
#[derive(Debug)]
pub(super) struct Gathering {
    /// The parameters of which something cannot be read.
    spoilt: Vec<usize>,
    /// Something cannot be read that may be part of any flattened parameter.
    is_unclear: bool,
    refusals: Vec<Refusal>,
}

/// What is said around each value. When arguments are not gathered, all passes as it is given.
impl Reader<'_> {
    /// Whether arguments are gathered and this one could not be read.
    pub(crate) fn has_passed_over(&self, parameter: usize) -> bool {
        let gathering = self.gathering.as_ref();
        gathering.is_some_and(|gathering| gathering.spoilt.contains(&parameter))
    }

    /// An argument is missing, which is nothing new where they are gathered.
    #[cold]
    pub(crate) fn pass_missing(&self, error: ReadError) -> Read<()> {
        match self.gathering {
            None => Err(error),
            Some(_) => Ok(()),
        }
    }

    /// The argument of this parameter is missing, though the schema does not ask for it.
    #[cold]
    pub(crate) fn lacks(&self, parameter: usize) -> ReadError {
        let properties = self.top.fields.map_or(&[][..], |fields| &fields.properties);
        let is_its = |property: &&Property| property.owner == Owner::Parameter(parameter);
        let name = (properties.iter().find(is_its)).map_or("", |property| &property.name);
        de::Error::custom(format_args!("missing field `{name}`"))
    }

    /// Ends the reading: in an error where validators refuse something, and always where arguments are gathered.
    #[doc(hidden)]
    #[inline]
    pub fn refuse(&mut self, refusals: Vec<Refusal>) -> Read<()> {
        match &mut self.gathering {
            None if refusals.is_empty() => Ok(()),
            None => Err(ReadError::refused(refusals)),
            Some(gathering) => {
                gathering.refusals.extend(refusals);
                Err(ReadError::refused(std::mem::take(&mut gathering.refusals)))
            }
        }
    }
}

impl<'a> Reader<'a> {
    /// A reader of the arguments, each on its own, but for those of which the schema has `told` that they are wrong as a
    /// whole. A decoder of the macros ends in an error that has what was refused.
    pub(crate) fn gathering(text: &'a str, schema: &'a Schema, told: Option<&Problems>) -> Self {
        let whole = |problem: &&Problem| problem.path.rfind('/') == Some(0);
        let spoilt = told.into_iter().flat_map(Problems::iter).filter(whole);
        let gathering = Gathering {
            spoilt: spoilt
                .map(|problem| parameter_of(schema, &problem.path))
                .collect(),
            is_unclear: false,
            refusals: Vec::new(),
        };
        let mut reader = Reader::new(text, schema);
        reader.gathering = Some(Box::new(gathering));
        // None is passed unseen.
        reader.top.ahead = &[];
        reader
    }

    /// As `next_parameter`, past all that does not fit.
    pub(super) fn next_gathered(&mut self, gathering: &mut Gathering) -> Read<Option<usize>> {
        let (program, fields) = (self.program, self.top.fields);
        while !self.top.blank && self.scan.another(!self.top.started, b'}')? {
            self.top.started = true;
            self.scan.peek();
            let position = self.scan.position();
            let key = self.scan.key()?;
            let declared = fields.and_then(|fields| fields.find(&key, 0));
            let Some((index, property)) = declared else {
                let rest = fields.map_or(ANY, |fields| fields.rest);
                let is_new = self.top.seen.insert_other(key.clone());
                if self.pass_checked(rest)? && is_new {
                    self.top.flattened.push((None, position));
                } else {
                    gathering.is_unclear |= rest != NEVER;
                }
                continue;
            };
            let is_new = self.top.seen.insert(index);
            let left_out = property.is_left_out(program, self.scan);
            match property.owner {
                Owner::Parameter(parameter)
                    if is_new && !left_out && !gathering.spoilt.contains(&parameter) =>
                {
                    self.node = property.node;
                    return Ok(Some(parameter));
                }
                Owner::Flattened(parameter) if is_new && !left_out => {
                    if self.pass_checked(property.node)? {
                        self.top.flattened.push((Some(parameter), position));
                    } else {
                        gathering.spoilt.push(parameter);
                    }
                }
                Owner::Parameter(parameter) | Owner::Flattened(parameter) => {
                    self.scan.skip(self.depth)?;
                    if !is_new {
                        gathering.spoilt.push(parameter);
                    }
                }
                Owner::Rest => self.scan.skip(self.depth)?,
            }
        }
        let properties = fields.map_or(&[][..], |fields| &fields.properties);
        for (index, property) in properties.iter().enumerate() {
            if let Owner::Flattened(parameter) = property.owner
                && property.required
                && !self.top.seen.contains(index)
            {
                gathering.spoilt.push(parameter);
            }
        }
        self.scan.end()?;
        Ok(None)
    }

    /// Passes a value and says whether it fits.
    fn pass_checked(&mut self, node: Id) -> Read<bool> {
        if self.walk_on(node).is_ok() {
            return Ok(true);
        }
        self.scan.skip(self.depth)?;
        Ok(false)
    }

    /// Whether arguments are gathered and a flattened parameter cannot be read.
    pub(super) fn is_spoilt(&self, parameter: usize) -> bool {
        self.gathering
            .as_ref()
            .is_some_and(|gathering| gathering.is_unclear || gathering.spoilt.contains(&parameter))
    }

    /// The object as a whole does not fit, though each argument may.
    pub(super) fn is_unclear_as_a_whole(&mut self) -> bool {
        match &mut self.gathering {
            None => false,
            Some(gathering) => {
                gathering.is_unclear = true;
                true
            }
        }
    }

    /// Where reading stopped, if all before it is as it should be.
    fn stop(&self) -> Option<Stop> {
        let fields = self.top.fields?;
        if self.program.has_walked || self.has_left_out {
            return None;
        }
        let property = fields
            .properties
            .len()
            .checked_sub(self.top.ahead.len() + 1)?;
        let seen = self.top.seen.before(property)?;
        let at = self.scan.position();
        Some(Stop { property, at, seen })
    }

    /// What could not be read is passed over where arguments are gathered, and what its type said of it kept.
    #[cold]
    pub(crate) fn pass_over(&mut self, parameter: usize, error: ReadError) -> Read<()> {
        let mut scan = self.scan;
        let skipped = scan.skip(self.depth);
        let Some(gathering) = &mut self.gathering else {
            let is_last = skipped.is_ok() && scan.peek() == Some(b'}');
            return Err(error.of_argument(is_last, self.stop()));
        };
        gathering.spoilt.push(parameter);
        if error.message().is_some() {
            gathering.refusals.push(Refusal {
                parameter,
                problem: explain::refused(self.schema, self.scan.text(), &error),
                in_decoding: true,
            });
        }
        // Of a flattened parameter all has been passed before.
        if skipped.is_ok() {
            self.scan = scan;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::schema::Parameter;
    use schemars::SchemaGenerator;

    fn parameter(
        name: &'static str,
        schema: fn(&mut SchemaGenerator) -> schemars::Schema,
        optional: fn() -> bool,
    ) -> Parameter {
        Parameter {
            name,
            description: "",
            schema: Some(schema),
            optional,
            default: None,
            keywords: &[],
            flatten: false,
            secret: false,
        }
    }

    /// How far the arguments are read one by one.
    fn error(schema: &Schema, text: &str) -> Option<ReadError> {
        let mut reader = Reader::new(text, schema);
        reader.object().ok()?;
        loop {
            let parameter = reader.next_parameter().ok()??;
            let read = match parameter {
                0 => reader.value::<String>().map(drop),
                1 => reader.value::<u8>().map(drop),
                2 => reader.value::<Vec<Option<bool>>>().map(drop),
                _ => reader.value::<Option<f64>>().map(drop),
            };
            if let Err(error) = read {
                return reader.pass_over(parameter, error).err();
            }
        }
    }

    #[test]
    fn what_is_wrong_is_the_same_from_where_reading_stopped_as_from_the_beginning() {
        let schema = Schema::of_parameters(&[
            parameter("a", SchemaGenerator::subschema_for::<String>, || false),
            parameter("b", SchemaGenerator::subschema_for::<u8>, || false),
            parameter(
                "c",
                SchemaGenerator::subschema_for::<Vec<Option<bool>>>,
                || false,
            ),
            parameter("d", SchemaGenerator::subschema_for::<Option<f64>>, || true),
        ])
        .unwrap();
        let values = [
            "\"a\"",
            "7",
            "700",
            "[true, null]",
            "[1]",
            "null",
            "0.5",
            "{}",
            "\"7\"",
            "]",
        ];
        let (mut stopped, mut told) = (0, 0);
        for one in values {
            for other in values {
                for text in [
                    format!("{{\"a\":{one},\"b\":{other}}}"),
                    format!("{{\"a\":\"x\", \"b\" : {one} ,\"c\":{other},\"e\":1}}"),
                    format!("{{\"d\":{one},\"c\":{other},\"b\":1,\"a\":2,\"a\":\"\"}}"),
                    format!("{{\"a\":\"x\",\"b\":1,\"c\":[true],\"d\":{one}, \"x\": {other}}}"),
                    format!("{{\"c\":[],\"\\u0061\":{one},\"b\":{other}"),
                ] {
                    let Some(stop) = error(&schema, &text).and_then(|error| error.stop()) else {
                        continue;
                    };
                    stopped += 1;
                    let from_there = schema.problems_for_good(&text, Some(stop));
                    assert_eq!(from_there, schema.problems_for_good(&text, None), "{text}");
                    told += usize::from(from_there.is_some());
                }
            }
        }
        assert!(stopped > 400 && told > 10, "{stopped}, {told}");
    }
}
