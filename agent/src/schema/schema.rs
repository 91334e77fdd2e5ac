use super::canonical::normalise;
use super::coerce::{Coercion, Fitted};
#[cfg(feature = "dynamic")]
use super::dynamic;
use super::error::{ReadError, Stop};
use super::explain;
use super::gather::Refusal;
use super::problem::Problems;
use super::program::{Program, Property};
use crate::json::{Json, Mends};
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The schema of a tool's arguments: one object, in the canonical form that every dialect starts from. Cheap to clone.
///
/// A schema made from types ([`of`](Self::of), [`of_parameters`](Self::of_parameters)) is checked by its own program,
/// completely, while a [`Reader`](super::Reader) decodes. A schema known only at run time (`new`) is kept as it is, and
/// checked by a validator of JSON Schema before anything is decoded.
///
/// A JSON object with two members of one name is refused, wherever it stands: nobody knows which of them is meant.
/// Aliases (`#[serde(alias)]`) are in no schema, so a closed object refuses them; beside a flattened map, which takes any
/// key, serde reads one as the field that it stands for.
#[derive(Clone)]
pub struct Schema(Arc<Inner>);

struct Inner {
    value: Value,
    text: Box<str>,
    fingerprint: Fingerprint,
    program: Program,
    rules: Rules,
    /// For coercion, what can be said of a schema that somebody else checks; made when first needed.
    understood: OnceLock<Option<Program>>,
}

/// What checks arguments.
#[derive(Debug)]
enum Rules {
    /// The program, which says all that the schema says.
    Compiled,
    /// A validator; the program says only that arguments are an object.
    #[cfg(feature = "dynamic")]
    Dynamic(Box<dynamic::Rules>),
}

impl Schema {
    /// A schema known only at run time. Its value and text stay as they are given, and arguments are checked against
    /// all that it says: drafts 4 to 2020-12, formats and conditions included.
    ///
    /// What is too large is refused: a schema of more than 100,000 parts, 100 levels or 4 MiB of text, a pattern that is
    /// longer than 16 KiB or compiles to more than a megabyte. So is what cannot be followed: a reference that does not point into the schema itself.
    ///
    /// ```
    /// use agent::schema::Schema;
    /// use serde_json::json;
    ///
    /// let schema = Schema::new(json!({
    ///     "type": "object",
    ///     "properties": {"country": {"type": "string", "maxLength": 2}},
    ///     "additionalProperties": false,
    /// }))?;
    /// let problems = schema.problems(r#"{"country":"France","stile":1}"#);
    /// assert_eq!(
    ///     problems.map(|problems| problems.to_string()).as_deref(),
    ///     Some(
    ///         "/country: must have at most 2 characters, got the string \"France\"\n\
    ///          /stile: unknown key; the only key here is `country`"
    ///     ),
    /// );
    /// # Ok::<(), agent::schema::SchemaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When it is no schema of an object, or one of the above: what is wrong with it, and where.
    #[cfg(feature = "dynamic")]
    pub fn new(value: Value) -> Result<Self, SchemaError> {
        let value = dynamic::bounded(value)?;
        let Some(object) = value.as_object() else {
            return Err(SchemaError::new(
                "the schema of arguments is a JSON object, with `\"type\": \"object\"`",
            ));
        };
        match object.get("type") {
            Some(Value::String(name)) if name == "object" => {}
            Some(other) => {
                return Err(SchemaError::new(format!(
                    "arguments are an object, so the schema's `type` must be \"object\", not {other}"
                )));
            }
            None => {
                return Err(SchemaError::new(
                    "the schema of arguments must say `\"type\": \"object\"`",
                ));
            }
        }
        let rules = Rules::Dynamic(Box::new(dynamic::Rules::new(&value)?));
        Ok(Self::make(value, Program::any_object(), rules))
    }

    pub(super) fn compiled(value: Value, program: Program) -> Self {
        Self::make(value, program, Rules::Compiled)
    }

    fn make(value: Value, program: Program, rules: Rules) -> Self {
        // As `Display` has it, without its detour through a formatter.
        let text = serde_json::to_string(&value).unwrap_or_default();
        let text = text.into_boxed_str();
        let fingerprint = Fingerprint::of(&text);
        Self(Arc::new(Inner {
            value,
            text,
            fingerprint,
            program,
            rules,
            understood: OnceLock::new(),
        }))
    }

    /// The schema as a JSON value.
    pub fn as_value(&self) -> &Value {
        &self.0.value
    }

    /// The schema as text, the same bytes for the same tool.
    pub fn as_json(&self) -> &str {
        &self.0.text
    }

