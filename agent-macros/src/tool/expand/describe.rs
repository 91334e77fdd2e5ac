//! All that a set, a provider and a person must know of a tool.

use super::read::default_value;
use super::{ask, kept, place, wire_name};
use crate::json;
use crate::tool::ast::{Approval, OnError, Param, Tool};
use crate::tool::constraint::Class;
use crate::types::{Passing, with_lifetime};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

pub(super) fn describe(tool: &Tool, private: &TokenStream) -> TokenStream {
    let options = &tool.options;
    let into = Ident::new("tool", Span::mixed_site());
    let name = tool.name().0;
    let description = match &options.description {
        Some(expr) => expr.to_token_stream(),
        None => tool.docs.tokens(private),
    };
    let label = options.label.iter();
    let strict = options.strict.iter();
    let policy = policy(tool, private);
    let line = tool.ident.span();
    let line = quote_spanned!(line=> #private::line!());
    let parameters = tool
        .params
        .iter()
        .map(|param| described(tool, param, private, &into));
    let checks = tool
        .params
        .iter()
        .flat_map(|param| [checks(param, private), strictness(tool, param, private)]);
    let asks_at_last = options.validate.is_some()
        || (tool.params.iter())
            .any(|param| param.arg.validate.is_some() || param.arg.flatten.is_some());
    let asks_at_last = asks_at_last.then(|| quote!(#into.asks_at_last = true;));
    quote_spanned! {Span::mixed_site()=>
        fn describe(#into: &mut #private::Blueprint) {
            #(#checks)*
            #into.called(#name, #description);
            #into.stands(#private::module_path!(), #private::file!(), #line);
            #(#into.label = #private::Some(#label);)*
            #(#into.strict = #private::Some(#strict);)*
            #(#into.policy.#policy;)*
            #asks_at_last
            #(#parameters)*
        }
    }
}

/// What the policy says that is no default: fields and their values.
fn policy(tool: &Tool, private: &TokenStream) -> Vec<TokenStream> {
    let options = &tool.options;
    let mut set = Vec::new();
    if let Some(nanoseconds) = options.timeout {
        set.push(quote!(timeout = #private::Some(#private::Duration::from_nanos(#nanoseconds))));
    }
    for (field, on) in [
        ("read_only", options.read_only.is_some()),
        ("idempotent", options.idempotent),
        ("destructive", options.destructive.is_some()),
        (
            "needs_approval",
            matches!(options.needs_approval, Some(Approval::Always(true))),
        ),
        ("deferred", options.deferred),
    ] {
        if on {
            let field = format_ident!("{field}");
            set.push(quote!(#field = true));
        }
    }
    if let Some(retries) = &options.retries {
        set.push(quote!(retries = #private::Some(#retries)));
    }
    if let Some(bytes) = &options.offload_at {
        set.push(quote!(offload_at = #private::Some(#bytes)));
    }
    let scheduling = match (options.parallel, options.sequential) {
        (_, Some(_)) => Some(quote!(Sequential)),
        (Some((_, true)), None) => Some(quote!(Parallel)),
        (Some((_, false)), None) => Some(quote!(Alone)),
        (None, None) => None,
    };
    if let Some(scheduling) = scheduling {
        set.push(quote!(scheduling = #private::Scheduling::#scheduling));
    }
    if let Some(on_error) = &options.on_error {
        let on_error = match on_error {
            OnError::Feed => quote!(Feed),
            OnError::Fatal => quote!(Fatal),
            OnError::Say(text) => quote!(Say(#private::Cow::Borrowed(#text))),
        };
        set.push(quote!(on_error = #private::Some(#private::OnError::#on_error)));
    }
    set
}

/// `Param::describe(..)` of a parameter, and what else is known of it.
fn described(tool: &Tool, param: &Param, private: &TokenStream, into: &Ident) -> TokenStream {
    let (arg, ty) = (&param.arg, with_lifetime(&param.ty, "'_"));
    let name = wire_name(param);
    let description = match &arg.description {
        Some(expr) => expr.to_token_stream(),
        None => param.docs.tokens(private),
    };
    let mut said = if let Some(schema) = &arg.schema_with {
        let optional = if arg.deserialize_with.is_some() {
            quote!(|| false)
        } else {
            quote!(#private::is_optional::<#ty>)
        };
        quote!(#into.parameter(#name, #description, #schema, #optional);)
    } else {
        let describe = ask(tool, param, "describe", private);
        quote!(#describe(#into, #name, #description);)
    };
    if let Some(default) = &arg.default {
        let literal = default.value.as_ref().and_then(json::from_expr);
        let text = if let Some(literal) = literal {
            let text = literal.to_string();
            quote!(<#private::String as #private::From<_>>::from(#text))
        } else {
            let value = default_value(tool, param, private);
            quote!(#private::json(&#value))
        };
        said.extend(quote!(#into.default(|| #text);));
    }
    let keywords = keywords(param);
    if !keywords.is_empty() {
        let keywords = keywords
            .into_iter()
            .map(|(key, value)| quote!((#key, #value)));
        said.extend(quote!(#into.keywords(&[#(#keywords),*]);));
    }
    if arg.flatten.is_some() {
        said.extend(quote!(#into.flatten();));
    }
    if arg.secret {
        said.extend(quote!(#into.secret();));
    }
    said
}

/// Keywords of the schema as JSON text.
fn keywords(param: &Param) -> Vec<(String, String)> {
    let arg = &param.arg;
    let mut keywords: Vec<(String, String)> = Vec::new();
    if let Some(title) = &arg.title {
        keywords.push((
            "title".to_owned(),
            json::Json::Text(title.value()).to_string(),
        ));
    }
    for constraint in &arg.constraints {
        keywords.extend(
            constraint
                .keywords
                .iter()
                .map(|(key, value)| ((*key).to_owned(), value.to_string())),
        );
    }
    if !arg.examples.is_empty() {
        let examples = arg
            .examples
            .iter()
            .map(|(_, example)| example.clone())
            .collect();
        keywords.push((
            "examples".to_owned(),
            json::Json::List(examples).to_string(),
        ));
    }
    keywords.extend(
        arg.extend
            .iter()
            .map(|(key, value)| (key.clone(), value.to_string())),
    );
    keywords
}

/// Asks the compiler whether the constraints suit the type, and their numbers fit into it.
fn checks(param: &Param, private: &TokenStream) -> TokenStream {
    let ty = match &param.passing {
        Passing::Value => with_lifetime(&param.ty, "'_"),
        Passing::Reference(pointee) | Passing::OptionalReference(pointee) => {
            with_lifetime(pointee, "'_")
        }
    };
    let span = place(param);
    let checks = param
        .arg
        .constraints
        .iter()
        .map(|constraint| match constraint.class {
            Class::Number => {
                let numbers = &constraint.numbers;
                let count = numbers.len();
                let number = quote_spanned!(span=> <#ty as #private::Number>::N);
                quote!(let _: [#number; #count] = [#(#numbers),*];)
            }
            Class::Text => quote_spanned!(span=> let () = <#ty as #private::Text>::CAN;),
            Class::List => quote_spanned!(span=> let () = <#ty as #private::List>::CAN;),
        });
    checks.collect()
}

/// Asks the compiler whether a parameter's type can be strict, where that was asked. A constant cannot name the type of an
/// impl block, so methods are left to the schema.
fn strictness(tool: &Tool, param: &Param, private: &TokenStream) -> TokenStream {
    if tool.options.strict != Some(true) || tool.in_impl {
        return TokenStream::new();
    }
    let ty = kept(tool, param, "'static", private);
    // An expression of the type's own span all over, or the error would stand elsewhere.
    let check = quote_spanned!(place(param)=> __must_be_closed(__Strict::<#ty>::CLOSED));
    quote! {
        const _: () = {
            #[allow(unused_imports)]
            use #private::{Closed as _, Strict as __Strict, must_be_closed as __must_be_closed};
            #check
        };
    }
}
