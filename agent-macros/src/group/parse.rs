use crate::error::Errors;
use crate::keys;
use crate::tool::ast::Tool;
use crate::tool::{options, parse};
use proc_macro2::TokenStream;
use syn::{Attribute, FnArg, ImplItem, ItemImpl, Meta, Path, ReceiverKind, Result, Signature};

/// The tools of an impl block.
pub(crate) struct Group {
    pub(crate) krate: Option<Path>,
    pub(crate) tools: Vec<Tool>,
}

/// The block without our attributes, and what they said.
pub(crate) fn group(
    tokens: TokenStream,
    item: TokenStream,
    errors: &Errors,
) -> Result<(ItemImpl, Group)> {
    let mut block: ItemImpl = syn::parse2(item)?;
    let mut krate = None;
    keys::parse("tool", &["crate"], tokens, errors, |_, key, input| {
        krate = Some(Path::parse_mod_style(options::equals(
            key, input, "agent",
        )?)?);
        Ok(())
    });
    if let Some((path, _)) = &block.trait_ {
        errors.on(path, "the tools of a group are methods of its own: put `#[tool]` on an impl block without a trait");
    }
    let mut tools = Vec::new();
    for item in &mut block.items {
        let ImplItem::Fn(method) = item else { continue };
        let Some(attribute) = take(&mut method.attrs, errors) else {
            continue;
        };
        let tokens = match attribute.meta {
            Meta::List(list) => list.tokens,
            Meta::Path(_) | Meta::NameValue(_) => TokenStream::new(),
        };
        let mut options = options::parse(tokens, errors);
        if let Some(proxy) = options.proxy.take() {
            errors.on(
                proxy,
                "a method has no proxy to name: the value of its type stands for all its tools",
            );
        }
        if let Some(path) = options.krate.take() {
            errors.on(path, "`crate` belongs on the impl block");
        }
        receiver(&method.sig, errors);
        // It is decided after the macro ran, when the group has counted on the method.
        if let Some(cfg) = method
            .attrs
            .iter()
            .find(|attribute| attribute.path().is_ident("cfg"))
        {
            errors.on(
                cfg.path(),
                "a method that is a tool cannot depend on `cfg`: put `#[cfg(..)]` on the impl block, or on a function of its own",
            );
        }
        let mut tool =
            parse::function(options, &method.attrs, &method.vis, &mut method.sig, errors);
        tool.in_impl = true;
        tools.push(tool);
    }
    if tools.is_empty() {
        errors.on(
            block.impl_token,
            "this impl block has no tool: put `#[tool]` on its methods too",
        );
    }
    // Without `#[tool]` on it a method is none of ours, nor is `#[arg(..)]` in it.
    Ok((block, Group { krate, tools }))
}

/// Takes out `#[tool]`, under whatever path.
fn take(attributes: &mut Vec<Attribute>, errors: &Errors) -> Option<Attribute> {
    let is_ours = |attribute: &Attribute| {
        attribute
            .path()
            .segments
            .last()
            .is_some_and(|segment| segment.ident == "tool")
    };
    let at = attributes.iter().position(is_ours)?;
    let found = attributes.remove(at);
    if let Some(second) = attributes.iter().find(|attribute| is_ours(attribute)) {
        errors.on(second.path(), "`#[tool]` is given twice; keep one of them");
        attributes.retain(|attribute| !is_ours(attribute));
    }
    Some(found)
}

/// Calls share the value, so a method may only borrow it.
fn receiver(signature: &Signature, errors: &Errors) {
    if let Some(FnArg::Receiver(receiver)) = signature.inputs.first() {
        match &receiver.kind {
            ReceiverKind::Reference(_, _, None) => {}
            ReceiverKind::Reference(_, _, Some(mutable)) => {
                errors.on(mutable, "a tool's method takes `&self`: calls may run at the same time; put what changes behind a lock");
            }
            _ => errors.on(
                receiver.self_token,
                "a tool's method takes `&self`: it may be called many times",
            ),
        }
    }
}

/// Two methods of one name on the wire.
pub(crate) fn names(group: &Group, errors: &Errors) {
    let mut seen: Vec<String> = Vec::new();
    for tool in &group.tools {
        let (name, span) = tool.name();
        if seen.contains(&name) {
            errors.at(span, format_args!("two tools of this block are named `{name}`; give one of them another `#[tool(name = \"..\")]`"));
        }
        seen.push(name);
    }
}
