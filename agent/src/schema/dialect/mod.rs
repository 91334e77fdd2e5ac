//! A schema as a provider accepts it.
//!
//! A [`Dialect`] is a value: what a provider reads of JSON Schema, and how much. `render` says one schema in it; what the
//! dialect cannot express goes into the description, where the model still reads it, and is checked here as before.
//! `whole` treats what is said of all arguments at once, `apart` tells whether alternatives exclude each other.
//! `begin` lets the objects of a union begin differently, where that is how they are told apart.
//! `tidy` holds the steps that every dialect wants, `count` what a rendering costs of the provider's budget.
//!
//! Which dialects there are is the providers' affair: nothing here names one.

mod apart;
mod begin;
mod count;
mod render;
mod tidy;
mod whole;

pub use count::Counts;

use super::Schema;
use serde_json::Value;
use std::fmt;

/// What a provider reads of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a rule of its own, and a provider may have any of them"
)]
pub struct Dialect {
    /// What it is called, for messages: `OpenAI strict`.
    pub name: &'static str,
    /// Whether the provider holds the model to the schema. Then every value has a type and every object is closed.
    pub strict: bool,
    /// The constraints that it reads; all of them where this is `None`.
    pub keywords: Option<&'static [&'static str]>,
    /// The string formats that it reads; all of them where this is `None`.
    pub formats: Option<&'static [&'static str]>,
    /// Whether `allOf` may stand there. `anyOf` always may.
    pub all_of: bool,
    /// Whether every property must be required, so that an optional one is required and may be null.
    pub all_required: bool,
    /// Whether a definition may refer to itself.
    pub recursion: bool,
    /// Whether patterns may look around.
    pub look_around: bool,
    /// Whether objects in one `anyOf` may begin with the same key.
    pub same_first_keys: bool,
    /// The largest `minItems`.
    pub largest_min_items: u64,
    /// How deep objects and arrays may be nested.
    pub depth: usize,
    /// What all tools of a request in this dialect may cost together.
    pub budget: Counts,
    /// The length from which on the texts of one list of choices are bounded, and the bound: in choices and characters.
    pub long_choices: (usize, usize),
}

impl Dialect {
    /// Reads all of JSON Schema, but for combinators at the root, and enforces nothing.
    pub const fn plain(name: &'static str) -> Self {
        Self {
            name,
            strict: false,
            keywords: None,
            formats: None,
            all_of: true,
            all_required: false,
            recursion: true,
            look_around: true,
            same_first_keys: true,
            largest_min_items: u64::MAX,
            depth: usize::MAX,
            budget: Counts::UNBOUNDED,
            long_choices: (usize::MAX, usize::MAX),
        }
    }

    /// A schema in this dialect.
    ///
    /// # Errors
    ///
    /// When the dialect is strict and cannot say what the schema says without refusing what the schema accepts: where,
    /// and why.
    pub fn render(&self, schema: &Schema) -> Result<Rendering, Impossible> {
        render::render(self, schema)
    }
}

/// What an endpoint accepts of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialects {
    /// Of a tool that is not strict.
    pub plain: &'static Dialect,
    /// Of a strict tool; nothing, if the endpoint does not read `strict`.
    pub strict: Option<&'static Dialect>,
    /// How many tools one request may have.
    pub most_tools: usize,
}

/// A schema in a dialect.
#[derive(Debug, Clone)]
pub struct Rendering {
    value: Value,
    text: Box<str>,
    note: Option<Box<str>>,
    weakenings: Vec<Weakening>,
    counts: Counts,
}

impl Rendering {
    /// The schema as a JSON value.
    pub fn as_value(&self) -> &Value {
        &self.value
    }

    /// The schema as text, the same bytes for the same schema and dialect.
    pub fn as_json(&self) -> &str {
        &self.text
    }

    /// What belongs into the tool's own description: what was said of the arguments as a whole.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// What the dialect does not hold the model to. All of it is still checked when a call comes.
    pub fn weakenings(&self) -> &[Weakening] {
        &self.weakenings
    }

    /// What it costs of the budget.
    pub fn counts(&self) -> Counts {
        self.counts
    }
}

/// Something that a schema says and its rendering does not, or that not every model of the provider takes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Weakening {
    /// Where in the schema: a JSON pointer.
    pub path: String,
    /// What became of it.
    pub message: String,
}

impl fmt::Display for Weakening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Why a dialect cannot say a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{dialect} cannot hold a model to {}: {reason}", if path.is_empty() { "its arguments" } else { path })]
#[non_exhaustive]
pub struct Impossible {
    /// The dialect.
    pub dialect: &'static str,
    /// Where in the schema: a JSON pointer.
    pub path: String,
    /// Why.
    pub reason: String,
}
