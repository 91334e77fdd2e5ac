//! From arguments to a call that has not begun: the one box of a call, which owns them.

use super::read::{ask_author, read};
use super::{Place, allow, kept, lends, slot};
use crate::tool::ast::{Approval, Tool};
use crate::types::{Kept, Passing, Spelled};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ReturnType;
use syn::spanned::Spanned;

pub(super) fn called(tool: &Tool, place: &Place<'_>) -> TokenStream {
    let Place {
        private,
        number,
        this,
        value,
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
        if param.arg.schema_with.is_some() {
            gets.push(quote!(let #slot = #private::filled(#slot.value);));
        } else {
            let span = super::place(param);
            let index = format_ident!("__I{at}");
            let from = if lends(param) {
                quote!(#private::Lent<#index>)
            } else {
                quote!(#index)
            };
            let ty = kept(tool, param, "'__b", private);
            bounds.push(quote_spanned!(span=> for<'__b> #ty: #private::Get<'__b, __S, #from>));
            let ty = kept(tool, param, "'_", private);
            let get = quote_spanned!(span=> <#ty as #private::Get<'_, __S, #from>>::get);
            gets.push(quote!(let #slot = #get(#slot.value, #state, #context)?;));
            indices.push(index);
        }
        if tool.blocks() {
            // Said at the type, and then taken for true: not of the closure that goes to another thread.
            let span = super::place(param);
            let (ty, private) = (
                kept(tool, param, "'static", private),
                Ident::new("__agent", span),
            );
            bounds.push(quote_spanned!(span=> #ty: #private::Send));
        }
        passed.push(match &param.passing {
            Passing::Value => slot.to_token_stream(),
            Passing::Reference(_) => quote!(&#slot),
            Passing::OptionalReference(pointee) => match Kept::of(pointee) {
                Kept::Itself(_) => quote_spanned!(Span::mixed_site()=> #slot.as_ref()),
                Kept::Text | Kept::Path | Kept::List(_) => {
                    quote_spanned!(Span::mixed_site()=> #slot.as_deref())
                }
            },
        });
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
    let (asked, with_permission) = permission(tool, private);
    let reader = Ident::new("reader", Span::mixed_site());
    let read = read(tool, private, &reader);
    let allow = allow();
    quote_spanned! {Span::mixed_site()=>
        #[automatically_derived]
        #allow
        impl #header #private::Called<#number, #value, __S, (#(#indices,)*)> for #this
        where #(#predicates,)* #(#bounds,)*
        {
            fn prepare<'__a>(
                this: &'__a #private::Arc<#value>,
                #state: &'__a #private::Arc<__S>,
                #reader: &mut #private::Reader<'__a>,
                #context: &'__a #private::ToolContext,
            ) -> #private::Result<#private::Prepared<'__a>, #private::ReadError> {
                #read
                #asked
                #body #with_permission
            }
        }
    }
}

/// Asks the user's own function whether a person must agree, before the arguments are moved into the call.
fn permission(tool: &Tool, private: &TokenStream) -> (TokenStream, TokenStream) {
    let Some(Approval::Asked(asked)) = &tool.options.needs_approval else {
        return (TokenStream::new(), TokenStream::new());
    };
    let path = &asked.path;
    let permission = Ident::new("permission", Span::mixed_site());
    // A method of the same value is asked as one.
    let is_method = tool.has_self
        && path
            .segments
            .first()
            .is_some_and(|first| first.ident == "Self");
    let this = is_method.then(|| quote_spanned!(Span::mixed_site()=> &**this));
    let said = ask_author(
        tool,
        private,
        asked,
        this,
        |said| quote_spanned!(path.span()=> #permission = #private::ApprovalAnswer::into_permission(#said);),
    );
    let asked = quote_spanned! {Span::mixed_site()=>
        let mut #permission = #private::Permission::Allow;
        #said
    };
    let with = quote_spanned! {Span::mixed_site()=>
        .map(|prepared: #private::Prepared<'__a>| prepared.with_permission(#permission))
    };
    (asked, with)
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
    let itself = Vec::from_iter(
        tool.has_self
            .then(|| Ident::new("this", Span::mixed_site())),
    );
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
                #(let #itself = #private::Clone::clone(#itself);)*
                let (state, context) = (#private::Clone::clone(state), #private::Clone::clone(context));
                #private::blocking(move || {
                    #(let #itself = &*#itself;)*
                    let (state, context) = (&*state, &context);
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
            #(let #itself = &**#itself;)*
            let state = &**state;
            #(#gets)*
            #end
        }))
    }
}
