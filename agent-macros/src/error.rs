//! Errors are collected, so that all of a function's mistakes are said at once.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use std::cell::RefCell;
use std::fmt::Display;

#[derive(Default)]
pub(crate) struct Errors(RefCell<Vec<syn::Error>>);

impl Errors {
    /// Something wrong with these tokens.
    pub(crate) fn on(&self, tokens: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// Something wrong here.
    pub(crate) fn at(&self, span: Span, message: impl Display) {
        self.push(syn::Error::new(span, message));
    }

    pub(crate) fn push(&self, error: syn::Error) {
        self.0.borrow_mut().push(error);
    }

    /// The value, or `None` and one error more.
    pub(crate) fn take<T>(&self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// The errors, as the compiler is told of them.
    pub(crate) fn into_tokens(self) -> TokenStream {
        let errors = self.0.into_inner();
        errors.iter().map(syn::Error::to_compile_error).collect()
    }
}

/// The candidate that somebody who typed `typed` most likely meant.
pub(crate) fn closest<'a>(typed: &str, candidates: &[&'a str]) -> Option<&'a str> {
    candidates
        .iter()
        .map(|candidate| (distance(typed, candidate), *candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance, over one row.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, to) in row.iter_mut().skip(1).zip(&b) {
            let here = (*cell + 1)
                .min(left + 1)
                .min(diagonal + usize::from(from != *to));
            diagonal = std::mem::replace(cell, here);
            left = here;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}
