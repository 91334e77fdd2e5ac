//! JSON values, as attributes spell them: Rust literals, `[..]`, `{"key": ..}` and `null`.

use proc_macro2::{Ident, Span};
use std::fmt::{self, Write};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Lit, LitStr, Result, Token, braced, bracketed, token};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Parse for Json {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(token::Bracket) {
            let content;
            bracketed!(content in input);
            let items = content.parse_terminated(Json::parse, Token![,])?;
            return Ok(Self::List(items.into_iter().collect()));
        }
        if input.peek(token::Brace) {
            return object(input).map(Self::Object);
        }
        if input.peek(Ident::peek_any) && !input.peek(syn::LitBool) {
            let word: Ident = input.parse()?;
            if word == "null" {
                return Ok(Self::Null);
            }
            return Err(expected(word.span()));
        }
        let start = input.span();
        let minus = input.parse::<Option<Token![-]>>()?;
        let literal: Lit = input.parse().map_err(|_| expected(start))?;
        from_literal(&literal, minus.is_some()).ok_or_else(|| expected(literal.span()))
    }
}

fn expected(span: Span) -> Error {
    Error::new(
        span,
        "expected a JSON value: a literal, `[..]`, `{\"key\": ..}` or `null`",
    )
}

/// The members of `{"key": ..}`.
pub(crate) fn object(input: ParseStream<'_>) -> Result<Vec<(String, Json)>> {
    let content;
    braced!(content in input);
    let mut members: Vec<(String, Json)> = Vec::new();
    while !content.is_empty() {
        let (key, span) = if content.peek(LitStr) {
            let key: LitStr = content.parse()?;
            (key.value(), key.span())
        } else {
            let key = content.call(Ident::parse_any)?;
            (key.unraw().to_string(), key.span())
        };
        if members.iter().any(|(other, _)| *other == key) {
            return Err(Error::new(span, format!("`{key}` is given twice")));
        }
        content.parse::<Token![:]>()?;
        members.push((key, content.parse()?));
        if content.is_empty() {
            break;
        }
        content.parse::<Token![,]>()?;
    }
    Ok(members)
}

pub(crate) fn from_literal(literal: &Lit, negative: bool) -> Option<Json> {
    match literal {
        Lit::Str(text) if !negative => Some(Json::Text(text.value())),
        Lit::Bool(flag) if !negative => Some(Json::Bool(flag.value)),
        Lit::Char(letter) if !negative => Some(Json::Text(letter.value().to_string())),
        Lit::Int(int) => {
            let value: i128 = int.base10_parse().ok()?;
            Some(Json::Int(if negative { -value } else { value }))
        }
        Lit::Float(float) => {
            let value: f64 = float.base10_parse().ok()?;
            let value = if negative { -value } else { value };
            value.is_finite().then_some(Json::Float(value))
        }
        _ => None,
    }
}

/// A value that an expression spells out, as far as that can be read from it.
pub(crate) fn from_expr(expr: &syn::Expr) -> Option<Json> {
    match expr {
        syn::Expr::Lit(literal) => from_literal(&literal.lit, false),
        syn::Expr::Unary(syn::ExprUnary {
            op: syn::UnOp::Neg(_),
            expr,
            ..
        }) => match &**expr {
            syn::Expr::Lit(literal) => from_literal(&literal.lit, true),
            _ => None,
        },
        syn::Expr::Group(group) => from_expr(&group.expr),
        syn::Expr::Paren(paren) => from_expr(&paren.expr),
        _ => None,
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(flag) => write!(f, "{flag}"),
            Self::Int(int) => write!(f, "{int}"),
            // `Debug` keeps the point of `1.0` and has an exponent where `Display` would print 300 zeros.
            Self::Float(float) => write!(f, "{float:?}"),
            Self::Text(text) => quoted(text, f),
            Self::List(items) => {
                f.write_char('[')?;
                for (at, item) in items.iter().enumerate() {
                    let comma = if at == 0 { "" } else { "," };
                    write!(f, "{comma}{item}")?;
                }
                f.write_char(']')
            }
            Self::Object(members) => {
                f.write_char('{')?;
                for (at, (key, value)) in members.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { "," })?;
                    quoted(key, f)?;
                    write!(f, ":{value}")?;
                }
                f.write_char('}')
            }
        }
    }
}

fn quoted(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_char('"')?;
    for letter in text.chars() {
        match letter {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            letter if letter < ' ' => write!(f, "\\u{:04x}", u32::from(letter))?,
            letter => f.write_char(letter)?,
        }
    }
    f.write_char('"')
}
