use super::parse::Group;
use crate::tool::expand::{Place, allow, implementation, private, shareable};
use crate::tool::fallback::stub;
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{ItemImpl, WherePredicate, parse_quote};

/// The tools of a type, and the group that they are.
pub(crate) fn group(
    block: &ItemImpl,
    group: &Group,
    krate: &TokenStream,
    is_wrong: bool,
) -> TokenStream {
    let private = &private();
    let this = &block.self_ty;
    // A generic type is one that can be shared between calls.
    let shareable = shareable(this.span());
    let shareable: WherePredicate = parse_quote!(#shareable);
    let mut shared = block.generics.clone();
    if !shared.params.is_empty() {
        let predicates: [WherePredicate; 1] = [shareable.clone()];
        shared.make_where_clause().predicates.extend(predicates);
    }
    let mut generics = shared.clone();
    generics.params.push(parse_quote!(__S));
    let mut indices = Vec::new();
    let mut tools = TokenStream::new();
    let mut pushes = TokenStream::new();
    for (number, tool) in group.tools.iter().enumerate() {
        let one = if is_wrong {
            stub(this, &quote!(Self), &shared, number, private)
        } else {
            let place = Place {
                private,
                number,
                this,
                value: quote!(Self),
                this_span: this.span(),
                generics: &shared,
            };
            implementation(tool, &place)
        };
        let index = format_ident!("__T{number}");
        generics.params.push(parse_quote!(#index));
        let clause = generics.make_where_clause();
        clause
            .predicates
            .push(parse_quote!(Self: #private::Called<#number, Self, __S, #index>));
        tools.extend(quote!(#one));
        pushes.extend(quote!(list.push_nth::<#number, Self, #index>(this);));
        indices.push(index.to_token_stream());
    }
    let clause = generics.make_where_clause();
    clause
        .predicates
        .push(parse_quote!(__S: #private::Send + #private::Sync + 'static));
    clause.predicates.push(shareable);
    let (header, _, clause) = generics.split_for_impl();
    let allow = allow();
    let cfgs = block
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"));
    quote! {
        #(#cfgs)*
        const _: () = {
            use #krate::__private as #private;
            #tools
            #[automatically_derived]
            #allow
            impl #header #private::Group<__S, (#(#indices,)*)> for #this #clause {
                fn tools(this: &#private::Arc<Self>) -> #private::Tools<__S> {
                    let mut list = #private::Tools::none();
                    #pushes
                    list
                }
            }
        };
    }
}
