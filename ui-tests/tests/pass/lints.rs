//! A public tool in a crate that denies what can be denied.
#![forbid(unsafe_code)]
#![deny(missing_docs, warnings, rust_2018_idioms, unused)]
#![deny(clippy::all, clippy::pedantic, clippy::nursery)]

use agent::{tool, tools};

/// Public things.
pub mod public {
    use agent::tool;

    /// Adds.
    #[tool]
    pub async fn add(_x: u8, mut n: u8) -> u8 {
        n += 1;
        n
    }

    /// The same name as a type, a module and a constant beside it.
    #[tool(proxy = SearchTool)]
    pub async fn search() {}

    /// Not the proxy.
    #[allow(non_camel_case_types)]
    #[derive(Debug)]
    pub struct search {}
}

mod other {
    /// Adds in another module.
    #[agent::tool(name = "other_add")]
    pub(crate) async fn add() {}
}

#[allow(dead_code)]
struct Search;
#[allow(dead_code)]
struct SearchArgs;
#[allow(dead_code)]
const SEARCH: u8 = 1;

/// Keywords.
#[tool]
async fn r#match(r#type: String, r#in: Option<u8>) -> String {
    format!("{type}{in:?}")
}

macro_rules! make {
    ($name:ident, $type:ty) => {
        /// Made by a macro.
        #[tool]
        async fn $name(x: $type) -> $type {
            x
        }
    };
}
make!(a, u8);
make!(b, Option<u8>);

fn main() {
    use public::{SearchTool, add, search};

    /// In a body.
    #[tool]
    async fn inner(text: &str) -> String {
        text.to_owned()
    }

    let set = tools![add, SearchTool, other::add, r#match, a, b, inner].into_set().unwrap();
    let names: Vec<_> = set.names().collect();
    assert_eq!(names, ["a", "add", "b", "inner", "match", "other_add", "search"]);
    // The functions are what they were.
    drop((add(1, 2), search {}, other::add(), r#match(String::new(), None), a(1), b(None), inner("x"), public::search()));
}
