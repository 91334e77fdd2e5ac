use super::body::BodyFields;
use super::failure::{plain, reported_in};
use super::json::{Members, excerpt, is_blank};
use super::request_body::RequestBody;
use super::sse::{BOM, Event, Parser};
use super::surrogates::Surrogates;
use crate::message::{Part, Protocol, Reply};
use crate::model::{ModelError, ModelErrorKind, ModelEvent, Request};
use crate::schema::Dialects;
use crate::tool::{Definitions, ToolReport, ToolSetError};
use std::fmt;

/// A wire protocol without its socket: requests to bytes, bytes to replies.
pub trait Wire: fmt::Debug + Send + Sync {
    /// Which protocol it is.
    fn protocol(&self) -> Protocol;

    /// The body of a request, as JSON.
    ///
    /// What it makes of the conversation is kept with the transcript: the next request of the same conversation to the same
    /// server encodes only what is new.
    ///
    /// # Errors
    ///
    /// When the request says something that this protocol cannot carry.
    fn encode(&self, request: &Request<'_>, target: &Target<'_>)
    -> Result<RequestBody, ModelError>;

    /// What it accepts of tools.
    fn dialects(&self) -> Dialects;

    /// Works out how these tools are told, and what is lost by it. Requests with the same tools then copy bytes.
    ///
    /// # Errors
    ///
    /// When they cannot be told: a tool that must be strict cannot be, or there are too many.
    fn check_tools(&self, tools: &Definitions) -> Result<ToolReport, ToolSetError>;

    /// A decoder for one streamed answer.
    fn decoder(&self) -> Decoder;

    /// The reply in the body of an answer, streamed or not. What of it is not known is told by a
    /// [`decoder`](Self::decoder).
    ///
    /// # Errors
    ///
    /// When the body is not an answer of this protocol, breaks off, or reports an error under an HTTP status of success.
    fn decode_json(&self, body: &[u8]) -> Result<Reply, ModelError> {
        let mut decoder = self.decoder();
        decoder.push(body, &mut Vec::new())?;
        decoder.finish()
    }

    /// Where requests go, after the base URL.
    fn path(&self) -> &'static str;

    /// The base URL of the provider whose protocol it is.
    fn default_base_url(&self) -> &'static str;

    /// The environment variable in which its users keep the key.
    fn key_variable(&self) -> &'static str;

    /// The header that carries the key, and what stands before the key in it.
    fn key_header(&self) -> (&'static str, &'static str);

    /// Headers of every request.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
}

/// Whom a request is for, and how it is to be answered.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Target<'a> {
    /// The model's name.
    pub model: &'a str,
    /// Whether the answer is to be streamed.
    pub stream: bool,
    /// Fields that are added to the body as they are, in place of fields of the same name.
    pub fields: &'a BodyFields,
    /// The server, as in [`Reply::origin`]. If it is known, what other servers wrote for themselves is left out.
    pub origin: Option<&'a str>,
    /// Whether the model sees images. Where it does not, a line of text stands in place of each run of them.
    pub images: bool,
    pub(super) manner: Manner,
}

/// How the options of a request want its conversation written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Manner {
    /// The provider keeps its answers, so that it knows what it said by an id.
    pub(super) keeps: bool,
    /// The ends of messages are marked for the cache.
    pub(super) marks: bool,
}

impl<'a> Target<'a> {
    /// A streamed answer from this model, with nothing but these fields added.
    pub fn new(model: &'a str, fields: &'a BodyFields) -> Self {
        Self {
            model,
            stream: true,
            fields,
            origin: None,
            images: true,
            manner: Manner::default(),
        }
    }

    /// What the server of this reply wrote of a part for itself, if this one can read it.
    pub(super) fn echo_of<'p>(
        &self,
        protocol: Protocol,
        reply: &Reply,
        part: &'p Part,
    ) -> Option<&'p str> {
        part.echo_for(protocol).filter(|_| self.understands(reply))
    }

    /// Whether what the server of this reply wrote for itself can be read by this one.
    pub(super) fn understands(&self, reply: &Reply) -> bool {
        match (self.origin, &reply.origin) {
            (Some(this), Some(that)) => this == that,
            _ => true,
        }
    }
}

/// The protocols, to choose one by its name.
pub fn protocols() -> impl Iterator<Item = &'static dyn Wire> {
    let all: [&'static dyn Wire; 3] = [
        &super::openai_chat::Chat::OPENAI,
        &super::openai_responses::Responses,
        &super::anthropic::Messages::ANTHROPIC,
    ];
    all.into_iter()
}

/// What a protocol makes of the events of a stream.
pub(super) trait Events: fmt::Debug + Send {
    /// Which protocol it is.
    fn protocol(&self) -> Protocol;

    /// Takes one event, an object that may say its name once more; whether it is known.
    fn event(&mut self, name: &str, data: &str, out: &mut Vec<ModelEvent>)
    -> Result<bool, Trouble>;

