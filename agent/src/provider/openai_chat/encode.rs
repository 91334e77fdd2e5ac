use super::{Chat, Options, effort, mark};
use crate::message::{Content, Image, Message, PartKind, Protocol, Reply, ToolCall, ToolResult};
use crate::model::{ModelError, PromptCache, Reasoning, Request, RequestOptions, ToolChoice};
use crate::provider::body::{Array, Fields, Object, object};
use crate::provider::call::{safe_arguments, safe_id, safe_name};
use crate::provider::encoder::{Asked, Encoder, refused};
use crate::provider::results::{Piece, image_address, images, marked_text, pieces};
use crate::provider::tools;
use crate::provider::wire::{Manner, Target};
use crate::tool::Offer;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

impl Encoder for Chat {
    type Options = Options;

    const CONVERSATION: &'static str = "messages";

    fn refuse(&self, options: &RequestOptions, _own: Option<&Options>) -> Result<(), ModelError> {
        match options.reasoning {
            Some(Reasoning::Budget(_)) => Err(refused(
                "openai-chat has no budget of tokens for reasoning; ask for an effort instead",
            )),
            _ => Ok(()),
        }
    }

    fn manner(own: &Options) -> Manner {
        Manner {
            keeps: false,
            marks: own.cache_messages,
        }
    }

    fn hosted(own: &Options) -> &[Value] {
        &own.hosted_tools
    }

    fn tool(offer: &Offer, out: &mut Vec<u8>) {
        object(out, |tool| {
            tool.value("type", "function");
            tool.object("function", |function| {
                function.value("name", offer.name());
                function.value("description", &offer.description());
                function.raw("parameters", offer.parameters());
                if let Some(strict) = offer.strict() {
                    function.value("strict", &strict);
                }
            });
            if let Some(own) = offer.own(Protocol::OpenaiChat) {
                tool.members(own);
            }
        });
    }

    fn settings(&self, asked: &Asked<'_, Options>, body: &mut Fields<'_, '_>) {
        wishes(self, asked, body);
        settings(self, asked, body);
    }

    fn heading(&self, asked: &Asked<'_, Options>, conversation: &mut Array<'_>) {
        let is_marked = asked.own.is_some_and(|own| own.cache_instructions);
        if let Some(instructions) = asked.request.instructions {
            conversation.object(|message| {
                message.value("role", "system");
                text_content(message, instructions, is_marked);
            });
        }
    }

    fn messages(
        &self,
        _before: &[Message],
        messages: &[Message],
        target: &Target<'_>,
        out: &mut Array<'_>,
    ) {
        let sees = target.images && self.takes_images;
        for message in messages {
            match message {
                Message::User { content } => user(out, content, sees, target.manner.marks),
                Message::Assistant(reply) => {
                    assistant(self, out, reply, target);
                }
                Message::Results { results } => {
                    tool_results(self, out, results, sees, target.manner.marks);
                }
            }
        }
    }
}

/// What the answer is to be like. A server that does not know one of these fields says so, where it was asked for.
fn wishes(chat: &Chat, asked: &Asked<'_, Options>, body: &mut Fields<'_, '_>) {
    let options = asked.options;
    match options.reasoning {
        None | Some(Reasoning::Budget(_)) => {}
        Some(Reasoning::Off) => body.value("reasoning_effort", "none"),
        Some(Reasoning::Effort(how)) => body.value("reasoning_effort", effort(how)),
    }
    if let Some(shape) = &asked.shape {
        body.object("response_format", |object| {
            object.value("type", "json_schema");
            object.object("json_schema", |object| {
                object.value("name", shape.name);
                if let Some(note) = shape.schema.note() {
                    object.value("description", note);
                }
                object.raw("schema", shape.schema.as_json());
                if shape.strict {
                    object.value("strict", &true);
                }
            });
        });
    }
    // By itself the cache lasts some minutes, and other servers have no say in it.
    if options.prompt_cache == Some(PromptCache::Long) && chat == &Chat::OPENAI {
        body.value("prompt_cache_retention", "24h");
    }
    if let Some(own) = asked.own {
        body.members(own);
    }
}

