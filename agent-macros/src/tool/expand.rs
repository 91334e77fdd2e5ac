//! The code of a tool: what it is (`Declared`), and how a call of it begins (`Called`).
//!
//! Everything is named through `private`, and locals by the hygiene of the macro, so that nothing of the user's is in the way.
//! What asks a question of the user's type carries that type's span, in the same words each time: rustc says the same error
//! once.

use super::ast::{OnError, Param, Tool};
use super::constraint::Class;
use crate::json;
use crate::types::{Passing, Spelled, lends, with_lifetime};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Generics, ReturnType, Type};

/// Where the `N`th tool of a type is written.
pub(crate) struct Place<'a> {
    pub(crate) private: &'a TokenStream,
    pub(crate) number: usize,
    pub(crate) this: &'a dyn ToTokens,
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
    let called = called(tool, place);
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
    let arguments = tool
        .params
        .iter()
        .map(|param| slot_type(tool, param, private));
    let blueprint = blueprint(tool, private);
    let read = read(tool, private);
    let allow = allow();
    quote_spanned! {Span::mixed_site()=>
        #[automatically_derived]
        #allow
        impl #header #private::Declared<#number> for #this #clause {
            type Arguments<'__a> = (#(#arguments,)*);
            #blueprint
            #read
        }
    }
}

fn blueprint(tool: &Tool, private: &TokenStream) -> TokenStream {
    let name = tool.name().0;
    let description = match &tool.options.description {
        Some(expr) => expr.to_token_stream(),
        None => tool.docs.tokens(private),
    };
    let label = option(tool.options.label.as_ref(), private);
    let strict = option(tool.options.strict, private);
    let policy = policy(tool, private);
    let line = tool.ident.span();
    let line = quote_spanned!(line=> #private::line!());
    let parameters = tool.params.iter().map(|param| described(param, private));
    let checks = tool.params.iter().map(|param| checks(param, private));
    quote_spanned! {Span::mixed_site()=>
        fn blueprint() -> #private::Blueprint {
            #(#checks)*
            #private::Blueprint {
                name: #name,
                description: #description,
                label: #label,
                parameters: #private::Into::into([#(#parameters),*]),
                strict: #strict,
                policy: #policy,
                origin: #private::Origin {
                    module: #private::module_path!(),
                    file: #private::file!(),
                    line: #line,
                },
            }
        }
    }
}

