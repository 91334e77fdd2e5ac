//! From the text of a call to its arguments: one slot a parameter, filled in the order in which they come, then settled.

use super::{ask, kept, place, slot, wire_name};
use crate::json;
use crate::tool::ast::{Asked, Param, Tool};
use crate::types::with_lifetime;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Expr;
use syn::spanned::Spanned;

/// The slots, filled.
pub(super) fn read(tool: &Tool, private: &TokenStream, reader: &Ident) -> TokenStream {
    let params = || tool.params.iter().enumerate();
    let made = params().map(|(at, param)| {
        let slot = slot(at);
        let made = if param.arg.schema_with.is_some() {
            let ty = kept(tool, param, "'_", private);
            quote!(#private::Slot::<#ty>::empty)
        } else {
            ask(tool, param, "slot", private)
        };
        quote!(let mut #slot = #made();)
    });
    let filled = params().map(|(at, param)| filled(tool, param, &slot(at), private));
    let filled = quote!(&mut [#(#filled),*]);
    let read = match validated(tool, private, reader) {
        None => quote!(#private::fill(#reader, #filled)?;),
        Some(validated) => quote! {
            #private::fill_first(#reader, #filled)?;
            #validated
        },
    };
    quote!(#(#made)* #read)
}

/// Asks the user's own functions: about each argument, all of them, and then, if nothing is refused, about the whole call.
fn validated(tool: &Tool, private: &TokenStream, reader: &Ident) -> Option<TokenStream> {
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
            if let #private::Some(#value) = &#slot.value {
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
        return None;
    }
    Some(quote_spanned! {Span::mixed_site()=>
        let mut #refusals = #private::Refusals::default();
        #(#each)*
        #whole
        #reader.refuse(#refusals.into_list())?;
    })
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
        if let (#(#private::Some(#slots),)*) = (#(&#slots.value,)*) {
            #then
        }
    }
}

/// A slot, as it is filled.
fn filled(tool: &Tool, param: &Param, slot: &Ident, private: &TokenStream) -> TokenStream {
    let arg = &param.arg;
    if param.name.is_none() {
        return quote!(&mut #private::FromHost);
    }
    if arg.flatten.is_some() {
        let read = ask(tool, param, "read_flattened", private);
        return quote!(&mut #private::Flattened { slot: &mut #slot.value, read: #read });
    }
    if arg.default.is_none() && arg.schema_with.is_none() && arg.deserialize_with.is_none() {
        let fill = ask(tool, param, "fill", private);
        return quote!(#fill(&mut #slot));
    }
    let absent = if arg.default.is_some() {
        let value = default_value(tool, param, private);
        quote!(|| #private::Some(#value))
    } else if arg.deserialize_with.is_some() {
        quote!(|| #private::None)
    } else {
        let ty = with_lifetime(&param.ty, "'_");
        quote!(#private::absent::<#ty>)
    };
    let read = read_specially(tool, param, private);
    quote!(&mut #private::Special { slot: &mut #slot.value, read: #read, absent: #absent })
}

/// Reads one value.
fn read_specially(tool: &Tool, param: &Param, private: &TokenStream) -> TokenStream {
    let arg = &param.arg;
    if let Some(path) = &arg.deserialize_with {
        let ty = with_lifetime(&param.ty, "'static");
        quote_spanned! {Span::mixed_site()=> |reader| {
            struct With(#ty);
            impl<'de> #private::serde::Deserialize<'de> for With {
                fn deserialize<D: #private::serde::Deserializer<'de>>(deserializer: D) -> #private::Result<Self, D::Error> {
                    #private::Ok(With(#path(deserializer)?))
                }
            }
            reader.value::<With>().map(|With(value)| value)
        }}
    } else if arg.schema_with.is_some() {
        let ty = with_lifetime(&param.ty, "'_");
        quote_spanned!(Span::mixed_site()=> |reader| reader.value::<#ty>())
    } else {
        ask(tool, param, "read", private)
    }
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
