//! Everything that an expansion could mean is called something else here.
#![no_implicit_prelude]
#![forbid(unsafe_code)]
#![deny(missing_docs, warnings, missing_debug_implementations, unreachable_pub, unused_qualifications, single_use_lifetimes, non_snake_case)]
#![deny(elided_lifetimes_in_paths)]

mod std {}
mod core {}
mod serde {}
mod schemars {}
#[allow(dead_code)]
struct Option;
#[allow(dead_code)]
struct Result;
#[allow(dead_code)]
struct String;
#[allow(dead_code)]
struct Vec;
#[allow(dead_code)]
struct Box;
#[allow(dead_code)]
trait Send {}
#[allow(dead_code)]
trait Sync {}
#[allow(dead_code)]
#[derive(::core::fmt::Debug)]
enum Shadow {
    Some,
    None,
    Ok,
    Err,
}
#[allow(unused_imports)]
use Shadow::{Err, None, Ok, Some};
#[allow(unused_macros)]
macro_rules! concat { () => {} }
#[allow(unused_macros)]
macro_rules! panic { () => {} }

struct S;

/// Adds.
#[::agent::tool(timeout = "1s", on_error = say("no"), label = "Add")]
async fn add(
    /// One.
    #[arg(range = 1..=3, default = 2)] n: u8,
    s: ::std::option::Option<u8>,
    t: &str,
    #[arg(default = "x", enum = ["x", "y"])] u: ::std::string::String,
    v: ::std::vec::Vec<u8>,
    ::agent::State(state): ::agent::State<&S>,
) -> u8 {
    let _ = (s, t, u, v, state);
    n
}

/// Blocks.
#[::agent::tool]
fn blocks(t: &str, w: ::std::option::Option<&str>, cx: &::agent::ToolContext) -> ::std::result::Result<(), ::std::string::String> {
    let _ = (t, w, cx);
    ::std::result::Result::Ok(())
}

#[::agent::tool]
impl S {
    /// A method.
    #[::agent::tool]
    async fn method(&self, n: u8) -> u8 {
        n
    }
}

fn main() {
    let list = ::agent::tools![add, blocks, ..S];
    let set = list.with_state(S).unwrap();
    ::std::assert_eq!(set.len(), 3);
}
