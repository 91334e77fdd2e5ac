//! `tools![a, m::b, ..group]`.
//!
//! It arrives through a `macro_rules!` of the `agent` crate, which puts its own `$crate` before the list. That each item is a span of
//! its own is why the list is a procedural macro at all.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Expr, Path, Result, Token};

struct List {
    krate: Path,
    items: Vec<Item>,
}

enum Item {
    Function(Path),
    Group(Expr),
}

impl Parse for List {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let krate = input.call(Path::parse_mod_style)?;
        input.parse::<Token![;]>()?;
        let items = input.parse_terminated(Item::parse, Token![,])?;
        Ok(Self {
            krate,
            items: items.into_iter().collect(),
        })
    }
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(Token![..]) {
            input.parse::<Token![..]>()?;
            return input.parse().map(Self::Group);
        }
        let start = input.span();
        input.call(Path::parse_mod_style).map(Self::Function).map_err(|_| {
            syn::Error::new(start, "a list of tools has names of functions, such as `get_weather` or `maps::find_route`, and groups, such as `..db`")
        })
    }
}

pub(crate) fn expand(list: TokenStream) -> TokenStream {
    let list: List = match syn::parse2(list) {
        Ok(list) => list,
        Err(error) => return error.into_compile_error(),
    };
    let krate = &list.krate;
    let tools = Ident::new("tools", Span::mixed_site());
    let names: Vec<TokenStream> = (list.items.iter())
        .filter_map(|item| match item {
            Item::Function(path) => Some(quote!(<#path as #krate::__private::Function>::NAME)),
            Item::Group(_) => None,
        })
        .collect();
    // Written once, and not before each item again: a hundred tools have five thousand pairs.
    let known = Ident::new("__NAMES", Span::mixed_site());
    let known_names = (names.len() > 1)
        .then(|| quote_spanned!(Span::mixed_site()=> const #known: &[&str] = &[#(#names),*];));
    let mut before = 0_usize;
    let mut statements = TokenStream::new();
    for item in &list.items {
        statements.extend(match item {
            Item::Function(path) => {
                let span = path.span();
                // An expression of the item's own span all over, or the error would stand on the whole list.
                let once = (before > 0).then(|| {
                    quote_spanned! {span=>
                        const _: () = {
                            use #krate::__private::stands_once as __stands_once;
                            __stands_once(#known, #before)
                        };
                    }
                });
                let tool = quote_spanned!(span=> <#path as #krate::__private::Function>::tool());
                let push = quote_spanned!(span=> #tools.push(#tool););
                before += 1;
                quote!(#once #push)
            }
            Item::Group(expr) => quote_spanned!(expr.span()=> #tools.extend(#expr);),
        });
    }
    quote_spanned! {Span::mixed_site()=> {
        #known_names
        #[allow(unused_mut)]
        let mut #tools = #krate::__private::Tools::none();
        #statements
        #tools
    }}
}