fn settings(chat: &Chat, asked: &Asked<'_, Options>, body: &mut Fields<'_, '_>) {
    let Asked {
        request,
        target,
        options,
        ..
    } = asked;
    body.value("model", target.model);
    if target.stream {
        body.value("stream", &true);
        if chat.asks_for_usage {
            body.object("stream_options", |options| {
                options.value("include_usage", &true);
            });
        }
    }
    if let Some(limit) = options.max_output_tokens {
        body.value(chat.output_limit, &limit);
    }
    if let Some(temperature) = options.temperature {
        body.value("temperature", &temperature);
    }
    if !options.stop.is_empty() {
        body.value("stop", &options.stop);
    }
    if asked.has_no_tools() {
        return;
    }
    tool_choice(chat, request, body);
    if let Some(parallel) = options.parallel_calls.filter(|_| chat.says_parallel) {
        body.value("parallel_tool_calls", &parallel);
    }
    tools::write(body, asked, !chat.knows_allowed_tools);
}

fn tool_choice(chat: &Chat, request: &Request<'_>, body: &mut Fields<'_, '_>) {
    let function = |object: &mut Object<'_>, name: &str| {
        object.value("type", "function");
        object.object("function", |function| function.value("name", name));
    };
    match &request.options.tool_choice {
        None => {}
        Some(ToolChoice::Auto) => body.value("tool_choice", "auto"),
        Some(ToolChoice::None) => body.value("tool_choice", "none"),
        Some(ToolChoice::Required) => body.value("tool_choice", "required"),
        Some(ToolChoice::OneOf(names)) => match names.as_slice() {
            [name] => body.object("tool_choice", |choice| function(choice, name)),
            _ if !chat.knows_allowed_tools => body.value("tool_choice", "required"),
            names => body.object("tool_choice", |choice| {
                choice.value("type", "allowed_tools");
                choice.object("allowed_tools", |allowed| {
                    allowed.value("mode", "required");
                    allowed.array("tools", |tools| {
                        for name in names {
                            tools.object(|tool| function(tool, name));
                        }
                    });
                });
            }),
        },
    }
}

fn user(messages: &mut Array<'_>, content: &[Content], sees: bool, is_marked: bool) {
    messages.object(|message| {
        message.value("role", "user");
        match content {
            [Content::Text { text }] => text_content(message, text, is_marked),
            _ => message.array("content", |parts| {
                let mut pieces = pieces(content, sees).peekable();
                while let Some(piece) = pieces.next() {
                    let is_marked = is_marked && pieces.peek().is_none();
                    match piece {
                        Piece::Text(text) => text_part(parts, &text, is_marked),
                        Piece::Image(image) => image_part(parts, image, is_marked),
                    }
                }
            }),
        }
    });
}

/// A content of nothing but text. Only a part can have a mark.
fn text_content(message: &mut Object<'_>, text: &str, is_marked: bool) {
    if is_marked {
        message.array("content", |parts| text_part(parts, text, true));
    } else {
        message.value("content", text);
    }
}

fn text_part(parts: &mut Array<'_>, text: &str, is_marked: bool) {
    parts.object(|part| {
        part.value("type", "text");
        part.value("text", text);
        if is_marked {
            mark(part);
        }
    });
}

fn image_part(parts: &mut Array<'_>, image: &Image, is_marked: bool) {
    parts.object(|part| {
        part.value("type", "image_url");
        part.object("image_url", |url| url.value("url", &image_address(image)));
        if is_marked {
            mark(part);
        }
    });
}

