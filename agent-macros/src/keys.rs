//! Lists of keys: `name = "x", read_only, timeout = "10s"`.

use crate::error::{Errors, closest};
use proc_macro2::{Ident, Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Error, LitBool, LitStr, Result, Token};

/// Reads a list, each key on its own, so that one that is wrong does not hide the next. `read` gets each key that is known
/// and new, with the input behind it.
pub(crate) fn parse(
    attribute: &str,
    known: &[&str],
    tokens: TokenStream,
    errors: &Errors,
    mut read: impl FnMut(&str, &Ident, ParseStream<'_>) -> Result<()>,
) {
    let mut seen: Vec<String> = Vec::new();
    let list = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let result = key(attribute, known, &mut seen, input, &mut read);
            if let Err(error) = result {
                errors.push(error);
                skip(input);
            }
            if input.is_empty() {
                break;
            }
            if let Err(error) = input.parse::<Token![,]>() {
                errors.push(Error::new(error.span(), "expected `,` before the next key"));
                skip(input);
                input.parse::<Option<Token![,]>>()?;
            }
        }
        Ok(())
    };
    errors.take(list.parse2(tokens));
}

fn key(
    attribute: &str,
    known: &[&str],
    seen: &mut Vec<String>,
    input: ParseStream<'_>,
    read: &mut impl FnMut(&str, &Ident, ParseStream<'_>) -> Result<()>,
) -> Result<()> {
    if !input.peek(Ident::peek_any) {
        return Err(input.error(format_args!("`#[{attribute}(..)]` expects a key here")));
    }
    let key = input.call(Ident::parse_any)?;
    let name = key.unraw().to_string();
    if !known.contains(&name.as_str()) {
        let help = match closest(&name, known) {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("the keys are {}", list(known)),
        };
        let message = format!("`#[{attribute}(..)]` has no key `{name}`; {help}");
        return Err(Error::new(key.span(), message));
    }
    if seen.contains(&name) {
        let message = format!("`{name}` is given twice; keep one of them");
        return Err(Error::new(key.span(), message));
    }
    seen.push(name.clone());
    read(&name, &key, input)
}

/// Goes on to the next comma.
fn skip(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        // Not at the end, so there is a token.
        let _ = input.parse::<proc_macro2::TokenTree>();
    }
}

pub(crate) fn list(known: &[&str]) -> String {
    let quoted: Vec<_> = known.iter().map(|key| format!("`{key}`")).collect();
    quoted.join(", ")
}

/// `= value`.
pub(crate) fn value<T: Parse>(key: &Ident, input: ParseStream<'_>, example: &str) -> Result<T> {
    if !input.peek(Token![=]) {
        let message = format!("`{key}` needs a value: `{key} = {example}`");
        return Err(Error::new(key.span(), message));
    }
    input.parse::<Token![=]>()?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(input.error(format_args!("`{key}` needs a value: `{key} = {example}`")));
    }
    input.parse().map_err(|error: Error| {
        Error::new(
            error.span(),
            format!("`{key}` is written `{key} = {example}`"),
        )
    })
}

/// `key`, `key = true` or `key = false`.
pub(crate) fn flag(key: &Ident, input: ParseStream<'_>) -> Result<bool> {
    if !input.peek(Token![=]) {
        return Ok(true);
    }
    value::<LitBool>(key, input, "false").map(|literal| literal.value)
}

/// `key`, for what cannot be switched off.
pub(crate) fn bare(key: &Ident, input: ParseStream<'_>) -> Result<Span> {
    if input.peek(Token![=]) {
        let message = format!("`{key}` stands alone, without a value");
        return Err(Error::new(input.span(), message));
    }
    Ok(key.span())
}

/// A text that is not empty.
pub(crate) fn text(key: &Ident, input: ParseStream<'_>, example: &str) -> Result<LitStr> {
    let literal: LitStr = value(key, input, example)?;
    if literal.value().trim().is_empty() {
        return Err(Error::new(literal.span(), format!("`{key}` is empty")));
    }
    Ok(literal)
}
