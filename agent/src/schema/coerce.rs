//! Fits arguments to their schema where they say the same in another type.
//!
//! What a schema accepts as it is stays untouched, in whatever branch. Only what it refuses is read otherwise, one way
//! at a time, and each is noted:
//!
//! | wanted | given | read as |
//! |---|---|---|
//! | number | `"1.5"`, all of it a finite JSON number | its digits |
//! | integer | `"3"`, `"3.0"`; `3.0`, `1e2` | the exact whole number |
//! | number, integer | `true`, only with [`Coercion::BooleansToNumbers`] | 1 or 0 |
//! | boolean | `"true"`, `"True"`, `"false"`, `"False"`; 1, 0 | the boolean |
//! | string, and no number or boolean | `1.50`, `true` | `"1.50"`, `"true"` |
//! | array, object | a string that holds one as strict JSON | that |
//! | array | one value that fits, or can be made to fit, an item; not null, a blank or text from `[` on | an array of it |
//! | null | a blank that is no value of its own: `""`, `"null"`, `"None"` | null |
//! | an optional property without null | the same | left out |
//!
//! Nothing is trimmed, split or rounded.

use super::alternatives::Meant;
use super::describe;
use super::pointer::push_key;
use super::program::{ANY, Fields, Id, NEVER, Node, Program, Types, Union};
use super::walk::Walk;
use crate::json::scan::Scanner;
use crate::json::{Json, Kind, MendKind, Mends, Number, Object, Place};
use serde_json::Value;
use std::borrow::Cow;

/// Whether arguments that do not fit their schema are fitted where they say the same in another type: `"5"` for a
/// number, a list inside a string, a blank for an optional.
///
/// What the schema accepts as it is stays untouched. Whatever is fitted is checked again, and noted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Coercion {
    /// Arguments fit or are refused.
    Off,
    /// What means the same is fitted.
    #[default]
    Usual,
    /// Also `true` and `false` become 1 and 0 where only a number is wanted.
    BooleansToNumbers,
}

impl Coercion {
    /// Fits `arguments` to what `program` checks; says what was changed.
    pub(super) fn apply<'a>(self, program: &Program, arguments: Json<'a>) -> Fitted<'a> {
        self.fit(program, arguments, false)
    }

    /// As `apply`, of whole floats for integers and nothing else: JSON Schema takes one for the other.
    pub(super) fn apply_to_floats<'a>(self, program: &Program, arguments: Json<'a>) -> Fitted<'a> {
        self.fit(program, arguments, true)
    }

    fn fit<'a>(self, program: &Program, arguments: Json<'a>, only_floats: bool) -> Fitted<'a> {
        let mut fit = Fit {
            program,
            coercion: self,
            only_floats,
            mends: Mends::default(),
            path: String::new(),
            secret: false,
            hidden: None,
            budget: BUDGET,
            depth: 0,
            stopped: false,
        };
        let arguments = match self {
            Self::Off => arguments,
            _ => fit.value(arguments, program.root),
        };
        Fitted {
            arguments,
            mends: fit.mends,
            stopped: fit.stopped,
        }
    }
}

/// Visits of a value with a node. A schema may have exponentially many ways through its references; when this many did
/// not settle it, the rest stays as it is.
const BUDGET: usize = 1 << 20;

/// Nodes within nodes that are followed; beyond, values stay as they are. A schema may refer to itself without end.
const DEPTH: usize = 128;

struct Fit<'s> {
    program: &'s Program,
    coercion: Coercion,
    /// Only whole floats become integers, and all else stays.
    only_floats: bool,
    mends: Mends,
    path: String,
    /// Inside a value that must not be shown.
    secret: bool,
    /// Where the path ends for whoever reads it: inside such a value only names are shown that a schema has.
    hidden: Option<usize>,
    budget: usize,
    depth: usize,
    /// Something was left as it is since there was too much to look at.
    stopped: bool,
}

/// A step of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Segment {
    Item,
    Declared,
    Secret,
    Other,
}

