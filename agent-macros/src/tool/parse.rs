//! From a function's signature to a [`Tool`].

use super::arg;
use super::ast::{Options, Param, Tool, plain};
use crate::docs::Docs;
use crate::error::Errors;
use crate::types::Passing;
use quote::ToTokens;
use syn::{Attribute, FnArg, Pat, PatType, Signature, Visibility};

/// The tool that this function is. What rustc would not take is removed from the signature.
pub(crate) fn function(
    options: Options,
    attributes: &[Attribute],
    vis: &Visibility,
    signature: &mut Signature,
    errors: &Errors,
) -> Tool {
    refuse(signature, errors);
    let has_self = matches!(signature.inputs.first(), Some(FnArg::Receiver(_)));
    let params = signature.inputs.iter_mut().filter_map(|input| match input {
        FnArg::Receiver(_) => None,
        FnArg::Typed(typed) => Some(param(typed, errors)),
    });
    Tool {
        ident: signature.ident.clone(),
        vis: vis.clone(),
        docs: Docs::of(attributes),
        cfgs: attributes
            .iter()
            .filter(|attribute| attribute.path().is_ident("cfg"))
            .cloned()
            .collect(),
        is_async: signature.asyncness.is_some(),
        has_self,
        in_impl: false,
        params: params.collect(),
        output: signature.output.clone(),
        options,
    }
}

fn param(typed: &mut PatType, errors: &Errors) -> Param {
    let docs = Docs::of(&typed.attrs);
    let arg = arg::take(&mut typed.attrs, errors);
    let name = match (&arg.name, &*typed.pat) {
        (Some(name), _) => Some((name.value(), name.span())),
        (None, Pat::Ident(pat)) if pat.subpat.is_none() => {
            Some((plain(&pat.ident), pat.ident.span()))
        }
        // `State(x): State<T>`: whether the host fills it, its type says.
        (None, Pat::TupleStruct(_) | Pat::Struct(_)) => None,
        (None, pat) => {
            errors.on(
                pat,
                "a model cannot be told of a parameter without a name: write a name here and take it apart in the body, or `#[arg(rename = \"..\")]`",
            );
            None
        }
    };
    let ident = match &*typed.pat {
        Pat::Ident(pat) => Some(pat.ident.clone()),
        _ => None,
    };
    Param {
        ident,
        name,
        passing: Passing::of(&typed.ty),
        ty: (*typed.ty).clone(),
        docs,
        arg,
    }
}

/// What no tool can be.
fn refuse(signature: &Signature, errors: &Errors) {
    let no = |what: &dyn ToTokens, why: &str| errors.on(what, why);
    if !signature.generics.params.is_empty() {
        no(
            &signature.generics,
            "a tool has one schema, so its function cannot be generic: write the types out",
        );
    }
    if let syn::Safety::Unsafe(token) = &signature.safety {
        no(
            token,
            "a tool cannot be `unsafe`: whatever a model sends must be safe to run",
        );
    }
    if let Some(abi) = &signature.abi {
        no(abi, "a tool is a plain Rust function: take `extern` away");
    }
    if let Some(variadic) = &signature.variadic {
        no(&variadic.dots, "a tool cannot be variadic: take a `Vec`");
    }
}
