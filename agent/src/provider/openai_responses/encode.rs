use super::Options;
use super::item::WITH_THE_PART_BEFORE;
use crate::message::{Content, Message, Part, PartKind, Protocol, ToolCall, ToolResult};
use crate::model::{PromptCache, Reasoning, Request, RequestOptions, ToolChoice};
use crate::provider::body::{Array, Fields, Object, body, object};
use crate::provider::ids::safe_id;
use crate::provider::openai_chat::effort;
use crate::provider::results::{image_address, images, marked_text};
use crate::provider::shape::Shape;
use crate::provider::tools;
use crate::provider::wire::Target;
use crate::tool::{Offer, Offered};
use std::collections::HashSet;

const PROTOCOL: Protocol = Protocol::OpenaiResponses;

pub(super) fn encode(
    request: &Request<'_>,
    offered: &Offered,
    own: Option<&Options>,
    shape: Option<&Shape<'_>>,
    target: &Target<'_>,
) -> Vec<u8> {
    body(
        target.fields,
        |body| {
            wishes(request.options, own, shape, body);
            settings(request, offered, target, body);
        },
        |body| {
            body.array("input", |items| {
                let mut custom = HashSet::new();
                for message in request.transcript.iter() {
                    match message {
                        Message::User { content } => user(items, content),
                        Message::Assistant(reply) => {
                            let echoes = target.understands(reply);
                            let own = |part| {
                                if echoes {
                                    Part::echo_for(part, PROTOCOL)
                                } else {
                                    None
                                }
                            };
                            custom.extend(
                                reply
                                    .parts
                                    .iter()
                                    .filter_map(|part| custom_call(part, own(part))),
                            );
                            for part in &reply.parts {
                                assistant_part(items, part, own(part));
                            }
                        }
                        Message::Results { results } => {
                            for result in results {
                                let is_custom = custom.contains(&*result.call_id);
                                items.object(|item| call_output(item, result, is_custom));
                            }
                        }
                    }
                }
            });
        },
    )
}

/// What the answer is to be like.
fn wishes(
    options: &RequestOptions,
    own: Option<&Options>,
    shape: Option<&Shape<'_>>,
    body: &mut Fields<'_, '_>,
) {
    match options.reasoning {
        None | Some(Reasoning::Budget(_)) => {}
        Some(Reasoning::Off) => body.object("reasoning", |object| object.value("effort", "none")),
        Some(Reasoning::Effort(how)) => {
            body.object("reasoning", |object| object.value("effort", effort(how)));
        }
    }
    if let Some(shape) = shape {
        body.object("text", |text| {
            text.object("format", |object| {
                object.value("type", "json_schema");
                object.value("name", shape.name);
                if let Some(note) = shape.schema.note() {
                    object.value("description", note);
                }
                object.raw("schema", shape.schema.as_json());
                object.value("strict", &shape.strict);
            });
        });
    }
    // By itself the cache lasts some minutes.
    if options.prompt_cache == Some(PromptCache::Long) {
        body.value("prompt_cache_retention", "24h");
    }
    if let Some(own) = own {
        body.members(own);
    }
}

fn settings(
    request: &Request<'_>,
    offered: &Offered,
    target: &Target<'_>,
    body: &mut Fields<'_, '_>,
) {
    let options = request.options;
    body.value("model", target.model);
    // The conversation is kept here. Reasoning then comes encrypted without being asked for; asking for it by
    // `include` is an error for models that do not reason.
    body.value("store", &false);
    if target.stream {
        body.value("stream", &true);
    }
    if let Some(limit) = options.max_output_tokens {
        body.value("max_output_tokens", &limit);
    }
    if let Some(temperature) = options.temperature {
        body.value("temperature", &temperature);
    }
    if let Some(instructions) = request.instructions {
        body.value("instructions", instructions);
    }
    if request.tools.is_empty() {
        return;
    }
    tool_choice(options.tool_choice.as_ref(), body);
    if let Some(parallel) = options.parallel_calls {
        body.value("parallel_tool_calls", &parallel);
    }
    tools::write(body, request, offered, false);
}

