use super::options::Mark;
use super::{Effort, Messages, Options, Thinking};
use crate::message::{
    Content, Image, ImageSource, Message, Part, PartKind, Protocol, Reply, ToolCall, ToolResult,
};
use crate::model::{self, ModelError, PromptCache, Reasoning, Request, RequestOptions, ToolChoice};
use crate::provider::body::{Array, Fields, Object, object};
use crate::provider::call::{LONG_IDS, safe_arguments, safe_id, safe_name};
use crate::provider::encoder::{Asked, Encoder, refused};
use crate::provider::results::{Piece, images, leading_somewhere, pieces, text as result_text};
use crate::provider::tools;
use crate::provider::wire::Target;
use crate::tool::{Offer, ToolDefinition};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

const PROTOCOL: Protocol = Protocol::AnthropicMessages;

/// The limit when none is given, since the protocol demands one. What every model of today can write.
const OUTPUT_TOKENS: u32 = 16_384;

impl Encoder for Messages {
    type Options = Options;

    const CONVERSATION: &'static str = "messages";

    fn refuse(&self, options: &RequestOptions, own: Option<&Options>) -> Result<(), ModelError> {
        let forces = options
            .tool_choice
            .as_ref()
            .is_some_and(ToolChoice::forces_a_call);
        match thinking(options, own) {
            Some(Thinking::Budget(_)) if forces => Err(refused(
                "anthropic-messages cannot force a call while the model thinks within a budget of tokens; ask for an \
                 effort instead, or leave the choice of tools to the model",
            )),
            _ => Ok(()),
        }
    }

    fn hosted(own: &Options) -> &[Value] {
        &own.hosted_tools
    }

    fn tool(offer: &Offer, out: &mut Vec<u8>) {
        object(out, |tool| {
            tool.value("name", offer.name());
            tool.value("description", &offer.description());
            tool.raw("input_schema", offer.parameters());
            if let Some(strict) = offer.strict() {
                tool.value("strict", &strict);
            }
            if let Some(own) = offer.own(PROTOCOL) {
                tool.members(own);
            }
        });
    }

    fn settings(&self, asked: &Asked<'_, Options>, body: &mut Fields<'_, '_>) {
        wishes(asked, body);
        settings(asked, body);
    }

    fn messages(
        &self,
        _before: &[Message],
        messages: &[Message],
        target: &Target<'_>,
        out: &mut Array<'_>,
    ) {
        conversation(out, messages, target);
    }
}

/// What the answer is to be like.
fn wishes(asked: &Asked<'_, Options>, body: &mut Fields<'_, '_>) {
    let Asked { options, shape, .. } = asked;
    let own = asked.own;
    if let Some(thinking) = thinking(options, own) {
        body.object("thinking", |object| {
            match thinking {
                Thinking::Off => object.value("type", "disabled"),
                Thinking::Adaptive => object.value("type", "adaptive"),
                Thinking::Budget(tokens) => {
                    object.value("type", "enabled");
                    object.value("budget_tokens", &tokens);
                }
            }
            if let Some(display) = own.and_then(|own| own.thinking_display) {
                object.value("display", &display);
            }
        });
    }
    let effort = own.and_then(|own| own.effort).or(match options.reasoning {
        Some(Reasoning::Effort(effort)) => Some(word(effort)),
        _ => None,
    });
    if effort.is_some() || shape.is_some() {
        body.object("output_config", |config| {
            if let Some(effort) = effort {
                config.value("effort", &effort);
            }
            if let Some(shape) = shape {
                config.object("format", |object| {
                    object.value("type", "json_schema");
                    object.raw("schema", shape.schema.as_json());
                });
            }
        });
    }
    // At the top it marks the last block that can be marked, so the mark moves along with the conversation.
    if let Some(cache) = options.prompt_cache {
        body.value("cache_control", &Mark::from(cache));
    }
    if let Some(user) = own.and_then(|own| own.user_id.as_ref()) {
        body.object("metadata", |object| object.value("user_id", user));
    }
    if let Some(own) = own {
        body.members(own);
    }
}

/// How the model thinks: as the options of this protocol say, else as the request does.
fn thinking(options: &RequestOptions, own: Option<&Options>) -> Option<Thinking> {
    own.and_then(|own| own.thinking)
        .or_else(|| match options.reasoning? {
            Reasoning::Off => Some(Thinking::Off),
            Reasoning::Effort(_) => Some(Thinking::Adaptive),
            Reasoning::Budget(tokens) => Some(Thinking::Budget(tokens)),
        })
}