/// Arguments after coercion.
#[derive(Debug)]
pub(crate) struct Fitted<'a> {
    pub(crate) arguments: Json<'a>,
    pub(crate) mends: Mends,
    /// Not all of them were looked at, since there was too much to look at.
    pub(crate) stopped: bool,
}

impl<'s> Fit<'s> {
    /// The value as the node wants it, or as it is.
    fn value<'a>(&mut self, value: Json<'a>, id: Id) -> Json<'a> {
        let node = self.program.node(id);
        if node.free {
            return value;
        }
        if self.depth >= DEPTH || self.charge(1).is_none() {
            self.stopped = true;
            return value;
        }
        self.depth += 1;
        let value = match node.nullable {
            Some(_) if value == Json::Null => value,
            Some(inner) => {
                let made = self.value(value, inner);
                if !self.only_floats && is_blank(&made) && self.refuses(inner, &made) {
                    self.note(MendKind::BlankToNull);
                    Json::Null
                } else {
                    made
                }
            }
            None => self.node(value, id),
        };
        self.depth -= 1;
        value
    }

    fn node<'a>(&mut self, mut value: Json<'a>, id: Id) -> Json<'a> {
        let node = self.program.node(id);
        for part in &node.all {
            value = self.value(value, *part);
        }
        for union in &node.unions {
            value = self.branch(value, union);
        }
        let is_null = types(node) != Types::EVERY
            && types(node).has(Types::NULL)
            && !self.only_floats
            && is_blank(&value)
            && is_listed(&Json::Null, node);
        if is_null && self.refuses(id, &value) {
            self.note(MendKind::BlankToNull);
            return Json::Null;
        }
        self.typed(value, node)
    }

    fn charge(&mut self, cost: usize) -> Option<()> {
        match self.budget.checked_sub(cost) {
            Some(left) => self.budget = left,
            None => self.stopped = true,
        }
        (!self.stopped).then_some(())
    }

    /// Leaves what a branch accepts; else takes the first branch that accepts what it was made into.
    fn branch<'a>(&mut self, value: Json<'a>, union: &'s Union) -> Json<'a> {
        if union.of.iter().any(|branch| self.accepts(*branch, &value)) {
            return value;
        }
        let is_text = union.of.iter().all(|id| is_text(self.wanted(*id)));
        let before = self.mends.count();
        for branch in &union.of {
            if self.charge(weight(&value)).is_none() {
                return value;
            }
            let made = self.value(value.clone(), *branch);
            let is_spelt = matches!(made, Json::String(_)) && !matches!(value, Json::String(_));
            if self.accepts(*branch, &made) && (is_text || !is_spelt) {
                return made;
            }
            self.mends.rewind(before);
        }
        // Where nothing fits, what is said of it is no more than what is wrong with it.
        match self.meant(&value, union) {
            Some(id) => self.value(value, id),
            None => value,
        }
    }

    /// What an object or array that fits nothing was meant to be.
    #[inline(never)]
    fn meant(&mut self, value: &Json<'_>, union: &Union) -> Option<Id> {
        let byte = match value {
            Json::Object(_) if !self.only_floats => b'{',
            Json::Array(_) if !self.only_floats => b'[',
            _ => return None,
        };
        self.charge(weight(value))?;
        let text = value.to_text();
        let walk = Walk::quiet(self.program, Scanner::new(&text), 0);
        match walk.meant(union, 0, byte) {
            Ok(Meant::One(id)) => Some(id),
            _ => None,
        }
    }

    /// The types of which a node takes some value.
    fn wanted(&self, id: Id) -> Types {
        let node = self.program.node(id);
        if let Some(inner) = node.nullable {
            return self.wanted(inner).with(Types::NULL);
        }
        let own = types(node);
        let inner = node.all.iter();
        let mut inner = inner
            .chain(node.unions.iter().flat_map(|union| &union.of))
            .peekable();
        // No node contains itself at the same place, so this ends.
        if own != Types::EVERY || inner.peek().is_none() {
            return own;
        }
        inner.fold(Types::NONE, |types, id| types.with(self.wanted(*id)))
    }

    fn typed<'a>(&mut self, value: Json<'a>, node: &'s Node) -> Json<'a> {
        let types = types(node);
        if types == Types::EVERY || (is(&value, types) && is_listed(&value, node)) {
            return self.inside(value, node);
        }
        // A string is wanted last: nothing else may fit, nor a number or a boolean be what was meant.
        for wanted in [
            Types::BOOLEAN,
            Types::INTEGER,
            Types::NUMBER,
            Types::ARRAY,
            Types::OBJECT,
            Types::STRING,
        ] {
            let is_number = wanted == Types::INTEGER && types.has(Types::NUMBER);
            if types.has(wanted)
                && !is_number
                && (wanted != Types::STRING || is_text(types))
                && let Some((made, kind)) = self.convert(&value, wanted)
                && is_listed(&made, node)
            {
                self.note(kind);
                return self.inside(made, node);
            }
        }
        // Text that starts like an array and is none was cut or broken, and is no item.
        let is_broken = matches!(&value, Json::String(text) if text.trim_start().starts_with('['));
        if types.has(Types::ARRAY) && !self.only_floats && !is_blank(&value) && !is_broken {
            return self.wrap(value, node);
        }
        self.inside(value, node)
    }

    fn convert<'a>(&self, value: &Json<'a>, wanted: Types) -> Option<(Json<'a>, MendKind)> {
        if self.only_floats && !matches!((wanted, value), (Types::INTEGER, Json::Number(_))) {
            return None;
        }
        Some(match (wanted, value) {
            (Types::INTEGER, Json::String(text)) => {
                let whole = Number::new(&**text)?.to_whole()?;
                (Json::Number(Number::new(whole)?), MendKind::StringToNumber)
            }
            (Types::INTEGER, Json::Number(number)) => {
                let whole = number.to_whole()?;
                // Beyond, it stays what it is refused as.
                let fits = whole.parse::<i64>().is_ok() || whole.parse::<u64>().is_ok();
                if self.program.narrow && !fits {
                    return None;
                }
                (Json::Number(Number::new(whole)?), MendKind::WholeFloat)
            }
            (Types::NUMBER, Json::String(text)) => {
                let number = Number::new(text.clone())?;
                let is_finite = number.as_str().parse::<f64>().is_ok_and(f64::is_finite);
                (is_finite).then_some((Json::Number(number), MendKind::StringToNumber))?
            }
            (Types::INTEGER | Types::NUMBER, Json::Bool(bool))
                if self.coercion == Coercion::BooleansToNumbers =>
            {
                let number = Number::new(if *bool { "1" } else { "0" })?;
                (Json::Number(number), MendKind::BooleanToNumber)
            }
            (Types::BOOLEAN, Json::String(text)) => {
                let bool = match &**text {
                    "true" | "True" => true,
                    "false" | "False" => false,
                    _ => return None,
                };
                (Json::Bool(bool), MendKind::StringToBoolean)
            }
            (Types::BOOLEAN, Json::Number(number)) => {
                let bool = match number.as_str() {
                    "1" => true,
                    "0" => false,
                    _ => return None,
                };
                (Json::Bool(bool), MendKind::NumberToBoolean)
            }
            (Types::STRING, Json::Number(number)) => {
                let digits = Cow::Owned(number.as_str().to_owned());
                (Json::String(digits), MendKind::NumberToString)
            }
            (Types::STRING, Json::Bool(bool)) => {
                let name = if *bool { "true" } else { "false" };
                (Json::String(Cow::Borrowed(name)), MendKind::BooleanToString)
            }
            (Types::ARRAY | Types::OBJECT, Json::String(text)) => {
                let inner = Json::parse(text).ok()?;
                let kind = inner.kind();
                let wanted = if wanted == Types::ARRAY {
                    Kind::Array
                } else {
                    Kind::Object
                };
                (kind == wanted).then(|| (inner.into_owned(), MendKind::StringToJson))?
            }
            _ => return None,
        })
    }

    /// One value as the only item of an array, if it makes a good item.
    fn wrap<'a>(&mut self, value: Json<'a>, node: &'s Node) -> Json<'a> {
        let wants_one = node.list.as_deref().is_none_or(|list| list.length.holds(1));
        if !wants_one {
            return value;
        }
        let before = self.mends.count();
        self.note(MendKind::ValueToArray);
        let item = node.list.as_deref().map_or(ANY, |list| {
            list.first.first().copied().unwrap_or(list.items)
        });
        if self.charge(weight(&value)).is_some() {
            let made = self.within("0", Segment::Item, |fit| fit.value(value.clone(), item));
            if self.accepts(item, &made) {
                return Json::Array(vec![made]);
            }
        }
        self.mends.rewind(before);
        value
    }

    fn inside<'a>(&mut self, value: Json<'a>, node: &'s Node) -> Json<'a> {
        match (value, &node.fields, &node.list) {
            (Json::Object(object), Some(fields), _) => Json::Object(self.members(object, fields)),
            (Json::Array(items), _, Some(list)) => {
                let items = items.into_iter().enumerate();
                let fitted = items.map(|(index, item)| {
                    let id = list.first.get(index).copied().unwrap_or(list.items);
                    self.within(&index.to_string(), Segment::Item, |fit| fit.value(item, id))
                });
                Json::Array(fitted.collect())
            }
            (value, ..) => value,
        }
    }

    fn members<'a>(&mut self, mut object: Object<'a>, fields: &'s Fields) -> Object<'a> {
        // Of a key that is given twice nothing is left out, so that both stay to be refused.
        let repeats = object.repeats_its_own();
        let mut left_out = vec![false; object.len()];
        let mut next = 0;
        for ((key, value), left_out) in object.iter_mut().zip(&mut left_out) {
            let (index, property) = fields.find(key, next).unzip();
            next = index.map_or(next, |index| index + 1);
            let id = match property {
                Some(property) => property.node,
                None => other(fields, key),
            };
            if id == ANY || id == NEVER {
                continue;
            }
            let is_optional = property.is_some_and(|property| !property.required);
            if is_optional && *value == Json::Null {
                // It is left out by whoever reads it, or is a value.
                continue;
            }
            let given = std::mem::replace(value, Json::Null);
            let segment = match property {
                Some(property) if property.secret => Segment::Secret,
                Some(_) => Segment::Declared,
                None => Segment::Other,
            };
            self.within(key, segment, |fit| {
                let empty = !fit.only_floats && !repeats && is_optional && is_blank(&given);
                *value = fit.value(given, id);
                if empty && fit.refuses(id, value) {
                    fit.note(MendKind::LeftOut);
                    *left_out = true;
                }
            });
        }
        let mut left_out = left_out.into_iter();
        object.retain(|_, _| !left_out.next().unwrap_or_default());
        object
    }

    /// Goes on at a member or item.
    fn within<R>(
        &mut self,
        name: &str,
        segment: Segment,
        inside: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let (length, secret, hidden) = (self.path.len(), self.secret, self.hidden);
        if secret && segment == Segment::Other {
            self.hidden.get_or_insert(length);
        }
        push_key(&mut self.path, name);
        self.secret |= segment == Segment::Secret;
        let result = inside(self);
        self.path.truncate(length);
        (self.secret, self.hidden) = (secret, hidden);
        result
    }

    fn note(&mut self, kind: MendKind) {
        let shown = self.path.get(..self.hidden.unwrap_or(self.path.len()));
        let path = shown.unwrap_or_default().to_owned();
        self.mends.push(kind, Place::Pointer(path));
    }

    /// Whether a node takes a value as it is, by every keyword.
    fn accepts(&mut self, id: Id, value: &Json<'_>) -> bool {
        self.asked(id, value) == Some(true)
    }

    /// Whether it does not. Of a blank that is accepted nobody knows that it means nothing.
    fn refuses(&mut self, id: Id, value: &Json<'_>) -> bool {
        self.asked(id, value) == Some(false)
    }

    /// Whether a node takes a value; nothing, where that is no longer asked.
    fn asked(&mut self, id: Id, value: &Json<'_>) -> Option<bool> {
        if id == ANY {
            return Some(true);
        }
        self.charge(weight(value))?;
        let text = value.to_text();
        let mut walk = Walk::quiet(self.program, Scanner::new(&text), 0);
        Some(walk.value(id).unwrap_or(false))
    }
}

