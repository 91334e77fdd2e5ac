use super::parse::Group;
use crate::tool::expand::{Place, allow, implementation};
use crate::tool::fallback::stub;
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{ItemImpl, WherePredicate, parse_quote};

/// The tools of a type, and the group that they are.
pub(crate) fn group(
    block: &ItemImpl,
    group: &Group,
    private: &TokenStream,
    is_wrong: bool,
) -> TokenStream {
    let this = &block.self_ty;
    // A generic type is one that can be shared between calls.
    let mut shared = block.generics.clone();
    if !shared.params.is_empty() {
        let predicates: [WherePredicate; 1] =
            [parse_quote!(Self: #private::Send + #private::Sync + 'static)];
        shared.make_where_clause().predicates.extend(predicates);
    }
    let mut generics = shared.clone();
    generics.params.push(parse_quote!(__S));
    let mut indices = Vec::new();
    let mut tools = TokenStream::new();
    let mut pushes = TokenStream::new();
    for (number, tool) in group.tools.iter().enumerate() {
        let cfgs = &tool.cfgs;
        let one = if is_wrong {
            stub(this, &shared, number, private)
        } else {
            let place = Place {
                private,
                number,
                this,
                generics: &shared,
            };
            implementation(tool, &place)
        };
        let index = format_ident!("__T{number}");
        generics.params.push(parse_quote!(#index));
        let clause = generics.make_where_clause();
        clause
            .predicates
            .push(parse_quote!(Self: #private::Called<#number, __S, #index>));
        tools.extend(quote!(#one));
        pushes.extend(
            quote!(#(#cfgs)* list.push::<#number, Self, #index>(#private::Clone::clone(this));),
        );
        indices.push(index.to_token_stream());
    }
    let clause = generics.make_where_clause();
    clause
        .predicates
        .push(parse_quote!(__S: #private::Send + #private::Sync + 'static));
    clause
        .predicates
        .push(parse_quote!(Self: #private::Send + #private::Sync + 'static));
    let (header, _, clause) = generics.split_for_impl();
    let allow = allow();
    quote! {
        const _: () = {
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
