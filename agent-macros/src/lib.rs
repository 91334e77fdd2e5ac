//! The macros of the `agent` crate, which documents and re-exports them.
//!
//! Each macro goes three steps: `parse` turns tokens into small types of our own, `check` says what is wrong with them,
//! all of it at once and each on its token, `expand` writes code. `tool` is `#[tool]` on a function, `group` is `#[tool]` on an
//! `impl` block, `tools` is `tools![..]`, `class` the derives for newtypes. `#[tool]` serves both, since a module has one namespace for macros of every kind:
//! an attribute `tools` could not be imported beside `tools![..]`.
//!
//! What they share: `keys` (lists of `key = value`), `json` and `pattern` (values in them), `docs` (doc comments), `types` (what
//! is read from the spelling of a type), `runtime` (where the `agent` crate is), `error`.

mod class;
mod docs;
mod error;
mod group;
mod json;
mod keys;
mod pattern;
mod runtime;
mod tool;
mod tools;
mod types;

use proc_macro::TokenStream;

// Documented where `agent` re-exports it: examples here could not name `agent`.
#[allow(missing_docs)]
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    let (options, item) = (options.into(), item.into());
    if group::is_impl(&item) {
        group::expand(options, &item).into()
    } else {
        tool::expand(options, &item).into()
    }
}

#[doc(hidden)]
#[proc_macro]
pub fn tools(list: TokenStream) -> TokenStream {
    tools::expand(list.into()).into()
}

#[allow(missing_docs)]
#[proc_macro_derive(Text)]
pub fn text(item: TokenStream) -> TokenStream {
    class::expand("Text", &item.into()).into()
}

#[allow(missing_docs)]
#[proc_macro_derive(Number)]
pub fn number(item: TokenStream) -> TokenStream {
    class::expand("Number", &item.into()).into()
}

#[allow(missing_docs)]
#[proc_macro_derive(List)]
pub fn list(item: TokenStream) -> TokenStream {
    class::expand("List", &item.into()).into()
}
