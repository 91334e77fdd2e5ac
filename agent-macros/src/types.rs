//! What is read from the spelling of a type: references, and lifetimes that were left out. All else is decided by trait.

use proc_macro2::Span;
use syn::visit_mut::{self, VisitMut};
use syn::{GenericArgument, Lifetime, PathArguments, ReturnType, Type};

/// How a parameter is passed.
pub(crate) enum Passing {
    Value,
    /// `&T`, of this `T`.
    Reference(Type),
    /// `Option<&T>`, of this `T`.
    OptionalReference(Type),
}

impl Passing {
    pub(crate) fn of(ty: &Type) -> Self {
        if let Some(pointee) = pointee(ty) {
            // The context is there already, to be passed as it is.
            if is_named(pointee, "ToolContext") {
                return Self::Value;
            }
            return Self::Reference(pointee.clone());
        }
        match only_argument(ty) {
            Some((name, argument)) if name == "Option" => match pointee(argument) {
                Some(pointee) => Self::OptionalReference(pointee.clone()),
                None => Self::Value,
            },
            _ => Self::Value,
        }
    }
}

/// Whether it is spelled as one that the host fills. Extractors of the user's own are not, and told by trait.
pub(crate) fn is_host(ty: &Type) -> bool {
    let ty = pointee(ty).unwrap_or(ty);
    ["ToolContext", "State", "RunData"]
        .iter()
        .any(|name| is_named(ty, name))
}

/// What is kept of a `T` for a `&T`. Types without a size are told by their spelling, as references are.
pub(crate) enum Kept<'a> {
    /// Text, borrowed from the call where that is possible.
    Text,
    Path,
    List(&'a Type),
    Itself(&'a Type),
}

impl<'a> Kept<'a> {
    pub(crate) fn of(pointee: &'a Type) -> Self {
        match bare(pointee) {
            Type::Slice(slice) => Self::List(&slice.elem),
            ty if is_named(ty, "str") => Self::Text,
            ty if is_named(ty, "Path") => Self::Path,
            ty => Self::Itself(ty),
        }
    }
}

fn is_named(ty: &Type, name: &str) -> bool {
    match bare(ty) {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == name && last.arguments.is_empty()),
        _ => false,
    }
}

/// Whether it is `Wrapper<&T>`: `State<&T>`, which lends. Only the spelling can tell it from `State<T>` with a `T` that is a
/// reference.
pub(crate) fn lends(ty: &Type) -> bool {
    only_argument(ty).is_some_and(|(_, argument)| pointee(argument).is_some())
}

/// A type that came through `macro_rules!` stands in invisible parentheses.
pub(crate) fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        _ => ty,
    }
}

fn pointee(ty: &Type) -> Option<&Type> {
    match bare(ty) {
        Type::Reference(reference) => Some(&reference.elem),
        _ => None,
    }
}

fn only_argument(ty: &Type) -> Option<(String, &Type)> {
    let Type::Path(path) = bare(ty) else {
        return None;
    };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first() {
        Some(GenericArgument::Type(argument)) if arguments.args.len() == 1 => {
            Some((last.ident.to_string(), argument))
        }
        _ => None,
    }
}

/// The type with every lifetime that was left out called `lifetime`.
pub(crate) fn with_lifetime(ty: &Type, lifetime: &str) -> Type {
    struct Name(Lifetime);

    impl VisitMut for Name {
        fn visit_type_reference_mut(&mut self, reference: &mut syn::TypeReference) {
            reference.lifetime.get_or_insert_with(|| self.0.clone());
            visit_mut::visit_type_reference_mut(self, reference);
        }

        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            if lifetime.ident == "_" {
                *lifetime = self.0.clone();
            }
        }

        // `fn(&T)` and `Fn(&T)` have lifetimes of their own.
        fn visit_type_fn_ptr_mut(&mut self, _: &mut syn::TypeFnPtr) {}
        fn visit_parenthesized_generic_arguments_mut(
            &mut self,
            _: &mut syn::ParenthesizedGenericArguments,
        ) {
        }
    }

    let mut ty = ty.clone();
    Name(Lifetime::new(lifetime, Span::call_site())).visit_type_mut(&mut ty);
    ty
}

/// Every lifetime that is written out, and every `impl Trait`.
#[derive(Default)]
pub(crate) struct Spelled {
    pub(crate) lifetimes: Vec<Lifetime>,
    pub(crate) impls: Vec<Span>,
    pub(crate) elided: bool,
}

impl Spelled {
    pub(crate) fn in_type(ty: &Type) -> Self {
        let mut found = Self::default();
        found.visit_type_mut(&mut ty.clone());
        found
    }

    /// Whether the return type borrows from the arguments.
    pub(crate) fn borrows(output: &ReturnType) -> bool {
        match output {
            ReturnType::Default => false,
            ReturnType::Type(_, ty) => Self::in_type(ty).elided,
        }
    }
}

impl VisitMut for Spelled {
    fn visit_type_reference_mut(&mut self, reference: &mut syn::TypeReference) {
        self.elided |= reference.lifetime.is_none();
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            self.elided = true;
        } else {
            self.lifetimes.push(lifetime.clone());
        }
    }

    fn visit_type_impl_trait_mut(&mut self, ty: &mut syn::TypeImplTrait) {
        self.impls.push(ty.impl_token.span);
    }
}