/// The node of a property that is not declared.
fn other(fields: &Fields, key: &str) -> Id {
    let mut patterns = fields.patterns.iter();
    let matching = patterns.find(|(pattern, _)| pattern.is_match(key));
    matching.map_or(fields.rest, |(_, id)| *id)
}

/// The types that a node names, or that its listed values have.
fn types(node: &Node) -> Types {
    match &node.values {
        Some(values) if node.types == Types::EVERY => {
            values.iter().fold(Types::NONE, |types, value| {
                types.with(match value {
                    Value::Null => Types::NULL,
                    Value::Bool(_) => Types::BOOLEAN,
                    Value::Number(number) if number.is_f64() => Types::NUMBER,
                    Value::Number(_) => Types::INTEGER,
                    Value::String(_) => Types::STRING,
                    Value::Array(_) => Types::ARRAY,
                    Value::Object(_) => Types::OBJECT,
                })
            })
        }
        _ => node.types,
    }
}

/// Whether a value has one of these types as it stands. `3.0` is no integer here, so that it becomes `3`.
fn is(value: &Json<'_>, types: Types) -> bool {
    types.has(match value {
        Json::Null => Types::NULL,
        Json::Bool(_) => Types::BOOLEAN,
        Json::Number(number) => {
            let text = number.as_str();
            if text != "-0" && !text.contains(['.', 'e', 'E']) {
                Types::INTEGER
            } else {
                Types::NUMBER
            }
        }
        Json::String(_) => Types::STRING,
        Json::Array(_) => Types::ARRAY,
        Json::Object(_) => Types::OBJECT,
    })
}

