//! `#[tool]` on a function.
//!
//! `ast` has our own types. `options` reads `#[tool(..)]`, `arg` with `constraint` reads `#[arg(..)]`, `parse` the function
//! around them. `check` looks at what needs more than one token. `expand` writes the tool, and `fallback` the stub that stands in
//! when something is wrong, so that a mistake is said once. `group` uses all of it for methods.

pub(crate) mod arg;
pub(crate) mod ast;
pub(crate) mod check;
mod constraint;
pub(crate) mod expand;
pub(crate) mod fallback;
pub(crate) mod options;
pub(crate) mod parse;

use crate::error::Errors;
use crate::runtime;
use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemFn;

pub(crate) fn expand(options: TokenStream, item: &TokenStream) -> TokenStream {
    let errors = Errors::default();
    let options = options::parse(options, &errors);
    let mut function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => return fallback::not_a_function(item, error, errors),
    };
    if let Some(syn::FnArg::Receiver(receiver)) = function.sig.inputs.first() {
        errors.on(
            receiver.self_token,
            "a tool with `self` is a method: put `#[tool]` on the impl block too",
        );
        arg::strip(&mut function.sig);
        let errors = errors.into_tokens();
        return quote!(#function #errors);
    }
    let tool = parse::function(
        options,
        &function.attrs,
        &function.vis,
        &mut function.sig,
        &errors,
    );
    check::tool(&tool, &errors);
    let krate = runtime::path(tool.options.krate.as_ref());
    let tool = if errors.is_empty() {
        expand::function(&tool, &krate)
    } else {
        fallback::function(&tool, &krate, errors)
    };
    // The original first: editors take the first occurrence of a token.
    quote!(#function #tool)
}
