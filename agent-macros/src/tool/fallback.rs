//! What stands in for a tool that is wrong: the same names, so that nothing else is reported.

use super::ast::Tool;
use super::expand::{allow, listed, private, proxy};
use crate::error::Errors;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Error, Generics};

/// A function's proxy with a tool that says nothing, and the errors.
pub(crate) fn function(tool: &Tool, krate: &TokenStream, errors: Errors) -> TokenStream {
    let (proxy, declared) = proxy(tool);
    let private = &private();
    let stub = stub(&proxy, &quote!(()), &Generics::default(), 0, private);
    // Never met twice in one list: its name may be what is wrong.
    let listed = listed(&proxy, &format!("{}?", tool.ident), private);
    let cfgs = &tool.cfgs;
    let errors = errors.into_tokens();
    quote! {
        #declared
        #(#cfgs)*
        const _: () = {
            use #krate::__private as #private;
            #listed
            #stub
        };
        #errors
    }
}

/// Direct impls: a blanket one would be shown as a candidate in errors that have nothing to do with it.
pub(crate) fn stub(
    this: &impl ToTokens,
    value: &TokenStream,
    generics: &Generics,
    number: usize,
    private: &TokenStream,
) -> TokenStream {
    let (header, _, clause) = generics.split_for_impl();
    let mut with_states = generics.clone();
    with_states.params.push(syn::parse_quote!(__S));
    let (header_with_states, _, _) = with_states.split_for_impl();
    let allow = allow();
    quote! {
        #allow
        impl #header #private::Declared<#number> for #this #clause {
            fn describe(_: &mut #private::Blueprint) { loop {} }
        }
        #allow
        impl #header_with_states #private::Called<#number, #value, __S, ()> for #this #clause {
            fn prepare<'__a>(
                _: &'__a #private::Arc<#value>,
                _: &'__a #private::Arc<__S>,
                _: &mut #private::Reader<'__a>,
                _: &'__a #private::ToolContext,
            ) -> #private::Result<#private::Prepared<'__a>, #private::ReadError> { loop {} }
        }
    }
}

/// Something that is no function: said where it begins, and handed on without our attributes inside.
pub(crate) fn not_a_function(item: &TokenStream, error: Error, errors: Errors) -> TokenStream {
    let first = item
        .clone()
        .into_iter()
        .find(|token| matches!(token, TokenTree::Ident(_)));
    let other = [
        "struct",
        "enum",
        "union",
        "trait",
        "type",
        "static",
        "mod",
        "use",
        "macro_rules",
    ];
    match first {
        Some(TokenTree::Ident(ident)) if is_item(item, &other) => {
            errors.at(
                ident.span(),
                "`#[tool]` stands on a function, or on an impl block of methods with `#[tool]`",
            );
        }
        _ => errors.push(error),
    }
    let item = without_args(item.clone());
    let errors = errors.into_tokens();
    quote!(#item #errors)
}

fn is_item(item: &TokenStream, keywords: &[&str]) -> bool {
    item.clone()
        .into_iter()
        .filter_map(|token| match token {
            TokenTree::Ident(ident) => Some(ident),
            _ => None,
        })
        .take(2)
        .any(|ident: Ident| keywords.iter().any(|keyword| ident == keyword))
}

/// The tokens without `#[arg(..)]`, which rustc would report a second time.
fn without_args(tokens: TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    for token in tokens {
        if let TokenTree::Group(group) = &token {
            let is_arg = matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(ident)) if ident == "arg");
            let behind_hash =
                matches!(kept.last(), Some(TokenTree::Punct(punct)) if punct.as_char() == '#');
            if is_arg && behind_hash {
                kept.pop();
                continue;
            }
            let mut inner =
                proc_macro2::Group::new(group.delimiter(), without_args(group.stream()));
            inner.set_span(group.span());
            kept.push(TokenTree::Group(inner));
        } else {
            kept.push(token);
        }
    }
    kept.into_iter().collect()
}