    /// A hash of the text, the same in every build: it changes when what the model sees changes.
    pub fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint
    }

    /// Every problem of a text that could not be read: found by walking the schema over the text once more. If only a
    /// type's own `Deserialize` refused it, that is the problem, in its words.
    pub fn explain(&self, text: &str, error: &ReadError) -> Problems {
        explain::explain(self, text, error, self.problems(text), &[])
    }

    /// As [`explain`](Self::explain), in one list with what the author's own code refuses, where the schema has `told` what it
    /// has against the text.
    pub(crate) fn explain_with(
        &self,
        text: &str,
        error: &ReadError,
        told: Option<Problems>,
        refusals: &[Refusal],
    ) -> Problems {
        explain::explain(self, text, error, told, refusals)
    }

    /// Every problem that the schema has with a text; `None` where it has none. Types are not asked.
    pub fn problems(&self, text: &str) -> Option<Problems> {
        explain::problems(self, text)
    }

    /// As [`problems`](Self::problems), where these stay whatever mending does to the text; `None` also where that cannot
    /// be told without it.
    pub(crate) fn problems_for_good(&self, text: &str, stop: Option<Stop>) -> Option<Problems> {
        explain::problems_for_good(self, text, stop)
    }

    /// Fits arguments to this schema where they say the same in another type, and says what was changed.
    ///
    /// Of a schema known only at run time what a program of ours can say directs it; what it makes is checked by all of it.
    pub(crate) fn coerce<'a>(&self, coercion: Coercion, arguments: Json<'a>) -> Fitted<'a> {
        match self.understood() {
            Some(program) => coercion.apply(program, arguments),
            None => Fitted {
                arguments,
                mends: Mends::default(),
                stopped: false,
            },
        }
    }

    /// Makes integers of the whole floats in arguments that are accepted as they stand, since JSON Schema takes one for
    /// the other: a tool gets the same number however its schema came to be. Nothing, where there are none.
    pub(crate) fn coerce_floats<'a>(
        &self,
        coercion: Coercion,
        arguments: Json<'a>,
    ) -> Option<(Json<'a>, Mends)> {
        let fitted = coercion.apply_to_floats(self.understood()?, arguments);
        (!fitted.mends.is_empty()).then_some((fitted.arguments, fitted.mends))
    }

    /// Whether it accepts whole floats for integers.
    pub(crate) fn takes_whole_floats(&self) -> bool {
        !matches!(self.0.rules, Rules::Compiled)
    }

    fn understood(&self) -> Option<&Program> {
        if matches!(self.0.rules, Rules::Compiled) {
            return Some(&self.0.program);
        }
        let understood = self.0.understood.get_or_init(|| {
            let mut schema = self.0.value.clone();
            normalise(&mut schema);
            Program::compile_roughly(&schema).ok()
        });
        understood.as_ref()
    }

    /// Whether it has a value that is never shown.
    pub(super) fn has_secrets(&self) -> bool {
        self.properties().iter().any(|property| property.secret)
    }

    /// Whether a log must not have the argument of this name: one that is declared secret, or one that is not declared,
    /// where others are secret, since the name may be misspelt.
    pub(crate) fn hides(&self, name: &str) -> bool {
        let declared = self
            .properties()
            .iter()
            .find(|property| &*property.name == name);
        declared.map_or_else(|| self.has_secrets(), |property| property.secret)
    }

    fn properties(&self) -> &[Property] {
        let fields = self.0.program.root_fields();
        fields.map_or(&[][..], |fields| &fields.properties)
    }

    /// The rules beside the program, if the program does not say all.
    #[cfg(feature = "dynamic")]
    pub(super) fn dynamic(&self) -> Option<&dynamic::Rules> {
        match &self.0.rules {
            Rules::Compiled => None,
            Rules::Dynamic(rules) => Some(rules),
        }
    }

    #[inline]
    pub(super) fn program(&self) -> &Program {
        &self.0.program
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (std::mem::discriminant(&self.0.rules) == std::mem::discriminant(&other.0.rules)
                && self.0.text == other.0.text)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_json())
    }
}

/// A hash that tells whether a text has changed: 64 bits of FNV-1a, shown as 16 hexadecimal digits.
///
/// It guards against mistakes, not against an adversary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Of a text.
    pub fn of(text: &str) -> Self {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Why something is no schema of arguments.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SchemaError(String);

impl SchemaError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// The same, said of a parameter or type.
    pub(super) fn of(self, name: &str) -> Self {
        Self(format!("`{name}`: {}", self.0))
    }
}