    /// Takes an answer that was not streamed; whether it is one. It is complete then.
    fn whole(&mut self, json: &str, out: &mut Vec<ModelEvent>) -> Result<bool, Trouble>;

    /// Takes the `[DONE]` that some servers say at the end.
    fn done(&mut self, out: &mut Vec<ModelEvent>) {
        let _ = out;
    }

    /// Whether the server has said that its answer is complete.
    fn is_complete(&self) -> bool;

    /// Whether nothing can follow any more, not even a count of tokens.
    fn is_over(&self) -> bool;

    /// What has come so far, as a reply; leaves nothing behind. Its stop reason counts only if it is complete.
    fn take(&mut self) -> Reply;
}

/// Why JSON gives nothing of an answer.
pub(super) enum Trouble {
    /// It is not what the protocol says.
    Unreadable(serde_json::Error),
    /// The server says that it failed.
    Reported(ModelError),
}

impl From<serde_json::Error> for Trouble {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable(error)
    }
}

impl From<ModelError> for Trouble {
    fn from(error: ModelError) -> Self {
        Self::Reported(error)
    }
}

/// Takes one event of a stream: what is the same over every protocol.
fn take(
    events: &mut dyn Events,
    surrogates: &mut Surrogates,
    event: Event<'_>,
    out: &mut Vec<ModelEvent>,
) -> Result<(), ModelError> {
    let data = surrogates.join(event.data.trim());
    let data = &*data;
    if data == "[DONE]" {
        events.done(out);
        return Ok(());
    }
    let known = if data.starts_with('{') && !is_blank(data) {
        events.event(event.name, data, out)
    } else {
        // Some gateways keep the connection with words.
        Ok(data.is_empty() || event.name.is_empty() && is_blank(data))
    };
    match known {
        Ok(true) => Ok(()),
        Ok(false) => {
            if let Some(error) = reported_in(event.name, data) {
                return Err(error);
            }
            out.push(ModelEvent::Unknown(data.to_owned()));
            Ok(())
        }
        Err(Trouble::Reported(error)) => Err(error),
        Err(Trouble::Unreadable(error)) => {
            let said = excerpt(data, 200);
            let protocol = events.protocol();
            let message = format!("an event of the answer is not JSON of {protocol}: {said}");
            Err(ModelError::new(ModelErrorKind::Protocol, message).with_source(error))
        }
    }
}

/// Takes the body of an answer that was not streamed.
fn take_whole(
    events: &mut dyn Events,
    body: &[u8],
    out: &mut Vec<ModelEvent>,
) -> Result<Reply, ModelError> {
    let text = String::from_utf8_lossy(body);
    let text = Surrogates::default().join(text.trim_start_matches('\u{feff}').trim());
    match events.whole(&text, out) {
        Ok(true) => Ok(events.take()),
        Ok(false) => Err(not_an_answer(body)),
        Err(Trouble::Reported(error)) => Err(error),
        Err(Trouble::Unreadable(error)) if error.is_eof() => {
            Err(ModelError::new(ModelErrorKind::Truncated, BROKE_OFF).with_source(error))
        }
        Err(Trouble::Unreadable(error)) => Err(not_an_answer(body).with_source(error)),
    }
}

/// Whether these are objects, each on a line of its own.
fn is_lines(body: &[u8]) -> bool {
    let mut lines = body
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty());
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else {
        return false;
    };
    second.starts_with(b"{") && serde_json::from_slice::<Members<'_>>(first).is_ok()
}

const BROKE_OFF: &str = "the answer ended before the model said that it was done; ask again";

/// Decodes one answer from bytes that may be cut anywhere: a stream of events, or an answer that was not streamed, whatever
/// was asked for and whatever the server says that it is.
///
/// ```
/// use agent::provider::{Wire, openai_chat::Chat};
///
/// let mut decoder = Chat::OPENAI.decoder();
/// let mut events = Vec::new();
/// decoder.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hel", &mut events)?;
/// decoder.push(b"lo\"},\"finish_reason\":\"stop\"}]}\n\n", &mut events)?;
/// assert_eq!(decoder.finish()?.text(), "Hello");
/// # Ok::<(), agent::model::ModelError>(())
/// ```
#[derive(Debug)]
pub struct Decoder {
    sse: Parser,
    surrogates: Surrogates,
    events: Box<dyn Events>,
    form: Form,
    /// The first bytes, until an event shows that they are a stream of events; of an answer that was not streamed all.
    head: Vec<u8>,
    begun: bool,
}

/// What the bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Nothing has come but blanks.
    Open,
    Events,
    /// JSON: an answer that was not streamed.
    Whole,
}

/// So much is kept of what may not be a stream of events, to say what it is instead.
const HEAD: usize = 16 * 1024;

/// Longer events are not an answer but an attack, or a file by mistake.
const LONGEST_EVENT: usize = 256 * 1024 * 1024;

