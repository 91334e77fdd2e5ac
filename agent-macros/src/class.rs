//! `#[derive(Text)]`, `#[derive(Number)]`, `#[derive(List)]`: a newtype joins the class of constraints of what it wraps.

use crate::runtime;
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Fields};

/// The impl of `agent::constraint::<class>` for a newtype.
pub(crate) fn expand(class: &str, item: &TokenStream) -> TokenStream {
    let item: DeriveInput = match syn::parse2(item.clone()) {
        Ok(item) => item,
        Err(error) => return error.to_compile_error(),
    };
    let fields = match &item.data {
        Data::Struct(data) => Some(&data.fields),
        Data::Enum(_) | Data::Union(_) => None,
    };
    let inner = match fields {
        Some(Fields::Unnamed(fields)) if fields.unnamed.len() == 1 => fields.unnamed.first(),
        Some(Fields::Named(fields)) if fields.named.len() == 1 => fields.named.first(),
        _ => None,
    };
    let Some(inner) = inner else {
        let message = format!(
            "`#[derive({class})]` is for a newtype: a struct with one field, whose constraints become its own"
        );
        return syn::Error::new_spanned(&item.ident, message).to_compile_error();
    };
    let agent = runtime::path(None);
    let (name, wrapped) = (&item.ident, &inner.ty);
    let class = format_ident!("{class}");
    let (generics, arguments, bounds) = item.generics.split_for_impl();
    // Named through the wrapped type, so that one of another class is reported where it stands.
    let member = if class == "Number" {
        quote_spanned!(wrapped.span()=> type N = <#wrapped as #agent::constraint::Number>::N;)
    } else {
        quote_spanned!(wrapped.span()=> const CAN: () = <#wrapped as #agent::constraint::#class>::CAN;)
    };
    quote! {
        #[automatically_derived]
        impl #generics #agent::constraint::#class for #name #arguments #bounds {
            #member
        }
    }
}
