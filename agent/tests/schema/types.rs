//! Types as users write them, one for each of serde's shapes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Plain {
    pub(crate) city: String,
    #[schemars(range(min = 1, max = 10))]
    pub(crate) days: u8,
    pub(crate) note: Option<String>,
    #[serde(default)]
    pub(crate) flag: bool,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Nested {
    pub(crate) plain: Plain,
    #[schemars(length(min = 1, max = 3))]
    pub(crate) list: Vec<Plain>,
    pub(crate) pair: (i32, String),
    pub(crate) maybe: Option<Plain>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Numbers {
    pub(crate) a: i8,
    pub(crate) b: u64,
    pub(crate) c: i64,
    pub(crate) d: f64,
    #[schemars(range(max = 1.5), extend("exclusiveMinimum" = 0.0))]
    pub(crate) e: f64,
    #[schemars(extend("multipleOf" = 5))]
    pub(crate) f: i32,
    pub(crate) g: std::num::NonZeroI16,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Wide {
    pub(crate) a: i128,
    pub(crate) b: u128,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Texts {
    #[schemars(length(min = 2, max = 4))]
    pub(crate) short: String,
    #[schemars(regex(pattern = "^[a-c]+$"))]
    pub(crate) letters: String,
    pub(crate) one: char,
    pub(crate) kind: Kind,
    pub(crate) maybe: Option<Kind>,
}

#[derive(
    Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Clone, Copy, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A note
    Note,
    /// A plan
    Plan,
    Draft,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum External {
    Unit,
    /// With one
    One(u8),
    Two(u8, String),
    Fields {
        x: i32,
        y: Option<i32>,
    },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Internal {
    Circle { r: f64 },
    Square { side: f64 },
    Held(Plain),
    Nothing,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
pub(crate) enum Adjacent {
    Text(String),
    Pair(u8, u8),
    Fields { x: i32 },
    Nothing,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Untagged {
    Number(u32),
    Text(String),
    Point { x: i32, y: i32 },
    List(Vec<u8>),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Unions {
    pub(crate) external: Option<External>,
    pub(crate) internal: Option<Internal>,
    pub(crate) adjacent: Option<Adjacent>,
    pub(crate) untagged: Option<Untagged>,
    pub(crate) many: Option<Vec<Untagged>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Maps {
    pub(crate) counts: HashMap<String, u32>,
    pub(crate) by_number: Option<BTreeMap<u8, String>>,
    pub(crate) by_name: Option<BTreeMap<Name, bool>>,
    pub(crate) anything: Option<serde_json::Value>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Inner {
    pub(crate) x: i32,
    pub(crate) y: Option<i32>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FlatStruct {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) inner: Inner,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FlatMap {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) rest: BTreeMap<String, u8>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FlatEnum {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) shape: Internal,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Tree {
    pub(crate) v: u8,
    #[serde(default)]
    pub(crate) kids: Vec<Tree>,
    pub(crate) left: Option<Box<Tree>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Id(pub u64);

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Odd {
    #[serde(skip)]
    pub(crate) secret: u8,
    #[serde(default)]
    pub(crate) n: u8,
    #[serde(rename = "class")]
    pub(crate) kind: String,
    pub(crate) id: Id,
    pub(crate) unit: (),
    pub(crate) nested: Option<Option<u8>>,
    pub(crate) set: Option<std::collections::BTreeSet<u8>>,
    pub(crate) array: Option<[u8; 2]>,
}

/// Without comments on its variants: with them schemars cannot tell the keys of a map.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Name {
    First,
    Last,
}

/// Recursive through a tag: the reference stands beside the tag's own property.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
pub(crate) enum Expression {
    Number { v: f64 },
    Add(Pair),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Pair {
    pub(crate) l: Box<Expression>,
    pub(crate) r: Option<Box<Expression>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Strict {
    pub(crate) e: Expression,
    pub(crate) ip: Option<std::net::IpAddr>,
    pub(crate) result: Option<Result<u8, String>>,
    pub(crate) range: Option<std::ops::Range<i8>>,
    pub(crate) wait: Option<std::time::Duration>,
}