impl Decoder {
    pub(super) fn new(events: impl Events + 'static) -> Self {
        Self {
            sse: Parser::default(),
            surrogates: Surrogates::default(),
            events: Box::new(events),
            form: Form::Open,
            head: Vec::new(),
            begun: false,
        }
    }

    /// Takes the next bytes and adds the events that they complete to `out`. Never adds
    /// [`ModelEvent::Finished`]: that is for [`finish`](Self::finish) to say.
    ///
    /// # Errors
    ///
    /// When the server reports an error in the middle of its answer, or what comes is not this protocol. The error
    /// holds [what had come before](ModelError::partial). The decoder has nothing more to say then.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if self.form == Form::Open {
            let is_blank = |byte: &&u8| byte.is_ascii_whitespace() || BOM.contains(byte);
            self.form = match bytes.iter().find(|byte| !is_blank(byte)) {
                None => Form::Open,
                Some(b'{' | b'[') => Form::Whole,
                Some(_) => Form::Events,
            };
        }
        if self.form == Form::Whole {
            self.head.extend_from_slice(bytes);
            return self.bounded(self.head.len());
        }
        if !self.begun && self.head.len() < HEAD {
            self.head.extend(bytes.iter().take(HEAD));
        }
        let events = &mut *self.events;
        let begun = &mut self.begun;
        let surrogates = &mut self.surrogates;
        let result = self.sse.push(bytes, |event| {
            *begun = true;
            take(events, surrogates, event, out)
        });
        result.map_err(|error| self.fail(error))?;
        self.bounded(self.sse.pending())
    }

    fn bounded(&mut self, pending: usize) -> Result<(), ModelError> {
        if pending <= LONGEST_EVENT {
            return Ok(());
        }
        let said = format!("an event of the answer is longer than {LONGEST_EVENT} bytes");
        Err(self.fail(ModelError::new(ModelErrorKind::Protocol, said)))
    }

    /// Whether the server has said that its answer is complete. More may come (the count of tokens), but need not.
    pub fn is_complete(&self) -> bool {
        self.events.is_complete()
    }

    /// Whether nothing can follow any more.
    pub fn is_over(&self) -> bool {
        self.events.is_over()
    }

    /// The reply, when no more bytes come.
    ///
    /// # Errors
    ///
    /// When the answer ended before the server said that it was complete: a call in it may be cut off even where it
    /// reads well. The error holds [what had come](ModelError::partial).
    pub fn finish(self) -> Result<Reply, ModelError> {
        self.finish_into(&mut Vec::new())
    }

    /// The same, with the events that only the end completes: the last of a stream, where its end was forgotten, and all
    /// of an answer that was not streamed.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn finish_into(mut self, out: &mut Vec<ModelEvent>) -> Result<Reply, ModelError> {
        let events = &mut *self.events;
        if self.form == Form::Whole && !is_lines(&self.head) {
            return take_whole(events, &self.head, out);
        }
        if self.form == Form::Whole {
            // Lines of JSON, as some gateways stream: to the parser each is an event.
            let lines = std::mem::take(&mut self.head);
            self.form = Form::Events;
            self.push(&lines, out)?;
            return self.finish_into(out);
        }
        // The last event may lack its end. If it cannot be read, it was cut, and that is what is said below.
        let begun = &mut self.begun;
        let surrogates = &mut self.surrogates;
        let ended = std::mem::take(&mut self.sse).finish(|event| {
            *begun = true;
            take(events, surrogates, event, out)
        });
        match ended {
            Err(error) if error.kind() != ModelErrorKind::Protocol => Err(self.fail(error)),
            _ if self.events.is_complete() => Ok(self.events.take()),
            _ if self.begun => {
                Err(self.fail(ModelError::new(ModelErrorKind::Truncated, BROKE_OFF)))
            }
            _ => Err(not_an_answer(&self.head)),
        }
    }

    /// The same error, with what had come of the answer before it.
    pub(super) fn fail(&mut self, error: ModelError) -> ModelError {
        use crate::message::StopReason;
        let mut partial = self.events.take();
        partial.stop.reason = match error.server() {
            Some(_) => StopReason::Error,
            None => StopReason::Unknown,
        };
        error.with_partial(partial)
    }
}

/// The error for a body that is no answer: the one that it reports, else that it is nothing that a model's server would
/// send.
pub(super) fn not_an_answer(body: &[u8]) -> ModelError {
    let body = String::from_utf8_lossy(body);
    if body.trim_start_matches('\u{feff}').trim().is_empty() {
        return ModelError::new(
            ModelErrorKind::Connection,
            "the server closed the connection without an answer; ask again",
        );
    }
    if let Some(error) = reported_in("", &body) {
        return error;
    }
    ModelError::new(
        ModelErrorKind::Protocol,
        format!(
            "what came back is not a model's answer; check the base URL: {}",
            excerpt(&plain(&body), 200)
        ),
    )
}
