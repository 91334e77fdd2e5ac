//! Which types which constraint of `#[arg(..)]` can be put on.
//!
//! A newtype joins the class of what it wraps by a derive (or by the impl of one line that it writes); its schema and its
//! `Deserialize` are its own:
//!
//! ```
//! use agent::constraint::Text;
//! use agent::tool;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema, Text)]
//! struct City(String);
//!
//! /// Get the weather.
//! #[tool]
//! async fn get_weather(#[arg(length = 1..=80)] city: City) -> String {
//!     city.0
//! }
//! ```

#[cfg(feature = "macros")]
pub use agent_macros::{List, Number, Text};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroI128, NonZeroIsize, NonZeroU8,
    NonZeroU16, NonZeroU32, NonZeroU64, NonZeroU128, NonZeroUsize,
};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// A type that `range`, `multiple_of`, `exclusive_minimum` and `exclusive_maximum` can constrain.
#[diagnostic::on_unimplemented(
    message = "`range`, `multiple_of` and the exclusive bounds constrain numbers, and `{Self}` is none",
    label = "not a number",
    note = "text has `length`, lists have `items`; a newtype around a number joins with `#[derive(agent::constraint::Number)]`"
)]
pub trait Number {
    /// The type of its bounds.
    type N;
}

/// A type that `length`, `pattern` and `format` can constrain.
#[diagnostic::on_unimplemented(
    message = "`length`, `pattern` and `format` constrain text, and `{Self}` is none",
    label = "not text",
    note = "numbers have `range`, lists have `items`; a newtype around a string joins with `#[derive(agent::constraint::Text)]`"
)]
pub trait Text {
    #[doc(hidden)]
    const CAN: () = ();
}

/// A type that `items` and `unique` can constrain.
#[diagnostic::on_unimplemented(
    message = "`items` and `unique` constrain lists, and `{Self}` is none",
    label = "not a list",
    note = "numbers have `range`, text has `length`; a newtype around a list joins with `#[derive(agent::constraint::List)]`"
)]
pub trait List {
    #[doc(hidden)]
    const CAN: () = ();
}

macro_rules! numbers {
    ($($n:ty: $($t:ty),+;)+) => { $($(impl Number for $t { type N = $n; })+)+ };
}

numbers! {
    u8: u8, NonZeroU8;
    u16: u16, NonZeroU16;
    u32: u32, NonZeroU32;
    u64: u64, NonZeroU64;
    u128: u128, NonZeroU128;
    usize: usize, NonZeroUsize;
    i8: i8, NonZeroI8;
    i16: i16, NonZeroI16;
    i32: i32, NonZeroI32;
    i64: i64, NonZeroI64;
    i128: i128, NonZeroI128;
    isize: isize, NonZeroIsize;
    f32: f32;
    f64: f64;
}

impl Text for str {}
impl Text for String {}
impl Text for Path {}
impl Text for PathBuf {}

impl<T> List for [T] {}
impl<T> List for Vec<T> {}
impl<T> List for VecDeque<T> {}
impl<T> List for BTreeSet<T> {}
impl<T, H> List for HashSet<T, H> {}

// `do_not_recommend` keeps the message about the type that the user wrote: "`Option<u8>` is none", not "`u8` is none".
macro_rules! through {
    ($($wrapper:ident),+) => { $(
        #[diagnostic::do_not_recommend]
        impl<T: Number> Number for $wrapper<T> { type N = T::N; }
        #[diagnostic::do_not_recommend]
        impl<T: Text + ?Sized> Text for $wrapper<T> {}
        #[diagnostic::do_not_recommend]
        impl<T: List + ?Sized> List for $wrapper<T> {}
    )+ };
}

through!(Box, Rc, Arc);

#[diagnostic::do_not_recommend]
impl<T: Number> Number for Option<T> {
    type N = T::N;
}
#[diagnostic::do_not_recommend]
impl<T: Text> Text for Option<T> {}
#[diagnostic::do_not_recommend]
impl<T: List> List for Option<T> {}
#[diagnostic::do_not_recommend]
impl<T: Text + ToOwned + ?Sized> Text for Cow<'_, T> {}
#[diagnostic::do_not_recommend]
impl<T: List + ToOwned + ?Sized> List for Cow<'_, T> {}
