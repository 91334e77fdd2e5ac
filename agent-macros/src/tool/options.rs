//! `#[tool(..)]` on a function.

use super::ast::{Approval, Asked, OnError, Options};
use crate::error::Errors;
use crate::keys::{bare, flag, parse as parse_keys, text, value};
use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Error, LitStr, Result, Token, parenthesized, token};

const KEYS: &[&str] = &[
    "name",
    "description",
    "label",
    "timeout",
    "read_only",
    "idempotent",
    "destructive",
    "parallel",
    "sequential",
    "needs_approval",
    "deferred",
    "retries",
    "offload_at",
    "strict",
    "on_error",
    "validate",
    "inline",
    "proxy",
    "crate",
];

pub(crate) fn parse(tokens: TokenStream, errors: &Errors) -> Options {
    let mut options = Options::default();
    parse_keys("tool", KEYS, tokens, errors, |name, key, input| {
        let span = key.span();
        match name {
            "name" => options.name = Some(value(key, input, "\"get_weather\"")?),
            "description" => options.description = Some(value(key, input, "\"..\"")?),
            "label" => options.label = Some(text(key, input, "\"Get weather\"")?),
            "timeout" => options.timeout = Some(duration(&value(key, input, "\"10s\"")?)?),
            "read_only" => options.read_only = flag(key, input)?.then_some(span),
            "idempotent" => options.idempotent = flag(key, input)?,
            "destructive" => options.destructive = flag(key, input)?.then_some(span),
            "parallel" => options.parallel = Some((span, flag(key, input)?)),
            "sequential" => options.sequential = Some(bare(key, input)?),
            "needs_approval" => options.needs_approval = Some(approval(key, input)?),
            "deferred" => options.deferred = flag(key, input)?,
            "retries" => options.retries = Some(value(key, input, "3")?),
            "offload_at" => options.offload_at = Some(value(key, input, "50_000")?),
            "strict" => options.strict = Some(flag(key, input)?),
            "on_error" => options.on_error = Some(on_error(key, input)?),
            "validate" => options.validate = Some(value(key, input, "path")?),
            "inline" => options.inline = Some(bare(key, input)?),
            "proxy" => options.proxy = Some(value(key, input, "Name")?),
            _ => {
                options.krate = Some(syn::Path::parse_mod_style(equals(key, input, "agent")?)?);
            }
        }
        Ok(())
    });
    options
}

/// Steps over `=`.
pub(crate) fn equals<'a>(
    key: &Ident,
    input: ParseStream<'a>,
    example: &str,
) -> Result<ParseStream<'a>> {
    if !input.peek(Token![=]) {
        let message = format!("`{key}` needs a value: `{key} = {example}`");
        return Err(Error::new(key.span(), message));
    }
    input.parse::<Token![=]>()?;
    Ok(input)
}

/// `needs_approval`, `needs_approval = false`, or `needs_approval = path` of a function over the arguments.
fn approval(key: &Ident, input: ParseStream<'_>) -> Result<Approval> {
    if !input.peek(Token![=]) || input.peek2(syn::LitBool) {
        return flag(key, input).map(Approval::Always);
    }
    value(key, input, "path").map(Approval::Asked)
}

impl Parse for Asked {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let path = syn::Path::parse_mod_style(input)?;
        if !input.peek(token::Paren) {
            return Ok(Self { path, about: None });
        }
        let content;
        let parentheses = parenthesized!(content in input);
        let names = content.parse_terminated(Ident::parse, Token![,])?;
        Ok(Self {
            path,
            about: Some((parentheses, names.into_iter().collect())),
        })
    }
}

/// `feed`, `fatal` or `say("..")`.
fn on_error(key: &Ident, input: ParseStream<'_>) -> Result<OnError> {
    let input = equals(key, input, "feed")?;
    let expected = |span| {
        Error::new(
            span,
            "`on_error` is `feed` (the model reads the error), `fatal` (the run ends) or `say(\"..\")` (the model reads this)",
        )
    };
    if !input.peek(Ident::peek_any) {
        return Err(expected(input.span()));
    }
    let word = input.call(Ident::parse_any)?;
    match word.to_string().as_str() {
        "feed" => Ok(OnError::Feed),
        "fatal" => Ok(OnError::Fatal),
        "say" if input.peek(token::Paren) => {
            let content;
            parenthesized!(content in input);
            let text: LitStr = content.parse().map_err(|_| expected(word.span()))?;
            if content.is_empty() {
                Ok(OnError::Say(text))
            } else {
                Err(expected(content.span()))
            }
        }
        _ => Err(expected(word.span())),
    }
}

/// `"10s"`, `"500ms"`, `"2m"`, `"1h"`, in nanoseconds.
fn duration(literal: &LitStr) -> Result<u64> {
    let text = literal.value();
    let digits = text.len()
        - text
            .trim_start_matches(|letter: char| letter.is_ascii_digit())
            .len();
    let (number, unit) = text.split_at(digits);
    let unit: u64 = match unit {
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60 * 1_000_000_000,
        "h" => 3_600 * 1_000_000_000,
        _ => 0,
    };
    match number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(unit))
    {
        Some(nanoseconds) if nanoseconds > 0 => Ok(nanoseconds),
        _ => {
            let message = format!(
                "`{text}` is no time limit: write a whole number above 0 and a unit, such as \"500ms\", \"10s\" or \"2m\""
            );
            Err(Error::new(literal.span(), message))
        }
    }
}
