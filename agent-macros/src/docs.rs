//! Doc comments, as a model reads them.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, Lit, Meta};

/// A doc comment: its lines, and macros in it such as `include_str!`.
pub(crate) enum Docs {
    None,
    Text(String),
    /// Only the compiler can put it together.
    Parts(Vec<Part>),
}

pub(crate) enum Part {
    Text(String),
    Macro(Expr),
}

impl Docs {
    /// The doc comment among these attributes, wherever it stands.
    pub(crate) fn of(attributes: &[Attribute]) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        for attribute in attributes {
            let Meta::NameValue(doc) = &attribute.meta else {
                continue;
            };
            if !doc.path.is_ident("doc") {
                continue;
            }
            let Some(line) = text_of(&doc.value) else {
                parts.push(Part::Macro(doc.value.clone()));
                continue;
            };
            if let Some(Part::Text(text)) = parts.last_mut() {
                text.push('\n');
                text.push_str(&line);
            } else {
                parts.push(Part::Text(line));
            }
        }
        match <[Part; 1]>::try_from(parts) {
            Ok([Part::Text(text)]) => {
                let text = unindent(&text);
                if text.is_empty() {
                    Self::None
                } else {
                    Self::Text(text)
                }
            }
            Ok([part]) => Self::Parts(vec![part]),
            Err(parts) if parts.is_empty() => Self::None,
            Err(parts) => Self::Parts(parts),
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// An expression of type `&'static str`.
    pub(crate) fn tokens(&self, private: &TokenStream) -> TokenStream {
        match self {
            Self::None => quote!(""),
            Self::Text(text) => quote!(#text),
            Self::Parts(parts) => {
                let parts = parts.iter().enumerate().map(|(at, part)| {
                    let separator = if at == 0 { "" } else { "\n" };
                    match part {
                        Part::Text(text) => {
                            let text = format!("{separator}{}", unindent(text));
                            quote!(#text)
                        }
                        Part::Macro(expr) => quote!(#separator, #expr),
                    }
                });
                // A file ends in a line's end, which the description does not.
                quote!(#private::concat!(#(#parts),*).trim_ascii())
            }
        }
    }
}

fn text_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        Expr::Group(group) => text_of(&group.expr),
        _ => None,
    }
}

/// Takes off what all lines are indented by, as rustdoc does, and the stars of a `/** .. */` are already gone.
fn unindent(text: &str) -> String {
    let indent = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or_default();
    let lines: Vec<_> = text
        .lines()
        .map(|line| line.get(indent..).unwrap_or_default().trim_end())
        .collect();
    lines.join("\n").trim().to_owned()
}
