//! From the text of a call to its arguments: one slot a parameter, filled in the order in which they come, then settled.

use super::{ask, kept, place, slot, wire_name};
use crate::json;
use crate::tool::ast::{Asked, Param, Tool};
use crate::types::with_lifetime;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Expr;
use syn::spanned::Spanned;

/// What reading leaves of a parameter: nothing, where the host fills it.
pub(super) fn slot_type(tool: &Tool, param: &Param, private: &TokenStream) -> TokenStream {
    let lifetime = if tool.blocks() { "'static" } else { "'__a" };
    let kept = kept(tool, param, lifetime, private);
    quote!(#private::Option<#kept>)
}

pub(super) fn read(tool: &Tool, private: &TokenStream) -> TokenStream {
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
        let value = value(tool, param, private, &reader);
        quote!(#at => #slot = { let read = #value; #reader.keep(#at, read)? },)
    });
    let flattened = with(&|at, param| {
        if param.arg.flatten.is_none() {
            return TokenStream::new();
        }
        let slot = slot(at);
        let read = ask(tool, param, "read_flattened", private);
        quote!(#slot = { let read = #read(#reader, #at); #reader.keep(#at, read)? };)
    });
    let settled = with(&|at, param| settle(tool, param, at, private, &reader));
    let validated = validated(tool, private, &reader);
    quote_spanned! {Span::mixed_site()=>
        fn read<'__a>(#reader: &mut #private::Reader<'__a>) -> #private::Result<Self::Arguments<'__a>, #private::ReadError> {
            #(let mut #slots = #private::None;)*
            #reader.object()?;
            while let #private::Some(index) = #reader.next_parameter()? {
                match index {
                    #(#arms)*
                    _ => #reader.skip()?,
                }
            }
            #(#flattened)*
            #(let #slots = #settled;)*
            #validated
            #private::Ok((#(#slots,)*))
        }
    }
}

