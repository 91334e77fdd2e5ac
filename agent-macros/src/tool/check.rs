//! What is wrong with a tool, as far as its tokens show it.

use super::ast::{Approval, Asked, Param, Tool, plain};
use crate::error::{Errors, closest};
use crate::json;
use crate::types::{Passing, Spelled};
use proc_macro2::Span;
use syn::ReturnType;

pub(crate) fn tool(tool: &Tool, errors: &Errors) {
    names(tool, errors);
    policy(tool, errors);
    if tool.docs.is_none() && tool.options.description.is_none() {
        errors.at(
            tool.ident.span(),
            "a tool needs a doc comment: it is what the model goes by; write `/// ..` above, or `#[tool(description = \"..\")]`",
        );
    }
    if let ReturnType::Type(_, ty) = &tool.output {
        for span in Spelled::in_type(ty).impls {
            errors.at(
                span,
                "a tool returns a type that is written out, not `impl Trait`",
            );
        }
    }
    if let Some(Approval::Asked(asked)) = &tool.options.needs_approval {
        about(asked, tool, errors);
    }
    if let Some(asked) = &tool.options.validate {
        about(asked, tool, errors);
    }
    for param in &tool.params {
        spelling(param, errors);
        contradictions(param, errors);
        values(param, errors);
    }
}

/// Chat Completions' rule, the strictest of the protocols.
fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn names(tool: &Tool, errors: &Errors) {
    const RULE: &str = "has 1 to 64 of the letters a-z, A-Z, 0-9, `_` and `-`";
    let (name, span) = tool.name();
    if !is_name(&name) {
        let help = if tool.options.name.is_some() {
            ""
        } else {
            "; give it one with `#[tool(name = \"..\")]`"
        };
        errors.at(
            span,
            format_args!("`{name}` cannot name a tool: a name {RULE}{help}"),
        );
    }
    let mut seen: Vec<&str> = Vec::new();
    for (name, span) in tool.params.iter().filter_map(|param| param.name.as_ref()) {
        // Anthropic's rule for properties; dots are for structs' fields only.
        if !is_name(name) {
            errors.at(*span, format_args!("`{name}` cannot name a parameter: a name {RULE}; give it one with `#[arg(rename = \"..\")]`"));
        } else if seen.contains(&name.as_str()) {
            errors.at(*span, format_args!("two parameters are called `{name}`; give one of them another `#[arg(rename = \"..\")]`"));
        }
        seen.push(name);
    }
}

fn policy(tool: &Tool, errors: &Errors) {
    let options = &tool.options;
    if let (Some(_), Some(destructive)) = (options.read_only, options.destructive) {
        errors.at(
            destructive,
            "`destructive` contradicts `read_only`: what changes nothing destroys nothing",
        );
    }
    if let (Some((parallel, true)), Some(_)) = (options.parallel, options.sequential) {
        errors.at(
            parallel,
            "`parallel` contradicts `sequential`; keep one of them",
        );
    }
    if let (Some((parallel, false)), Some(_)) = (options.parallel, options.sequential) {
        errors.at(parallel, "`parallel = false` (alone) and `sequential` (in the model's order) are two policies; keep one of them");
    }
    if let (Some(inline), true) = (options.inline, tool.is_async) {
        errors.at(inline, "`inline` is for functions that are not `async`: an async one runs in the run's own task anyway");
    }
}

/// What a function is asked about must be something that the model sends.
fn about(asked: &Asked, tool: &Tool, errors: &Errors) {
    let sent: Vec<String> = tool
        .params
        .iter()
        .filter(|param| param.is_argument())
        .filter_map(|param| param.ident.as_ref().map(plain))
        .collect();
    let sent: Vec<&str> = sent.iter().map(String::as_str).collect();
    for name in asked.about.iter().flat_map(|(_, names)| names) {
        let typed = plain(name);
        if sent.contains(&typed.as_str()) {
            continue;
        }
        let help = match closest(&typed, &sent) {
            Some(meant) => format!("; did you mean `{meant}`?"),
            None if sent.is_empty() => ": it has none".to_owned(),
            None => format!("; the model sends {}", crate::keys::list(&sent)),
        };
        errors.on(
            name,
            format_args!("`{typed}` is no argument of this tool{help}"),
        );
    }
}

/// Lifetimes and `impl Trait` in a parameter's type.
fn spelling(param: &Param, errors: &Errors) {
    let spelled = Spelled::in_type(&param.ty);
    for span in spelled.impls {
        errors.at(
            span,
            "a tool has one schema, so its parameters cannot be `impl Trait`: write the type out",
        );
    }
    if let syn::Type::Reference(reference) = crate::types::bare(&param.ty) {
        if let Some(lifetime) = &reference.lifetime {
            errors.on(
                lifetime,
                "arguments live as long as their call: leave the lifetime out",
            );
        }
        if let Some(mutable) = &reference.mutability {
            errors.on(
                mutable,
                "a parameter is lent, not given to change: take it by value, as `mut name: T`",
            );
        }
    }
}

/// Keys of one `#[arg(..)]` that exclude each other.
fn contradictions(param: &Param, errors: &Errors) {
    let arg = &param.arg;
    if let Some(flatten) = arg.flatten {
        if arg.default.is_some() || !arg.constraints.is_empty() || arg.name.is_some() {
            errors.at(flatten, "`flatten` puts the fields of the type in the parameter's place: name, default and constraints belong on the fields");
        } else if !matches!(param.passing, Passing::Value) {
            errors.at(flatten, "`flatten` needs the struct by value");
        } else if arg.deserialize_with.is_some() || arg.schema_with.is_some() {
            errors.at(
                flatten,
                "`flatten` needs the type's own schema and `Deserialize`",
            );
        }
    }
    let by_value = matches!(param.passing, Passing::Value);
    for (key, path) in [
        ("deserialize_with", &arg.deserialize_with),
        ("schema_with", &arg.schema_with),
    ] {
        if let (Some(path), false) = (path, by_value) {
            errors.on(path, format_args!("`{key}` needs the parameter by value"));
        }
    }
    if let (Some(path), None) = (&arg.deserialize_with, &arg.schema_with) {
        errors.on(
            path,
            "`deserialize_with` hides what is accepted: say it with `schema_with = path` as well",
        );
    }
}

/// Defaults and examples that the parameter's own constraints refuse.
fn values(param: &Param, errors: &Errors) {
    let broken = |span: Span, what: &str, value: &json::Json| {
        for constraint in &param.arg.constraints {
            if let Some(why) = constraint.broken_by(value) {
                errors.at(
                    span,
                    format_args!("{what} breaks `{}`: {why}", constraint.key),
                );
                return;
            }
        }
    };
    if let Some(expr) = param
        .arg
        .default
        .as_ref()
        .and_then(|default| default.value.as_ref())
        && let Some(value) = json::from_expr(expr)
    {
        broken(syn::spanned::Spanned::span(expr), "the default", &value);
    }
    for (span, example) in &param.arg.examples {
        broken(*span, "the example", example);
    }
}
