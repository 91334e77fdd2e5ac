//! Types as users write them, one for each of serde's shapes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plain {
    pub city: String,
    #[schemars(range(min = 1, max = 10))]
    pub days: u8,
    pub note: Option<String>,
    #[serde(default)]
    pub flag: bool,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Nested {
    pub plain: Plain,
    #[schemars(length(min = 1, max = 3))]
    pub list: Vec<Plain>,
    pub pair: (i32, String),
    pub maybe: Option<Plain>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Numbers {
    pub a: i8,
    pub b: u64,
    pub c: i64,
    pub d: f64,
    #[schemars(range(max = 1.5), extend("exclusiveMinimum" = 0.0))]
    pub e: f64,
    #[schemars(extend("multipleOf" = 5))]
    pub f: i32,
    pub g: std::num::NonZeroI16,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Wide {
    pub a: i128,
    pub b: u128,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Texts {
    #[schemars(length(min = 2, max = 4))]
    pub short: String,
    #[schemars(regex(pattern = "^[a-c]+$"))]
    pub letters: String,
    pub one: char,
    pub kind: Kind,
    pub maybe: Option<Kind>,
}

#[derive(
    Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Clone, Copy, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A note
    Note,
    /// A plan
    Plan,
    Draft,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum External {
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
pub enum Internal {
    Circle { r: f64 },
    Square { side: f64 },
    Held(Plain),
    Nothing,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
pub enum Adjacent {
    Text(String),
    Pair(u8, u8),
    Fields { x: i32 },
    Nothing,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Untagged {
    Number(u32),
    Text(String),
    Point { x: i32, y: i32 },
    List(Vec<u8>),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unions {
    pub external: Option<External>,
    pub internal: Option<Internal>,
    pub adjacent: Option<Adjacent>,
    pub untagged: Option<Untagged>,
    pub many: Option<Vec<Untagged>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Maps {
    pub counts: HashMap<String, u32>,
    pub by_number: Option<BTreeMap<u8, String>>,
    pub by_name: Option<BTreeMap<Name, bool>>,
    pub anything: Option<serde_json::Value>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Inner {
    pub x: i32,
    pub y: Option<i32>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlatStruct {
    pub name: String,
    #[serde(flatten)]
    pub inner: Inner,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlatMap {
    pub name: String,
    #[serde(flatten)]
    pub rest: BTreeMap<String, u8>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlatEnum {
    pub name: String,
    #[serde(flatten)]
    pub shape: Internal,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tree {
    pub v: u8,
    #[serde(default)]
    pub kids: Vec<Tree>,
    pub left: Option<Box<Tree>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Id(pub u64);

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Odd {
    #[serde(skip)]
    pub secret: u8,
    #[serde(default)]
    pub n: u8,
    #[serde(rename = "class")]
    pub kind: String,
    pub id: Id,
    pub unit: (),
    pub nested: Option<Option<u8>>,
    pub set: Option<std::collections::BTreeSet<u8>>,
    pub array: Option<[u8; 2]>,
}

/// Without comments on its variants: with them schemars cannot tell the keys of a map.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Name {
    First,
    Last,
}

/// Recursive through a tag: the reference stands beside the tag's own property.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
pub enum Expression {
    Number { v: f64 },
    Add(Pair),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    pub l: Box<Expression>,
    pub r: Option<Box<Expression>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Strict {
    pub e: Expression,
    pub ip: Option<std::net::IpAddr>,
    pub result: Option<Result<u8, String>>,
    pub range: Option<std::ops::Range<i8>>,
    pub wait: Option<std::time::Duration>,
}
