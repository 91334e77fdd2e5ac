//! The code of a tool: what it is (`Declared`), and how a call of it begins (`Called`).
//!
//! Everything is named through `private`, and locals by the hygiene of the macro, so that nothing of the user's is in the way.
//! What asks a question of the user's type carries that type's span, in the same words each time: rustc says the same error
//! once.
//!
//! Here are the proxy and what the parts share; `describe` says what is known of a tool, `read` decodes, `called` makes the call.

mod called;
mod describe;
mod read;

pub(crate) use called::shareable;

use super::ast::{Param, Tool};
use crate::types::{self, Kept, Passing, with_lifetime};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Generics, Lifetime, Type};

/// Where the `N`th tool of a type is written.
pub(crate) struct Place<'a> {
    pub(crate) private: &'a TokenStream,
    pub(crate) number: usize,
    pub(crate) this: &'a dyn ToTokens,
    /// What its calls share.
    pub(crate) value: TokenStream,
    pub(crate) this_span: Span,
    pub(crate) generics: &'a Generics,
}

/// The proxy of a function and its tool.
pub(crate) fn function(tool: &Tool, krate: &TokenStream) -> TokenStream {
    let (proxy, declared) = proxy(tool);
    let private = &private();
    let place = Place {
        private,
        number: 0,
        this: &proxy,
        value: quote!(()),
        this_span: proxy.span(),
        generics: &Generics::default(),
    };
    let implementation = implementation(tool, &place);
    let cfgs = &tool.cfgs;
    let name = tool.name().0;
    let listed = listed(&proxy, &name, private);
    quote! {
        #declared
        #(#cfgs)*
        const _: () = {
            use #krate::__private as #private;
            #listed
            #implementation
        };
    }
}

/// What expansions call the module that has everything: a path that is wrong is then wrong in one place.
pub(crate) fn private() -> TokenStream {
    quote!(__agent)
}

/// A struct with braces lives in the namespace of types only: the function keeps its own name, and one `use` imports both.
pub(crate) fn proxy(tool: &Tool) -> (Ident, TokenStream) {
    let proxy = tool.options.proxy.as_ref().unwrap_or(&tool.ident);
    // Where the user wrote it, but the macro's: nobody is warned that a generated struct is unused, the function says it.
    // (`allow(dead_code)` would make all alive that its impls use, the function as well.)
    let span = Span::mixed_site().located_at(proxy.span());
    let mut proxy = proxy.clone();
    proxy.set_span(span);
    let (cfgs, vis) = (&tool.cfgs, &tool.vis);
    let docs = format!(
        "The tool that the function `{}` is, for `tools![..]`.",
        tool.ident
    );
    let item = quote_spanned!(span=> #vis struct #proxy {});
    let declared = quote! {
        #(#cfgs)*
        #[doc = #docs]
        #[allow(non_camel_case_types, missing_debug_implementations, unreachable_pub, clippy::all, clippy::pedantic, clippy::nursery)]
        #item
    };
    (proxy, declared)
}

/// What makes the proxy one that can be listed.
pub(crate) fn listed(proxy: &Ident, name: &str, private: &TokenStream) -> TokenStream {
    let allow = allow();
    quote! {
        #[automatically_derived]
        #allow
        impl #private::Function for #proxy {
            const NAME: &'static str = #name;
            type Tool = Self;
            fn tool() -> Self { Self {} }
        }
    }
}

/// Lints that are about how people write.
pub(crate) fn allow() -> TokenStream {
    quote!(#[allow(
        deprecated, unused_qualifications, single_use_lifetimes, unused_lifetimes, non_camel_case_types, unused_variables, unused_mut, unused_must_use,
        unreachable_code, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction
    )])
}

pub(crate) fn implementation(tool: &Tool, place: &Place<'_>) -> TokenStream {
    let declared = declared(tool, place);
    let called = called::called(tool, place);
    quote!(#declared #called)
}

fn declared(tool: &Tool, place: &Place<'_>) -> TokenStream {
    let Place {
        private,
        number,
        this,
        generics,
        ..
    } = place;
    let (header, _, clause) = generics.split_for_impl();
    let describe = describe::describe(tool, private);
    let allow = allow();
    quote_spanned! {Span::mixed_site()=>
        #[automatically_derived]
        #allow
        impl #header #private::Declared<#number> for #this #clause {
            #describe
        }
    }
}

/// The type of the value that is kept of a parameter from reading to running, with its lifetimes called `lifetime`.
fn kept(tool: &Tool, param: &Param, lifetime: &str, private: &TokenStream) -> TokenStream {
    let one = |pointee: &Type| {
        let pointee = with_lifetime(pointee, lifetime);
        let lifetime = Lifetime::new(lifetime, Span::call_site());
        match Kept::of(&pointee) {
            // Another thread takes nothing that is borrowed.
            Kept::Text if tool.blocks() => quote!(#private::String),
            Kept::Text => quote!(#private::Borrowed<#lifetime>),
            Kept::Path => quote!(#private::PathBuf),
            Kept::List(item) => quote!(#private::Vec<#item>),
            Kept::Itself(ty) => ty.to_token_stream(),
        }
    };
    match &param.passing {
        Passing::Value => with_lifetime(&param.ty, lifetime).to_token_stream(),
        Passing::Reference(pointee) => one(pointee),
        Passing::OptionalReference(pointee) => {
            let one = one(pointee);
            quote!(#private::Option<#one>)
        }
    }
}

/// Where questions about a parameter's type are asked.
fn place(param: &Param) -> Span {
    match &param.passing {
        Passing::Reference(pointee) => pointee.span(),
        Passing::Value | Passing::OptionalReference(_) => param.ty.span(),
    }
}

/// A function of the trait that a parameter's type must have, under the span of that type.
fn ask(tool: &Tool, param: &Param, function: &str, private: &TokenStream) -> TokenStream {
    let span = place(param);
    let function = Ident::new(function, span);
    let kept = kept(tool, param, "'_", private);
    let role = if lends(param) {
        quote!(#private::Lent)
    } else {
        quote!(_)
    };
    if param.name.is_none() {
        // A pattern: no argument of the model's, or it would need a name.
        return quote_spanned!(span=> <#kept as #private::HostParam<'_, #role>>::#function);
    }
    quote_spanned!(span=> <#kept as #private::Param<'_, #role>>::#function)
}

/// `State<&T>` and its like.
fn lends(param: &Param) -> bool {
    matches!(param.passing, Passing::Value) && types::lends(&param.ty)
}

fn wire_name(param: &Param) -> &str {
    param.name.as_ref().map_or("", |(name, _)| name)
}

fn slot(at: usize) -> Ident {
    Ident::new(&format!("slot{at}"), Span::mixed_site())
}