pub(super) fn tool(offer: &Offer, out: &mut Vec<u8>) {
    object(out, |tool| {
        tool.value("type", "function");
        tool.value("name", offer.name());
        tool.value("description", &offer.description());
        tool.raw("parameters", offer.parameters());
        // Left out, it would mean "if possible", which changes what the model may leave out.
        tool.value("strict", &offer.strict().unwrap_or(false));
    });
}

fn tool_choice(choice: Option<&ToolChoice>, body: &mut Fields<'_, '_>) {
    let function = |object: &mut Object<'_>, name: &str| {
        object.value("type", "function");
        object.value("name", name);
    };
    match choice {
        None => {}
        Some(ToolChoice::Auto) => body.value("tool_choice", "auto"),
        Some(ToolChoice::None) => body.value("tool_choice", "none"),
        Some(ToolChoice::Required) => body.value("tool_choice", "required"),
        Some(ToolChoice::OneOf(names)) => body.object("tool_choice", |choice| {
            if let [name] = names.as_slice() {
                return function(choice, name);
            }
            choice.value("type", "allowed_tools");
            choice.value("mode", "required");
            choice.array("tools", |tools| {
                for name in names {
                    tools.object(|tool| function(tool, name));
                }
            });
        }),
    }
}

fn user(items: &mut Array<'_>, content: &[Content]) {
    items.object(|item| {
        item.value("type", "message");
        item.value("role", "user");
        item.array("content", |parts| content_parts(parts, content));
    });
}

fn content_parts(parts: &mut Array<'_>, content: &[Content]) {
    for piece in content {
        parts.object(|part| match piece {
            Content::Text { text } => {
                part.value("type", "input_text");
                part.value("text", text);
            }
            Content::Image(image) => {
                part.value("type", "input_image");
                part.value("detail", "auto");
                part.value("image_url", &image_address(image));
            }
        });
    }
}

fn call_output(item: &mut Object<'_>, result: &ToolResult, is_custom: bool) {
    let kind = if is_custom {
        "custom_tool_call_output"
    } else {
        "function_call_output"
    };
    item.value("type", kind);
    item.value("call_id", &safe_id(&result.call_id));
    if images(result).next().is_none() {
        item.value("output", &marked_text(result));
        return;
    }
    item.array("output", |parts| {
        if result.is_error() {
            content_parts(parts, &[Content::text("error:")]);
        }
        content_parts(parts, &result.content);
    });
}

/// The id of a call of a custom tool, whose result has a type of its own.
fn custom_call<'a>(part: &'a Part, echo: Option<&str>) -> Option<&'a str> {
    match &part.kind {
        PartKind::Call(call) if echo.is_some_and(is_custom) => Some(&call.id),
        _ => None,
    }
}

fn is_custom(echo: &str) -> bool {
    echo.contains(r#""type":"custom_tool_call""#)
}

fn assistant_part(items: &mut Array<'_>, part: &Part, echo: Option<&str>) {
    match (&part.kind, echo) {
        (PartKind::Call(call), echo) => items.object(|item| tool_call(item, call, echo)),
        (_, Some(json)) if json != WITH_THE_PART_BEFORE => items.raw(json),
        (PartKind::Text(text) | PartKind::Refusal(text), None) if !text.trim().is_empty() => {
            items.object(|item| {
                item.value("role", "assistant");
                item.value("content", text);
            });
        }
        // What another provider thought or ran itself has no place here, and the second part of an item none of
        // its own.
        _ => {}
    }
}

fn tool_call(item: &mut Object<'_>, call: &ToolCall, echo: Option<&str>) {
    let is_custom = echo.is_some_and(is_custom);
    if !is_custom {
        item.value("type", "function_call");
    }
    item.value("call_id", &safe_id(&call.id));
    item.value("name", &call.name);
    if is_custom {
        item.value("input", &call.arguments);
    } else {
        let arguments = call.arguments.trim();
        item.value(
            "arguments",
            if arguments.is_empty() {
                "{}"
            } else {
                &call.arguments
            },
        );
    }
    if let Some(echo) = echo {
        item.splice(echo);
    }
}
