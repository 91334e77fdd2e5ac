//! `#[arg(..)]` on a parameter.

use super::ast::{Arg, Default};
use super::constraint;
use super::options::equals;
use crate::error::Errors;
use crate::json::{self, Json};
use crate::keys::{bare, flag, parse as parse_keys, text, value};
use proc_macro2::{Ident, Span};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, FnArg, Meta, Result, Signature, Token, bracketed};

const KEYS: &[&str] = &[
    "rename",
    "title",
    "description",
    "range",
    "length",
    "items",
    "multiple_of",
    "exclusive_minimum",
    "exclusive_maximum",
    "pattern",
    "format",
    "unique",
    "enum",
    "default",
    "example",
    "examples",
    "flatten",
    "secret",
    "validate",
    "deserialize_with",
    "schema_with",
    "extend",
];

/// What these attributes say together. They are taken out, for rustc knows none of them on a parameter.
pub(crate) fn take(attributes: &mut Vec<Attribute>, errors: &Errors) -> Arg {
    let mut arg = Arg::default();
    let mut first: Option<Span> = None;
    for attribute in attributes.iter() {
        let path = attribute.path();
        if path.is_ident("cfg") || path.is_ident("cfg_attr") {
            errors.on(
                path,
                "a parameter of a tool cannot depend on `cfg`: write two functions, each with its own `#[cfg(..)]`",
            );
        } else if path.is_ident("serde") || path.is_ident("schemars") {
            errors.on(
                path,
                "a parameter takes `#[arg(..)]`: `name` for `rename`, and `default`, `flatten`, `deserialize_with`, `schema_with`, `extend` as there",
            );
        } else if path.is_ident("arg") {
            if first.is_some() {
                errors.on(path, "`#[arg(..)]` is given twice; put all keys into one");
                continue;
            }
            first = Some(attribute.bracket_token.span.join());
            match &attribute.meta {
                Meta::List(list) => read(&mut arg, list.tokens.clone(), errors),
                Meta::Path(_) | Meta::NameValue(_) => {
                    errors.on(path, "`arg` is written `#[arg(key = value, ..)]`");
                }
            }
        }
    }
    attributes.retain(|attribute| !is_ours(attribute));
    arg
}

fn is_ours(attribute: &Attribute) -> bool {
    ["arg", "doc", "serde", "schemars", "cfg", "cfg_attr"]
        .iter()
        .any(|name| attribute.path().is_ident(name))
}

/// Takes out what rustc would refuse.
pub(crate) fn strip(signature: &mut Signature) {
    for input in &mut signature.inputs {
        let attributes = match input {
            FnArg::Receiver(receiver) => &mut receiver.attrs,
            FnArg::Typed(typed) => &mut typed.attrs,
        };
        attributes.retain(|attribute| !is_ours(attribute));
    }
}

fn read(arg: &mut Arg, tokens: proc_macro2::TokenStream, errors: &Errors) {
    parse_keys("arg", KEYS, tokens, errors, |name, key, input| {
        match name {
            "rename" => arg.name = Some(text(key, input, "\"city\"")?),
            "title" => arg.title = Some(text(key, input, "\"City\"")?),
            "description" => arg.description = Some(value(key, input, "\"..\"")?),
            "default" => {
                let value = if input.peek(Token![=]) {
                    Some(value(key, input, "3")?)
                } else {
                    None
                };
                arg.default = Some(Default {
                    key: key.span(),
                    value,
                });
            }
            "example" => {
                let input = equals(key, input, "3")?;
                arg.examples.push((input.span(), input.parse()?));
            }
            "examples" => arg.examples.append(&mut examples(key, input)?),
            "flatten" => arg.flatten = Some(bare(key, input)?),
            "secret" => arg.secret = flag(key, input)?,
            "validate" => arg.validate = Some(value(key, input, "path")?),
            "deserialize_with" => arg.deserialize_with = Some(value(key, input, "path")?),
            "schema_with" => arg.schema_with = Some(value(key, input, "path")?),
            "extend" => arg.extend = extend(key, input)?,
            _ => {
                if let Some(constraint) = constraint::parse(name, key, input)? {
                    arg.constraints.push(constraint);
                }
            }
        }
        Ok(())
    });
}

fn examples(key: &Ident, input: ParseStream<'_>) -> Result<Vec<(Span, Json)>> {
    let input = equals(key, input, "[1, 2]")?;
    let content;
    bracketed!(content in input);
    let one = |input: ParseStream<'_>| Ok((input.span(), Json::parse(input)?));
    let examples = content.parse_terminated(one, Token![,])?;
    Ok(examples.into_iter().collect())
}

fn extend(key: &Ident, input: ParseStream<'_>) -> Result<Vec<(String, Json)>> {
    let input = equals(key, input, "{ \"x-unit\": \"km\" }")?;
    if !input.peek(syn::token::Brace) {
        let message = "`extend` is written `extend = { \"keyword\": value }`";
        return Err(Error::new(input.span(), message));
    }
    json::object(input)
}
