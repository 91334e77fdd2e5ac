use super::item::{Item, WITH_THE_PART_BEFORE};
use super::{Options, Responses};
use crate::message::{Content, Message, Part, PartKind, Protocol, Reply, ToolCall, ToolResult};
use crate::model::{ModelError, PromptCache, Reasoning, RequestOptions, ToolChoice};
use crate::provider::body::{Array, Fields, Object, object};
use crate::provider::call::{LONG_IDS, safe_arguments, safe_id, safe_name};
use crate::provider::encoder::{Asked, Encoder, refused};
use crate::provider::json::Members;
use crate::provider::openai_chat::{effort, mark};
use crate::provider::results::{
    Piece, image_address, images, leading_somewhere, marked_text, pieces,
};
use crate::provider::tools;
use crate::provider::wire::{Manner, Target};
use crate::tool::Offer;
use serde_json::Value;

const PROTOCOL: Protocol = Protocol::OpenaiResponses;

impl Encoder for Responses {
    type Options = Options;

    const CONVERSATION: &'static str = "input";

    fn refuse(&self, options: &RequestOptions, _own: Option<&Options>) -> Result<(), ModelError> {
        if let Some(Reasoning::Budget(_)) = options.reasoning {
            return Err(refused(
                "openai-responses has no budget of tokens for reasoning; ask for an effort instead",
            ));
        }
        if options.stop.is_empty() {
            Ok(())
        } else {
            Err(refused(
                "OpenAI Responses has no stop sequences; leave `stop` empty or ask over openai-chat",
            ))
        }
    }

    fn manner(own: &Options) -> Manner {
        Manner {
            keeps: own.store == Some(true),
            marks: own.cache_messages,
        }
    }

    fn hosted(own: &Options) -> &[Value] {
        &own.hosted_tools
    }

    fn tool(offer: &Offer, out: &mut Vec<u8>) {
        object(out, |tool| {
            tool.value("type", "function");
            tool.value("name", offer.name());
            tool.value("description", &offer.description());
            tool.raw("parameters", offer.parameters());
            // Left out, it would mean "if possible", which changes what the model may leave out.
            tool.value("strict", &offer.strict().unwrap_or(false));
            if let Some(own) = offer.own(PROTOCOL) {
                tool.members(own);
            }
        });
    }

    fn settings(&self, asked: &Asked<'_, Options>, body: &mut Fields<'_, '_>) {
        wishes(asked, body);
        settings(asked, body);
    }

    fn heading(&self, asked: &Asked<'_, Options>, conversation: &mut Array<'_>) {
        // Only a part of a message can have a mark, and what stands in `instructions` is none.
        if let Some(instructions) = asked.request.instructions.filter(|_| is_marked(asked)) {
            conversation.object(|item| {
                item.value("type", "message");
                item.value("role", "developer");
                item.array("content", |parts| text_part(parts, instructions, true));
            });
        }
    }

    fn messages(
        &self,
        before: &[Message],
        messages: &[Message],
        target: &Target<'_>,
        out: &mut Array<'_>,
    ) {
        for (at, message) in messages.iter().enumerate() {
            match message {
                Message::User { content } => user(out, content, target.images, target.manner.marks),
                Message::Assistant(reply) => {
                    let is_sent = |part: &Part| {
                        let echo = target.echo_of(PROTOCOL, reply, part);
                        is_sent(part, echo, target.manner.keeps)
                    };
                    let parts = leading_somewhere(&reply.parts, is_sent);
                    for part in parts.iter().filter(|part| is_sent(part)) {
                        assistant_part(out, part, target.echo_of(PROTOCOL, reply, part));
                    }
                }
                Message::Results { results } => {
                    let earlier = messages.get(..at).unwrap_or_default();
                    // The call stands in the reply before, or wherever an odd transcript has it.
                    let replies = earlier.iter().rev().chain(before.iter().rev());
                    let replies = replies.filter_map(Message::as_reply);
                    for (at, result) in results.iter().enumerate() {
                        let is_marked = target.manner.marks && at + 1 == results.len();
                        let echo = replies.clone().find_map(|reply| {
                            let part = call_of(reply, result.call_id())?;
                            Some(target.echo_of(PROTOCOL, reply, part))
                        });
                        out.object(|item| {
                            call_output(item, result, echo.flatten(), target.images, is_marked);
                        });
                    }
                }
            }
        }
    }
}

