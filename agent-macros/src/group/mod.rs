//! `#[tool]` on an `impl` block: its methods with `#[tool]` are the tools of a value.
//!
//! `parse` finds the methods and reads each as `tool` reads a function, `expand` writes them as the first, second, .. tool of the
//! type, and the group that they are together.

mod expand;
mod parse;

use crate::error::Errors;
use crate::runtime;
use crate::tool::check;
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

/// Whether this is an impl block: the first word behind its attributes says so.
pub(crate) fn is_impl(item: &TokenStream) -> bool {
    let words = item.clone().into_iter().filter_map(|token| match token {
        TokenTree::Ident(ident) => Some(ident.to_string()),
        _ => None,
    });
    let mut words = words.skip_while(|word| word == "unsafe" || word == "default");
    words.next().is_some_and(|word| word == "impl")
}

pub(crate) fn expand(options: TokenStream, item: &TokenStream) -> TokenStream {
    let errors = Errors::default();
    let (mut block, group) = match parse::group(options, item.clone(), &errors) {
        Ok(parsed) => parsed,
        Err(error) => {
            errors.push(error);
            let errors = errors.into_tokens();
            return quote!(#item #errors);
        }
    };
    for tool in &group.tools {
        check::tool(tool, &errors);
    }
    parse::names(&group, &errors);
    block
        .attrs
        .retain(|attribute| !attribute.path().is_ident("tool"));
    let krate = runtime::path(group.krate.as_ref());
    let group = match &block.trait_ {
        // The type may have tools of its own in another block.
        Some(_) => TokenStream::new(),
        None => expand::group(&block, &group, &krate, !errors.is_empty()),
    };
    let errors = errors.into_tokens();
    quote!(#block #group #errors)
}
