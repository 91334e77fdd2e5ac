//! A tool, as far as its tokens say.

use super::constraint::Constraint;
use crate::docs::Docs;
use crate::json::Json;
use crate::types::Passing;
use proc_macro2::{Ident, Span};
use syn::token::Paren;
use syn::{Attribute, Expr, LitStr, Path, ReturnType, Type, Visibility};

pub(crate) struct Tool {
    pub(crate) options: Options,
    pub(crate) ident: Ident,
    pub(crate) vis: Visibility,
    pub(crate) docs: Docs,
    /// `#[cfg(..)]` that the generated items share.
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) is_async: bool,
    /// Whether it is called on `&self`.
    pub(crate) has_self: bool,
    /// Whether it stands in an impl block.
    pub(crate) in_impl: bool,
    pub(crate) params: Vec<Param>,
    pub(crate) output: ReturnType,
}

impl Tool {
    /// The name that the model calls, and where it is written.
    pub(crate) fn name(&self) -> (String, Span) {
        match &self.options.name {
            Some(name) => (name.value(), name.span()),
            None => (plain(&self.ident), self.ident.span()),
        }
    }

    /// Whether the body runs where it may block.
    pub(crate) fn blocks(&self) -> bool {
        !self.is_async && self.options.inline.is_none()
    }
}

impl Param {
    /// Whether the model sends it.
    pub(crate) fn is_argument(&self) -> bool {
        self.name.is_some() && !crate::types::is_host(&self.ty)
    }
}

/// An identifier without `r#`.
pub(crate) fn plain(ident: &Ident) -> String {
    syn::ext::IdentExt::unraw(ident).to_string()
}

/// `#[tool(..)]`.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<Expr>,
    pub(crate) label: Option<LitStr>,
    /// In nanoseconds.
    pub(crate) timeout: Option<u64>,
    pub(crate) read_only: Option<Span>,
    pub(crate) idempotent: bool,
    pub(crate) destructive: Option<Span>,
    pub(crate) parallel: Option<(Span, bool)>,
    pub(crate) sequential: Option<Span>,
    pub(crate) needs_approval: Option<Approval>,
    pub(crate) deferred: bool,
    pub(crate) retries: Option<syn::LitInt>,
    pub(crate) offload_at: Option<syn::LitInt>,
    pub(crate) strict: Option<bool>,
    pub(crate) on_error: Option<OnError>,
    pub(crate) proxy: Option<Ident>,
    /// What may refuse the arguments together.
    pub(crate) validate: Option<Asked>,
    pub(crate) krate: Option<Path>,
    pub(crate) inline: Option<Span>,
}

/// Whether a person must agree to calls.
pub(crate) enum Approval {
    /// To all of them, or to none.
    Always(bool),
    /// As this function says of the arguments.
    Asked(Asked),
}

/// A function of the author's that is asked about the arguments: `path`, or `path(to, cents)`.
pub(crate) struct Asked {
    pub(crate) path: Path,
    /// Those that it is asked about, in its order; else all, in theirs.
    pub(crate) about: Option<(Paren, Vec<Ident>)>,
}

pub(crate) enum OnError {
    Feed,
    Fatal,
    Say(LitStr),
}

pub(crate) struct Param {
    /// As the function calls it.
    pub(crate) ident: Option<Ident>,
    /// Without a name only the host can fill it.
    pub(crate) name: Option<(String, Span)>,
    pub(crate) ty: Type,
    pub(crate) passing: Passing,
    pub(crate) docs: Docs,
    pub(crate) arg: Arg,
}

/// `#[arg(..)]`.
#[derive(Default)]
pub(crate) struct Arg {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Option<Expr>,
    pub(crate) constraints: Vec<Constraint>,
    pub(crate) default: Option<Default>,
    pub(crate) examples: Vec<(Span, Json)>,
    pub(crate) flatten: Option<Span>,
    pub(crate) secret: bool,
    pub(crate) deserialize_with: Option<Path>,
    pub(crate) schema_with: Option<Path>,
    pub(crate) validate: Option<Path>,
    pub(crate) extend: Vec<(String, Json)>,
}

pub(crate) struct Default {
    pub(crate) key: Span,
    /// `None`: `Default::default()`.
    pub(crate) value: Option<Expr>,
}