/// Whether the end of the instructions is marked for the cache.
fn is_marked(asked: &Asked<'_, Options>) -> bool {
    asked.own.is_some_and(|own| own.cache_instructions)
}

fn call_of<'a>(reply: &'a Reply, id: &str) -> Option<&'a Part> {
    reply
        .parts
        .iter()
        .find(|part| matches!(&part.kind, PartKind::Call(call) if call.id == id))
}

/// What the answer is to be like.
fn wishes(asked: &Asked<'_, Options>, body: &mut Fields<'_, '_>) {
    let options = asked.options;
    let own = asked.own;
    let how_much = match options.reasoning {
        None | Some(Reasoning::Budget(_)) => None,
        Some(Reasoning::Off) => Some("none"),
        Some(Reasoning::Effort(how)) => Some(effort(how)),
    };
    let summary = own.and_then(|own| own.reasoning_summary.as_ref());
    if how_much.is_some() || summary.is_some() {
        body.object("reasoning", |object| {
            if let Some(effort) = how_much {
                object.value("effort", effort);
            }
            if let Some(summary) = summary {
                object.value("summary", summary);
            }
        });
    }
    let verbosity = own.and_then(|own| own.verbosity.as_ref());
    if asked.shape.is_some() || verbosity.is_some() {
        body.object("text", |text| {
            if let Some(verbosity) = verbosity {
                text.value("verbosity", verbosity);
            }
            if let Some(shape) = &asked.shape {
                text.object("format", |object| {
                    object.value("type", "json_schema");
                    object.value("name", shape.name);
                    if let Some(note) = shape.schema.note() {
                        object.value("description", note);
                    }
                    object.raw("schema", shape.schema.as_json());
                    object.value("strict", &shape.strict);
                });
            }
        });
    }
    // By itself the cache lasts some minutes.
    if options.prompt_cache == Some(PromptCache::Long) {
        body.value("prompt_cache_retention", "24h");
    }
    let include = include(asked);
    if !include.is_empty() {
        body.value("include", &include);
    }
    if let Some(own) = own {
        body.members(own);
    }
}

/// What else the answer is to hold: what was asked for, and reasoning in a form that can be sent back. A server that keeps
/// nothing knows reasoning only by its encrypted content. The newest send that unasked, others do not.
fn include<'a>(asked: &Asked<'a, Options>) -> Vec<&'a str> {
    let mut include: Vec<&str> = match asked.own {
        Some(own) => own.include.iter().map(String::as_str).collect(),
        None => Vec::new(),
    };
    let reasons = match asked.options.reasoning {
        Some(Reasoning::Off) => false,
        Some(_) => true,
        None => {
            asked.own.is_some_and(|own| own.reasoning_summary.is_some())
                || is_known_to_reason(asked.target.model)
        }
    };
    if reasons && !asked.target.manner.keeps && !include.contains(&ENCRYPTED_REASONING) {
        include.push(ENCRYPTED_REASONING);
    }
    include
}

const ENCRYPTED_REASONING: &str = "reasoning.encrypted_content";

/// Whether it is one of OpenAI's reasoning models, `vendor/` or `vendor.` before its name or not. The others answer with an
/// error when they are asked for what they do not have, so that of a name that says nothing it is not asked.
fn is_known_to_reason(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or_default();
    let name = name.strip_prefix("openai.").unwrap_or(name);
    let number = |text: &str| {
        let end = text.find(|letter: char| !letter.is_ascii_digit());
        let (digits, _) = text.split_at(end.unwrap_or(text.len()));
        digits.parse().unwrap_or(0_u32)
    };
    match (name.strip_prefix("gpt-"), name.strip_prefix('o')) {
        (Some(version), _) => number(version) >= 5 && !version.contains("-chat"),
        (None, Some(version)) => number(version) >= 1,
        (None, None) => false,
    }
}