/// Asks the user's own functions: about each argument, all of them, and then, if nothing is refused, about the whole call.
fn validated(tool: &Tool, private: &TokenStream, reader: &Ident) -> TokenStream {
    let refusals = Ident::new("refusals", Span::mixed_site());
    let one = |(at, param): (usize, &Param)| {
        let validate = param.arg.validate.as_ref()?;
        let (slot, secret) = (slot(at), param.arg.secret);
        // Fields that stand in the call's own object have no name together.
        let name = if param.arg.flatten.is_some() {
            ""
        } else {
            wire_name(param)
        };
        // Where the author named the function, for it may take another type.
        let value = Ident::new("value", Span::mixed_site().located_at(validate.span()));
        let said = quote_spanned!(validate.span()=> #validate(#value));
        Some(quote_spanned! {Span::mixed_site()=>
            if let #private::Some(#value) = &#slot {
                #refusals.note(#at, #name, #secret, #said);
            }
        })
    };
    let each: Vec<_> = tool.params.iter().enumerate().filter_map(one).collect();
    let whole = tool.options.validate.as_ref().map(|validate| {
        let secret = asked_about(tool, validate)
            .iter()
            .any(|(_, param)| param.arg.secret);
        let said = ask_author(
            tool,
            private,
            validate,
            None,
            |said| quote!(#refusals.note_all(#secret, #said);),
        );
        quote!(if #refusals.is_empty() { #said })
    });
    if each.is_empty() && whole.is_none() {
        return quote!(#reader.refuse(#private::Vec::new())?;);
    }
    quote_spanned! {Span::mixed_site()=>
        let mut #refusals = #private::Refusals::default();
        #(#each)*
        #whole
        #reader.refuse(#refusals.into_list())?;
    }
}

/// The arguments that a function of the author's is asked about, in its order.
fn asked_about<'t>(tool: &'t Tool, asked: &Asked) -> Vec<(usize, &'t Param)> {
    let sent = || {
        let params = tool.params.iter().enumerate();
        params.filter(|(_, param)| param.is_argument())
    };
    match &asked.about {
        None => sent().collect(),
        Some((_, names)) => names
            .iter()
            .filter_map(|name| sent().find(|(_, param)| param.ident.as_ref() == Some(name)))
            .collect(),
    }
}

/// Asks a function of the author's about what the model sends, after what else it is given `first`, and does with its
/// answer what `then` says.
pub(super) fn ask_author(
    tool: &Tool,
    private: &TokenStream,
    asked: &Asked,
    first: Option<TokenStream>,
    then: impl FnOnce(TokenStream) -> TokenStream,
) -> TokenStream {
    let path = &asked.path;
    let arguments = asked_about(tool, asked);
    let slots: Vec<_> = arguments.iter().map(|(at, _)| slot(*at)).collect();
    let by_type = arguments.iter().filter(|(_, param)| {
        param.arg.schema_with.is_none() && param.arg.deserialize_with.is_none()
    });
    let from_model = by_type.map(|(_, param)| {
        let span = place(param);
        let kept = kept(tool, param, "'_", private);
        quote_spanned!(span=> #private::from_model::<#kept, _>();)
    });
    // Where the author named the argument, or else the function, for it may take another type.
    let named = |at: usize| {
        let (_, names) = asked.about.as_ref()?;
        names.get(at).map(Ident::span)
    };
    let given = slots.iter().enumerate().map(|(at, slot)| {
        let mut slot = slot.clone();
        slot.set_span(slot.span().located_at(named(at).unwrap_or(path.span())));
        slot.to_token_stream()
    });
    let given = first.into_iter().chain(given);
    let given = quote!(#(#given),*);
    let then = then(match &asked.about {
        None => quote_spanned!(path.span()=> #path(#given)),
        Some((parentheses, _)) => {
            let mut said = path.to_token_stream();
            parentheses.surround(&mut said, |tokens| tokens.extend(given));
            said
        }
    });
    quote_spanned! {Span::mixed_site()=>
        #(#from_model)*
        if let (#(#private::Some(#slots),)*) = (#(&#slots,)*) {
            #then
        }
    }
}

/// Reads one value.
fn value(tool: &Tool, param: &Param, private: &TokenStream, reader: &Ident) -> TokenStream {
    let arg = &param.arg;
    if let Some(path) = &arg.deserialize_with {
        let ty = with_lifetime(&param.ty, "'static");
        quote_spanned! {Span::mixed_site()=> {
            struct With(#ty);
            impl<'de> #private::serde::Deserialize<'de> for With {
                fn deserialize<D: #private::serde::Deserializer<'de>>(deserializer: D) -> #private::Result<Self, D::Error> {
                    #private::Ok(With(#path(deserializer)?))
                }
            }
            #reader.value::<With>().map(|With(value)| value)
        }}
    } else if arg.schema_with.is_some() {
        let ty = with_lifetime(&param.ty, "'_");
        quote!(#reader.value::<#ty>())
    } else {
        let read = ask(tool, param, "read", private);
        quote!(#read(#reader))
    }
}

/// What a slot is once all arguments are read.
fn settle(
    tool: &Tool,
    param: &Param,
    at: usize,
    private: &TokenStream,
    reader: &Ident,
) -> TokenStream {
    let slot = slot(at);
    let arg = &param.arg;
    let name = wire_name(param);
    let or_default = arg.default.as_ref().map(|_| {
        let value = default_value(tool, param, private);
        quote_spanned! {Span::mixed_site()=>
            if #slot.is_none() {
                #slot = #private::Some(#value);
            }
        }
    });
    let settled = if arg.deserialize_with.is_some() {
        quote!(#private::given(#slot, #name))
    } else if arg.schema_with.is_some() {
        quote!(#private::settle(#slot, #name))
    } else {
        let settle = ask(tool, param, "settle", private);
        quote!(#settle(#slot, #name))
    };
    quote_spanned!(Span::mixed_site()=> { #or_default let settled = #settled; #reader.settle(#at, settled)? })
}

/// The default, of the parameter's type.
pub(super) fn default_value(tool: &Tool, param: &Param, private: &TokenStream) -> TokenStream {
    let ty = kept(tool, param, "'_", private);
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
