//! That a tool which asks for `strict` takes no map and no JSON value: their keys cannot be listed, which strict modes need.
//!
//! The macros ask of a parameter's own type; what stands deeper is found when the schema is made. An inherent constant
//! comes before a trait's, so the types here answer for themselves and all others by [`Closed`].

use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;

/// The question.
#[derive(Debug)]
pub struct Strict<T: ?Sized>(PhantomData<T>);

/// The answer of a type that is not listed here.
pub trait Closed {
    /// Whether every key is known.
    const CLOSED: bool = true;
}

impl<T: ?Sized> Closed for Strict<T> {}

macro_rules! open {
    ($([$($generics:tt)*] $type:ty;)+) => { $(
        impl<$($generics)*> Strict<$type> {
            /// Whether every key is known.
            pub const CLOSED: bool = false;
        }
    )+ };
}

open! {
    [K, V, H] HashMap<K, V, H>;
    [K, V, H] Option<HashMap<K, V, H>>;
    [K, V] BTreeMap<K, V>;
    [K, V] Option<BTreeMap<K, V>>;
    [] Map<String, Value>;
    [] Option<Map<String, Value>>;
    [] Value;
    [] Option<Value>;
}

/// Refuses a type that is open: evaluated by the compiler.
///
/// # Panics
///
/// When it is.
#[track_caller]
pub const fn must_be_closed(closed: bool) {
    assert!(
        closed,
        "`strict` needs every key to be known, and this type may have any: take a struct, or say `strict = false`"
    );
}