fn option(value: Option<impl ToTokens>, private: &TokenStream) -> TokenStream {
    match value {
        Some(value) => quote!(#private::Some(#value)),
        None => quote!(#private::None),
    }
}

fn policy(tool: &Tool, private: &TokenStream) -> TokenStream {
    let options = &tool.options;
    let mut set = Vec::new();
    if let Some(nanoseconds) = options.timeout {
        set.push(quote!(timeout = #private::Some(#private::Duration::from_nanos(#nanoseconds))));
    }
    for (field, on) in [
        ("read_only", options.read_only.is_some()),
        ("idempotent", options.idempotent),
        ("destructive", options.destructive.is_some()),
        ("needs_approval", options.needs_approval),
    ] {
        if on {
            let field = format_ident!("{field}");
            set.push(quote!(#field = true));
        }
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
    quote_spanned! {Span::mixed_site()=>
        {
            let mut policy = #private::ToolPolicy::DEFAULT;
            #(policy.#set;)*
            policy
        }
    }
}

/// `Param::describe(..)` of a parameter.
fn described(param: &Param, private: &TokenStream) -> TokenStream {
    let (arg, ty) = (&param.arg, with_lifetime(&param.ty, "'_"));
    let name = wire_name(param);
    let description = match &arg.description {
        Some(expr) => expr.to_token_stream(),
        None => param.docs.tokens(private),
    };
    let default = match &arg.default {
        None => quote!(#private::None),
        Some(default) => match default.value.as_ref().and_then(json::from_expr) {
            Some(literal) => {
                let text = literal.to_string();
                quote!(#private::Some(|| <#private::String as #private::From<_>>::from(#text)))
            }
            None => {
                let value = default_value(param, private);
                quote!(#private::Some(|| #private::json(&#value)))
            }
        },
    };
    let keywords = keywords(param)
        .into_iter()
        .map(|(key, value)| quote!((#key, #value)));
    let (flatten, secret) = (arg.flatten.is_some(), arg.secret);
    let words = quote! {
        #private::Words {
            name: #name,
            description: #description,
            default: #default,
            keywords: &[#(#keywords),*],
            flatten: #flatten,
            secret: #secret,
        }
    };
    if let Some(schema) = &arg.schema_with {
        let optional = match arg.deserialize_with {
            Some(_) => quote!(|| false),
            None => quote!(#private::is_optional::<#ty>),
        };
        return quote!(#private::Words::json(#words, #schema, #optional));
    }
    let describe = ask(param, private, "describe", "describe_optional");
    quote!(#describe(#words))
}

/// A function of the trait that a parameter's type must have, under the span of that type.
fn ask(param: &Param, private: &TokenStream, function: &str, optional: &str) -> TokenStream {
    let span = param.ty.span();
    let (function, optional) = (Ident::new(function, span), Ident::new(optional, span));
    match &param.passing {
        Passing::Value => {
            let role = if lends(&param.ty) {
                quote!(#private::Lent)
            } else {
                quote!(_)
            };
            let ty = with_lifetime(&param.ty, "'_");
            if param.name.is_none() {
                // A pattern: no argument of the model's, or it would need a name.
                return quote_spanned!(span=> <#ty as #private::HostParam<#role>>::#function);
            }
            quote_spanned!(span=> <#ty as #private::Param<#role>>::#function)
        }
        Passing::Reference(pointee) => {
            let pointee = with_lifetime(pointee, "'_");
            quote_spanned!(span=> <#pointee as #private::RefParam>::#function)
        }
        Passing::OptionalReference(pointee) => {
            let pointee = with_lifetime(pointee, "'_");
            quote_spanned!(span=> <#pointee as #private::RefParam>::#optional)
        }
    }
}

fn wire_name(param: &Param) -> &str {
    param.name.as_ref().map_or("", |(name, _)| name)
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
    let span = param.ty.span();
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

/// What is kept of a parameter from reading to running.
fn slot_type(tool: &Tool, param: &Param, private: &TokenStream) -> TokenStream {
    // Another thread takes nothing that is borrowed.
    let lifetime = if tool.blocks() { "'static" } else { "'__a" };
    let ty = with_lifetime(&param.ty, lifetime);
    let held = |pointee: &Type| {
        let pointee = with_lifetime(pointee, lifetime);
        let lifetime = syn::Lifetime::new(lifetime, Span::call_site());
        quote_spanned!(param.ty.span()=> <#pointee as #private::RefParam>::Held<#lifetime>)
    };
    match &param.passing {
        Passing::Value => quote!(#private::Option<#ty>),
        Passing::Reference(pointee) => held(pointee),
        Passing::OptionalReference(pointee) => {
            let held = held(pointee);
            quote!(#private::Option<#held>)
        }
    }
}

fn slot(at: usize) -> Ident {
    Ident::new(&format!("slot{at}"), Span::mixed_site())
}

fn read(tool: &Tool, private: &TokenStream) -> TokenStream {
    let reader = Ident::new("reader", Span::mixed_site());
    let slots: Vec<_> = (0..tool.params.len()).map(slot).collect();
    let with = |make: &dyn Fn(usize, &Param) -> TokenStream| -> Vec<TokenStream> {
        tool.params
            .iter()
            .enumerate()
            .map(|(at, param)| make(at, param))
            .collect()
    };
    let arms = with(&|at, param| {
        if param.arg.flatten.is_some() {
            return TokenStream::new();
        }
        let slot = slot(at);
        let value = value(param, private, &reader);
        quote!(#at => #slot = #private::Some(#value),)
    });
    let flattened = with(&|at, param| {
        if param.arg.flatten.is_none() {
            return TokenStream::new();
        }
        let slot = slot(at);
        let read = ask(param, private, "read_flattened", "read_flattened");
        quote!(#slot = #private::Some(#read(&mut #reader, #at)?);)
    });
    let settled = with(&|at, param| settle(tool, param, &slot(at), private));
    quote_spanned! {Span::mixed_site()=>
        fn read<'__a>(mut #reader: #private::Reader<'__a>) -> #private::Result<Self::Arguments<'__a>, #private::ReadError> {
            #(let mut #slots = #private::None;)*
            #reader.object()?;
            while let #private::Some(index) = #reader.next_parameter()? {
                match index {
                    #(#arms)*
                    _ => #reader.skip()?,
                }
            }
            #(#flattened)*
            #private::Ok((#(#settled,)*))
        }
    }
}

/// Reads one value, and asks the user's own function about it.
fn value(param: &Param, private: &TokenStream, reader: &Ident) -> TokenStream {
    let arg = &param.arg;
    let value = if let Some(path) = &arg.deserialize_with {
        let ty = with_lifetime(&param.ty, "'static");
        quote_spanned! {Span::mixed_site()=> {
            struct With(#ty);
            impl<'de> #private::serde::Deserialize<'de> for With {
                fn deserialize<D: #private::serde::Deserializer<'de>>(deserializer: D) -> #private::Result<Self, D::Error> {
                    #private::Ok(With(#path(deserializer)?))
                }
            }
            #reader.value::<With>()?.0
        }}
    } else if arg.schema_with.is_some() {
        let ty = with_lifetime(&param.ty, "'_");
        quote!(#reader.value::<#ty>()?)
    } else {
        let read = ask(param, private, "read", "read_optional");
        quote!(#read(&mut #reader)?)
    };
    let Some(validate) = &arg.validate else {
        return value;
    };
    let name = wire_name(param);
    quote_spanned! {Span::mixed_site()=> {
        let value = #value;
        if let #private::Err(why) = #validate(&value) {
            return #private::Err(#private::refused(#name, why));
        }
        value
    }}
}

/// What a slot is once all arguments are read.
fn settle(tool: &Tool, param: &Param, slot: &Ident, private: &TokenStream) -> TokenStream {
    let arg = &param.arg;
    let name = wire_name(param);
    let or_default = arg.default.as_ref().map(|_| {
        let value = default_value(param, private);
        quote_spanned! {Span::mixed_site()=>
            if #slot.is_none() {
                #slot = #private::Some(#value);
            }
        }
    });
    let settled = match &param.passing {
        Passing::OptionalReference(pointee) => {
            let flat = quote_spanned!(Span::mixed_site()=> #slot.flatten());
            if tool.blocks() {
                let pointee = with_lifetime(pointee, "'_");
                let own = quote_spanned!(param.ty.span()=> <#pointee as #private::RefParam>::own);
                quote!(#flat.map(#own))
            } else {
                flat
            }
        }
        Passing::Reference(pointee) => {
            let settle = ask(param, private, "settle", "settle");
            let settled = quote!(#settle(#slot, #name)?);
            if tool.blocks() {
                let pointee = with_lifetime(pointee, "'_");
                let own = quote_spanned!(param.ty.span()=> <#pointee as #private::RefParam>::own);
                quote!(#own(#settled))
            } else {
                settled
            }
        }
        Passing::Value if arg.deserialize_with.is_some() => {
            quote_spanned! {Span::mixed_site()=> match #slot {
                #private::None => return #private::Err(#private::missing(#name)),
                some => some,
            }}
        }
        Passing::Value if arg.schema_with.is_some() => quote!(#private::settle(#slot, #name)?),
        Passing::Value => {
            let settle = ask(param, private, "settle", "settle");
            quote!(#settle(#slot, #name)?)
        }
    };
    quote!({ #or_default #settled })
}

/// The default, of the parameter's type.
fn default_value(param: &Param, private: &TokenStream) -> TokenStream {
    let ty = match &param.passing {
        Passing::Value => with_lifetime(&param.ty, "'_").to_token_stream(),
        Passing::Reference(pointee) => {
            let pointee = with_lifetime(pointee, "'_");
            quote!(<#pointee as #private::RefParam>::Held<'_>)
        }
        Passing::OptionalReference(pointee) => {
            let pointee = with_lifetime(pointee, "'_");
            quote!(#private::Option<<#pointee as #private::RefParam>::Held<'_>>)
        }
    };
    let Some(default) = &param.arg.default else {
        return TokenStream::new();
    };
    match &default.value {
        None => {
            let span = default.key;
            quote_spanned!(span=> <#ty as #private::Default>::default())
        }
        Some(expr) => {
            let expr = match json::from_expr(expr) {
                Some(json::Json::Text(_)) if is_text(expr) => {
                    quote_spanned!(expr.span()=> <#ty as #private::FromText>::from_text(#expr))
                }
                _ => expr.to_token_stream(),
            };
            quote_spanned!(Span::mixed_site()=> { let value: #ty = #expr; value })
        }
    }
}

fn is_text(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(literal) => matches!(literal.lit, syn::Lit::Str(_)),
        Expr::Group(group) => is_text(&group.expr),
        Expr::Paren(paren) => is_text(&paren.expr),
        _ => false,
    }
}

fn called(tool: &Tool, place: &Place<'_>) -> TokenStream {
    let Place {
        private,
        number,
        this,
        this_span,
        generics,
    } = place;
    let mut generics = (*generics).clone();
    let own = generics.clone();
    let (_, _, clause) = own.split_for_impl();
    let mut indices = Vec::new();
    let mut bounds = vec![
        quote!(__S: #private::Send + #private::Sync + 'static),
        shareable(*this_span),
    ];
    let mut gets: Vec<TokenStream> = Vec::new();
    let mut passed: Vec<TokenStream> = Vec::new();
    let context = Ident::new("context", Span::mixed_site());
    let state = Ident::new("state", Span::mixed_site());
    for (at, param) in tool.params.iter().enumerate() {
        let slot = slot(at);
        match &param.passing {
            Passing::Value if param.arg.schema_with.is_some() => {
                gets.push(quote!(let #slot = #private::filled(#slot)?;));
                passed.push(slot.to_token_stream());
            }
            Passing::Value => {
                let span = param.ty.span();
                let index = format_ident!("__I{at}");
                let place = if lends(&param.ty) {
                    quote!(#private::Lent<#index>)
                } else {
                    quote!(#index)
                };
                let ty = with_lifetime(&param.ty, "'__b");
                bounds.push(quote_spanned!(span=> for<'__b> #ty: #private::Get<'__b, __S, #place>));
                let ty = with_lifetime(&param.ty, "'_");
                let get = quote_spanned!(span=> <#ty as #private::Get<'_, __S, #place>>::get);
                gets.push(quote!(let #slot = #get(#slot, #state, #context)?;));
                passed.push(slot.to_token_stream());
                indices.push(index);
            }
            Passing::Reference(pointee) => {
                let pointee = with_lifetime(pointee, "'_");
                let lend = quote_spanned!(param.ty.span()=> <#pointee as #private::RefParam>::lend);
                passed.push(quote!(#lend(&#slot, #context)));
            }
            Passing::OptionalReference(pointee) => {
                let pointee = with_lifetime(pointee, "'_");
                let lend = quote_spanned!(param.ty.span()=> <#pointee as #private::RefParam>::lend);
                passed.push(quote_spanned!(Span::mixed_site()=> #slot.as_ref().map(|held| #lend(held, #context))));
            }
        }
    }
    let predicates = clause.map(|clause| {
        clause
            .predicates
            .iter()
            .map(ToTokens::to_token_stream)
            .collect::<Vec<_>>()
    });
    let predicates = predicates.unwrap_or_default();
    generics.params.push(syn::parse_quote!(__S));
    for index in &indices {
        generics.params.push(syn::parse_quote!(#index));
    }
    let (header, _, _) = generics.split_for_impl();
    let body = body(tool, private, &gets, &passed);
    let slots: Vec<_> = (0..tool.params.len()).map(slot).collect();
    let allow = allow();
    quote_spanned! {Span::mixed_site()=>
        #[automatically_derived]
        #allow
        impl #header #private::Called<#number, __S, (#(#indices,)*)> for #this
        where #(#predicates,)* #(#bounds,)*
        {
            fn prepare<'__a>(
                this: &'__a #private::Arc<Self>,
                #state: &'__a #private::Arc<__S>,
                reader: #private::Reader<'__a>,
                #context: &'__a #private::ToolContext,
            ) -> #private::Result<#private::Prepared<'__a>, #private::ReadError> {
                let (#(#slots,)*) = <Self as #private::Declared<#number>>::read(reader)?;
                #body
            }
        }
    }
}

/// Calls share the value. The bound is wholly under the span of the type that must meet it.
pub(crate) fn shareable(span: Span) -> TokenStream {
    let private = Ident::new("__agent", span);
    quote_spanned!(span=> Self: #private::Send + #private::Sync + 'static)
}

/// The call itself: a future that owns the arguments, and fills in the host's values when it runs.
fn body(
    tool: &Tool,
    private: &TokenStream,
    gets: &[TokenStream],
    passed: &[TokenStream],
) -> TokenStream {
    let ident = &tool.ident;
    let this = tool
        .has_self
        .then(|| quote_spanned!(Span::mixed_site()=> this,));
    let callee = if tool.in_impl {
        quote!(Self::#ident)
    } else {
        quote!(#ident)
    };
    // Parentheses included, since the whole expression is pointed at.
    let call = quote_spanned!(ident.span()=> #callee(#this #(#passed),*));
    let span = match &tool.output {
        ReturnType::Default => tool.ident.span(),
        ReturnType::Type(_, ty) => ty.span(),
    };
    let (answer, plain) = if Spelled::borrows(&tool.output) {
        ("BorrowedAnswer", "PlainBorrowed")
    } else {
        ("Answer", "Plain")
    };
    let (answer, plain) = (Ident::new(answer, span), Ident::new(plain, span));
    // All of the question is under the span of the return type.
    let returned = Ident::new("__returned", span);
    let end = |value: TokenStream| {
        let end = quote_spanned!(span=> #returned.end());
        quote_spanned! {Span::mixed_site()=> {
            use #private::#plain as _;
            let #returned = #private::#answer(#value);
            #end
        }}
    };
    let prepared = quote_spanned!(tool.ident.span()=> #private::Prepared::new);
    if tool.blocks() {
        let end = end(call);
        return quote_spanned! {Span::mixed_site()=>
            #private::Ok(#prepared(async move {
                let (this, state, context) = (
                    #private::Clone::clone(this),
                    #private::Clone::clone(state),
                    #private::Clone::clone(context),
                );
                #private::blocking(move || {
                    let (this, state, context) = (&*this, &*state, &context);
                    #(#gets)*
                    #end
                })
                .await
            }))
        };
    }
    let end = if tool.is_async {
        // The path as well: rustc checks the bound twice, and says it once where both are at one place.
        let private = Ident::new("__agent", ident.span());
        end(quote_spanned!(ident.span()=> #private::must_be_send(#call).await))
    } else {
        end(call)
    };
    quote_spanned! {Span::mixed_site()=>
        #private::Ok(#prepared(async move {
            let (this, state) = (&**this, &**state);
            #(#gets)*
            #end
        }))
    }
}