fn assistant(chat: &Chat, messages: &mut Array<'_>, reply: &Reply, target: &Target<'_>) {
    let echo_of = |part| target.echo_of(Protocol::OpenaiChat, reply, part);
    let mut text = reply.text();
    let mut refusal = reply.refusal().filter(|said| !said.trim().is_empty());
    if !chat.knows_refusals {
        text.push_str(refusal.take().unwrap_or_default());
    }
    let has_calls = reply.calls().next().is_some();
    let has_text = !text.trim().is_empty();
    if !has_text && !has_calls && refusal.is_none() {
        // A turn that says nothing in this protocol's terms (reasoning alone, a hosted item) would be refused.
        return;
    }
    messages.object(|message| {
        message.value("role", "assistant");
        // Thinking that came as parts of the content goes back as these, before the text, as it stood.
        let thoughts = reply.parts.iter().filter_map(echo_of).find_map(inside);
        if let Some(thoughts) = thoughts {
            message.array("content", |parts| {
                parts.raw(thoughts);
                if has_text {
                    text_part(parts, &text, false);
                }
            });
        } else if has_text {
            message.value("content", &text);
        } else {
            message.raw("content", "null");
        }
        if let Some(refusal) = refusal {
            message.value("refusal", refusal);
        }
        let mut reasoned = false;
        for part in &reply.parts {
            if !matches!(part.kind, PartKind::Call(_))
                && let Some(echo) = echo_of(part)
                && inside(echo).is_none()
            {
                reasoned |= echo.contains(r#""reasoning_content":"#);
                message.splice(echo);
            }
        }
        if chat.demands_reasoning && has_calls && !reasoned {
            message.value("reasoning_content", "");
        }
        if has_calls {
            message.array("tool_calls", |calls| {
                for part in &reply.parts {
                    if let PartKind::Call(call) = &part.kind {
                        calls.object(|object| tool_call(chat, object, call, echo_of(part)));
                    }
                }
            });
        }
    });
}

/// The elements of an echo that is a list.
fn inside(echo: &str) -> Option<&str> {
    echo.strip_prefix('[')?.strip_suffix(']')
}

fn tool_call(chat: &Chat, object: &mut Object<'_>, call: &ToolCall, echo: Option<&str>) {
    object.value("id", &call_id(chat, &call.id));
    let name = safe_name(&call.name);
    if echo == Some(super::decode::CUSTOM) {
        object.value("type", "custom");
        object.object("custom", |custom| {
            custom.value("name", &name);
            custom.value("input", &call.arguments);
        });
        return;
    }
    object.value("type", "function");
    object.object("function", |function| {
        function.value("name", &name);
        function.value("arguments", &safe_arguments(&call.arguments));
    });
    if let Some(echo) = echo {
        object.splice(echo);
    }
}

fn call_id<'a>(chat: &Chat, id: &'a str) -> Cow<'a, str> {
    match &chat.call_ids {
        Some(rule) => safe_id(id, rule),
        None => id.into(),
    }
}

/// One tool message a result, then what only a user may say: images cannot stand in a tool message.
fn tool_results(
    chat: &Chat,
    messages: &mut Array<'_>,
    results: &[Arc<ToolResult>],
    sees: bool,
    is_marked: bool,
) {
    let shows = |result: &Arc<ToolResult>| images(result, sees).next().is_some();
    let last = results.iter().rposition(shows);
    for (at, result) in results.iter().enumerate() {
        let is_marked = is_marked && last.is_none() && at + 1 == results.len();
        messages.object(|message| {
            message.value("role", "tool");
            message.value("tool_call_id", &call_id(chat, result.call_id()));
            text_content(message, &marked_text(result, sees), is_marked);
        });
    }
    let Some(last) = last else {
        return;
    };
    messages.object(|message| {
        message.value("role", "user");
        message.array("content", |parts| {
            for (at, result) in results.iter().enumerate() {
                if shows(result) {
                    text_part(
                        parts,
                        &format!("images of {} ({}):", result.name(), result.call_id()),
                        false,
                    );
                }
                let mut images = images(result, sees).peekable();
                while let Some(image) = images.next() {
                    let ends = at == last && images.peek().is_none();
                    image_part(parts, image, is_marked && ends);
                }
            }
        });
    });
}