fn settings(asked: &Asked<'_, Options>, body: &mut Fields<'_, '_>) {
    let Asked {
        request,
        target,
        options,
        ..
    } = asked;
    body.value("model", target.model);
    // The conversation is kept here.
    body.value("store", &target.manner.keeps);
    if target.stream {
        body.value("stream", &true);
    }
    if let Some(limit) = options.max_output_tokens {
        body.value("max_output_tokens", &limit);
    }
    if let Some(temperature) = options.temperature {
        body.value("temperature", &temperature);
    }
    if let Some(instructions) = request.instructions.filter(|_| !is_marked(asked)) {
        body.value("instructions", instructions);
    }
    if asked.has_no_tools() {
        return;
    }
    tool_choice(options.tool_choice.as_ref(), body);
    if let Some(parallel) = options.parallel_calls {
        body.value("parallel_tool_calls", &parallel);
    }
    tools::write(body, asked, false);
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

fn user(items: &mut Array<'_>, content: &[Content], sees: bool, is_marked: bool) {
    items.object(|item| {
        item.value("type", "message");
        item.value("role", "user");
        item.array("content", |parts| {
            content_parts(parts, content, sees, is_marked);
        });
    });
}

/// The parts of a content; the last of them may be marked.
fn content_parts(parts: &mut Array<'_>, content: &[Content], sees: bool, is_marked: bool) {
    let mut pieces = pieces(content, sees).peekable();
    while let Some(piece) = pieces.next() {
        let is_marked = is_marked && pieces.peek().is_none();
        match piece {
            Piece::Text(text) => text_part(parts, &text, is_marked),
            Piece::Image(image) => parts.object(|part| {
                part.value("type", "input_image");
                part.value("detail", "auto");
                part.value("image_url", &image_address(image));
                if is_marked {
                    mark(part);
                }
            }),
        }
    }
}

fn text_part(parts: &mut Array<'_>, text: &str, is_marked: bool) {
    parts.object(|part| {
        part.value("type", "input_text");
        part.value("text", text);
        if is_marked {
            mark(part);
        }
    });
}

/// The result of a call, of which this is the echo.
fn call_output(
    item: &mut Object<'_>,
    result: &ToolResult,
    echo: Option<&str>,
    sees: bool,
    is_marked: bool,
) {
    let kind = if echo.is_some_and(is_custom) {
        "custom_tool_call_output"
    } else {
        "function_call_output"
    };
    item.value("type", kind);
    item.value("call_id", &safe_id(result.call_id(), &LONG_IDS));
    // A program waits for the results of its calls, and is told so by these words of its own.
    if let Some(caller) = echo.and_then(|echo| Members::read(echo).get("caller")) {
        item.raw("caller", caller);
    }
    let has_images = images(result, sees).next().is_some();
    if !has_images && !is_marked {
        item.value("output", &marked_text(result, sees));
        return;
    }
    item.array("output", |parts| {
        if !has_images {
            return text_part(parts, &marked_text(result, sees), is_marked);
        }
        if result.is_error() {
            text_part(parts, "error:", false);
        }
        content_parts(parts, &result.content, sees, is_marked);
    });
}

fn is_custom(echo: &str) -> bool {
    echo.contains(r#""type":"custom_tool_call""#)
}

/// Whether a part has a place in this protocol. What another provider thought or ran itself has none, and the second part
/// of an item none of its own.
fn is_sent(part: &Part, echo: Option<&str>, is_kept: bool) -> bool {
    match (&part.kind, echo) {
        (PartKind::Call(_), _) => true,
        // Of reasoning that nobody has kept, an id alone is refused (`Item with id 'rs_..' not found`).
        (PartKind::Reasoning(_), Some(json)) => is_kept || Item::read(json).says_more_than_its_id(),
        (_, Some(json)) => json != WITH_THE_PART_BEFORE,
        (PartKind::Text(text) | PartKind::Refusal(text), None) => !text.trim().is_empty(),
        (PartKind::Reasoning(_) | PartKind::Hosted(_), None) => false,
    }
}

fn assistant_part(items: &mut Array<'_>, part: &Part, echo: Option<&str>) {
    match (&part.kind, echo) {
        (PartKind::Call(call), echo) => items.object(|item| tool_call(item, call, echo)),
        (_, Some(json)) => items.raw(json),
        (PartKind::Text(text) | PartKind::Refusal(text), None) => items.object(|item| {
            item.value("role", "assistant");
            item.value("content", text);
        }),
        (PartKind::Reasoning(_) | PartKind::Hosted(_), None) => {}
    }
}

fn tool_call(item: &mut Object<'_>, call: &ToolCall, echo: Option<&str>) {
    let is_custom = echo.is_some_and(is_custom);
    if !is_custom {
        item.value("type", "function_call");
    }
    item.value("call_id", &safe_id(&call.id, &LONG_IDS));
    item.value("name", &safe_name(&call.name));
    if is_custom {
        item.value("input", &call.arguments);
    } else {
        item.value("arguments", &safe_arguments(&call.arguments));
    }
    if let Some(echo) = echo {
        item.splice(echo);
    }
}