/// Whether the node lists the value, or lists none.
fn is_listed(value: &Json<'_>, node: &Node) -> bool {
    let choices = node.text.as_ref().and_then(|text| text.choices.as_deref());
    let chosen = match (value, choices) {
        (Json::String(text), Some(choices)) => choices.iter().any(|choice| **choice == **text),
        _ => true,
    };
    let values = node.values.as_deref();
    chosen && values.is_none_or(|values| values.iter().any(|one| equals(value, one)))
}

fn equals(ours: &Json<'_>, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Json::Number(ours), Value::Number(theirs)) => {
            let text = theirs.to_string();
            match (
                ours.to_whole(),
                Number::new(text).and_then(|number| number.to_whole()),
            ) {
                (Some(ours), Some(theirs)) => ours == theirs,
                (None, None) => ours.as_str().parse().ok() == theirs.as_f64(),
                _ => false,
            }
        }
        (Json::Null, Value::Null) => true,
        (Json::Bool(ours), Value::Bool(theirs)) => ours == theirs,
        (Json::String(ours), Value::String(theirs)) => ours == theirs,
        (Json::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| equals(a, b))
        }
        (Json::Object(ours), Value::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .all(|(k, a)| theirs.get(k).is_some_and(|b| equals(a, b)))
        }
        _ => false,
    }
}

/// What a copy costs.
fn weight(value: &Json<'_>) -> usize {
    match value {
        Json::String(text) => 1 + text.len() / 16,
        Json::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Json::Object(object) => {
            1 + object
                .iter()
                .map(|(_, value)| 1 + weight(value))
                .sum::<usize>()
        }
        _ => 1,
    }
}

/// A string that means nothing.
fn is_blank(value: &Json<'_>) -> bool {
    matches!(value, Json::String(text) if describe::is_blank(text))
}

/// Whether neither a number nor a boolean is among what is wanted, so that text is what they are said as.
fn is_text(wanted: Types) -> bool {
    let others = Types::NUMBER.0 | Types::BOOLEAN.0;
    wanted.0 & others == 0
}

#[cfg(test)]
mod tests;