/// The provider's word. It has none for less than a little.
fn word(effort: model::Effort) -> Effort {
    match effort {
        model::Effort::Minimal | model::Effort::Low => Effort::Low,
        model::Effort::Medium => Effort::Medium,
        model::Effort::High => Effort::High,
        model::Effort::Highest => Effort::Max,
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
    body.value(
        "max_tokens",
        &options.max_output_tokens.unwrap_or(OUTPUT_TOKENS),
    );
    if target.stream {
        body.value("stream", &true);
    }
    // The newest models refuse it. Who asks for it asks an older one, or hears so from the server.
    if let Some(temperature) = options.temperature {
        body.value("temperature", &temperature);
    }
    if !options.stop.is_empty() {
        body.value("stop_sequences", &options.stop);
    }
    if let Some(instructions) = request.instructions.filter(|text| !text.trim().is_empty()) {
        match asked.own.and_then(|own| own.cache_instructions) {
            None => body.value("system", instructions),
            Some(cache) => body.array("system", |blocks| {
                blocks.object(|block| {
                    block.value("type", "text");
                    block.value("text", instructions);
                    block.value("cache_control", &Mark::from(cache));
                });
            }),
        }
    }
    if let Some(container) = container(request.transcript, target) {
        body.value("container", &container);
    }
    if asked.has_no_tools() {
        return;
    }
    tool_choice(request, body);
    match asked.own.and_then(|own| own.cache_tools) {
        None => tools::write(body, asked, true),
        Some(cache) => marked_tools(asked, cache, body),
    }
}

/// The id of the container in which a program of the model waits for its results, or a pause to end: what a new turn of the
/// user begins may have another, as this one may be gone by then.
fn container(messages: &[Message], target: &Target<'_>) -> Option<String> {
    #[derive(Deserialize)]
    struct Container {
        id: String,
    }
    let starts = messages.windows(2).rposition(|pair| match pair {
        [before, message] => {
            matches!(message, Message::User { .. }) && !matches!(before, Message::Results { .. })
        }
        _ => false,
    });
    let turn = messages.get(starts.map_or(0, |at| at + 1)..)?;
    let replies = turn.iter().rev().filter_map(Message::as_reply);
    let mut echoes = replies
        .filter(|reply| target.understands(reply))
        .filter_map(|reply| reply.echo.as_ref());
    let echo = echoes.find(|echo| echo.protocol == PROTOCOL)?;
    let container: Container = serde_json::from_str(&echo.json).ok()?;
    Some(container.id)
}

/// The tools with a mark in the last of them that the cache keeps: deferred ones are no part of what a request begins with,
/// and a mark in one is refused.
fn marked_tools(asked: &Asked<'_, Options>, cache: PromptCache, body: &mut Fields<'_, '_>) {
    let takes_a_mark = |definition: &ToolDefinition| {
        let own = definition.own.of(PROTOCOL);
        own.is_none_or(|own| own.get("defer_loading") != Some(&Value::Bool(true)))
    };
    let chosen: Vec<(&ToolDefinition, &str)> = tools::chosen(asked, true).collect();
    let last = chosen
        .iter()
        .rposition(|(definition, _)| takes_a_mark(definition));
    body.array("tools", |array| {
        tools::write_hosted(array, asked, true);
        for (at, (definition, tool)) in chosen.iter().enumerate() {
            let own = definition.own.of(PROTOCOL);
            if Some(at) != last || own.is_some_and(|own| own.contains_key("cache_control")) {
                array.raw(tool);
                continue;
            }
            // Its ready bytes end with its brace.
            array.object(|object| {
                object.splice(tool);
                object.value("cache_control", &Mark::from(cache));
            });
        }
    });
}

fn tool_choice(request: &Request<'_>, body: &mut Fields<'_, '_>) {
    let options = request.options;
    let one_at_most = options.parallel_calls == Some(false);
    let (kind, name) = match &options.tool_choice {
        None if !one_at_most => return,
        None | Some(ToolChoice::Auto) => ("auto", None),
        Some(ToolChoice::None) => ("none", None),
        Some(ToolChoice::Required) => ("any", None),
        Some(ToolChoice::OneOf(names)) => match names.as_slice() {
            [name] => ("tool", Some(name)),
            _ => ("any", None),
        },
    };
    body.object("tool_choice", |choice| {
        choice.value("type", kind);
        if let Some(name) = name {
            choice.value("name", name);
        }
        if one_at_most && kind != "none" {
            choice.value("disable_parallel_tool_use", &true);
        }
    });
}

/// Turns of user and assistant. All that stands between two replies is one turn, its results first: a result that
/// does not follow its call at once is refused, and so is one behind other words.
fn conversation(messages: &mut Array<'_>, mut rest: &[Message], target: &Target<'_>) {
    let sees = target.images;
    while let Some((first, after)) = rest.split_first() {
        if let Message::Assistant(reply) = first {
            assistant(messages, reply, target);
            rest = after;
            continue;
        }
        let end = rest.iter().position(|message| message.as_reply().is_some());
        let (turn, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        messages.object(|message| {
            message.value("role", "user");
            message.array("content", |blocks| {
                for result in turn.iter().flat_map(results_of) {
                    blocks.object(|block| tool_result(block, result, sees));
                }
                for said in turn.iter().map(content_of) {
                    content(blocks, said, sees);
                }
            });
        });
    }
}

fn results_of(message: &Message) -> &[Arc<ToolResult>] {
    match message {
        Message::Results { results } => results,
        _ => &[],
    }
}

fn content_of(message: &Message) -> &[Content] {
    match message {
        Message::User { content } => content,
        _ => &[],
    }
}

fn content(blocks: &mut Array<'_>, content: &[Content], sees: bool) {
    for piece in pieces(content, sees) {
        match piece {
            Piece::Text(text) => text_block(blocks, &text),
            Piece::Image(image) => blocks.object(|block| image_block(block, image)),
        }
    }
}

/// Empty texts are refused, wherever they stand.
fn text_block(blocks: &mut Array<'_>, text: &str) {
    if !text.trim().is_empty() {
        blocks.object(|block| {
            block.value("type", "text");
            block.value("text", text);
        });
    }
}

fn image_block(block: &mut Object<'_>, image: &Image) {
    block.value("type", "image");
    block.object("source", |source| match &image.source {
        ImageSource::Url { url } => {
            source.value("type", "url");
            source.value("url", url);
        }
        ImageSource::Base64 { media_type, data } => {
            source.value("type", "base64");
            source.value("media_type", media_type);
            source.value("data", data);
        }
    });
}

fn tool_result(block: &mut Object<'_>, result: &ToolResult, sees: bool) {
    block.value("type", "tool_result");
    block.value("tool_use_id", &safe_id(result.call_id(), &LONG_IDS));
    if result.is_error() {
        block.value("is_error", &true);
    }
    if images(result, sees).next().is_none() {
        block.value("content", &result_text(result, sees));
        return;
    }
    block.array("content", |blocks| {
        content(blocks, &result.content, sees);
    });
}

fn assistant(messages: &mut Array<'_>, reply: &Reply, target: &Target<'_>) {
    let is_sent = |part: &Part| is_sent(part, target.echo_of(PROTOCOL, reply, part));
    let parts = leading_somewhere(&reply.parts, is_sent);
    if parts.is_empty() {
        return;
    }
    messages.object(|message| {
        message.value("role", "assistant");
        message.array("content", |blocks| {
            for part in parts.iter().filter(|part| is_sent(part)) {
                let echo = target.echo_of(PROTOCOL, reply, part);
                assistant_part(blocks, part, echo);
            }
        });
    });
}

/// Whether a part has a place in this protocol. What another provider thought or ran itself has none.
fn is_sent(part: &Part, echo: Option<&str>) -> bool {
    match &part.kind {
        PartKind::Text(text) | PartKind::Refusal(text) => !text.trim().is_empty(),
        PartKind::Call(_) => true,
        PartKind::Reasoning(_) | PartKind::Hosted(_) => echo.is_some(),
    }
}

fn assistant_part(blocks: &mut Array<'_>, part: &Part, echo: Option<&str>) {
    match (&part.kind, echo) {
        (PartKind::Call(call), echo) => blocks.object(|block| tool_use(block, call, echo)),
        (_, Some(json)) => blocks.raw(json),
        (PartKind::Text(text) | PartKind::Refusal(text), None) => text_block(blocks, text),
        (PartKind::Reasoning(_) | PartKind::Hosted(_), None) => {}
    }
}

fn tool_use(block: &mut Object<'_>, call: &ToolCall, echo: Option<&str>) {
    block.value("type", "tool_use");
    block.value("id", &safe_id(&call.id, &LONG_IDS));
    block.value("name", &safe_name(&call.name));
    block.raw("input", &safe_arguments(&call.arguments));
    if let Some(echo) = echo {
        block.splice(echo);
    }
}
