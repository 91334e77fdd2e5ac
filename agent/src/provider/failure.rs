//! Errors as servers report them, in the body of an error answer or in the middle of a stream, as [`ModelError`].

use super::json::{Members, Raw, Text, excerpt, is_blank};
use crate::model::{ModelError, ModelErrorKind, ServerError};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// So much of a server's own words is shown.
const SHOWN: usize = 600;

/// Errors inside of errors are looked into so deep.
const NESTED: usize = 8;

/// The error of an answer with an HTTP status other than success, from its body.
///
/// Reads the shapes of the three protocols and those of the gateways before them; a body that is none of these (a
/// proxy's page) is shown by its beginning.
pub fn error_answer(status: u16, body: &[u8]) -> ModelError {
    let body = String::from_utf8_lossy(body);
    let reported = Report::read(&body);
    let kind = match &reported {
        Some(report) => report.kind_or(kind_by_status(status)),
        None => kind_by_status(status),
    };
    let said = match &reported {
        Some(report) => format!(": {}", excerpt(&report.message, SHOWN)),
        None if body.trim().is_empty() => String::new(),
        None => format!(": {}", excerpt(&plain(&body), 200)),
    };
    let error =
        ModelError::new(kind, format!("{} ({status}){said}", happened(kind))).with_status(status);
    match reported {
        Some(report) => error.with_server(report.into_server()),
        None => error.with_server(ServerError {
            message: excerpt(&plain(&body), SHOWN).into_owned(),
            ..ServerError::default()
        }),
    }
}

/// The error that a server reports under an HTTP status of success, from the JSON of its `error`.
pub(super) fn error_event(error: &str) -> ModelError {
    let report = Report::read(error).unwrap_or_else(|| Report {
        message: excerpt(error, SHOWN).into_owned(),
        ..Report::default()
    });
    // With no word and no number to go by, it is the server that did not keep its promise.
    let kind = match (report.status(), report.kind.as_deref()) {
        (Some(status), _) => kind_by_status(status),
        (None, Some(INVALID_REQUEST)) => ModelErrorKind::Rejected,
        (None, _) => ModelErrorKind::Server,
    };
    let kind = report.kind_or(kind);
    let code = match report.code.as_ref().or(report.kind.as_ref()) {
        Some(code) => format!(" ({})", excerpt(code, 80)),
        None => String::new(),
    };
    let message = format!(
        "{} in the middle of its answer{code}: {}",
        happened(kind),
        excerpt(&report.message, SHOWN)
    );
    let error = ModelError::new(kind, message);
    match report.status() {
        Some(status) => error.with_status(status),
        None => error,
    }
    .with_server(report.into_server())
}

/// The error that a server reports where something else was expected: an event of another shape, of this name, or a body
/// that is no answer.
pub(super) fn reported_in(name: &str, said: &str) -> Option<ModelError> {
    let said = said.trim();
    (name.eq_ignore_ascii_case("error") || is_error(said)).then(|| error_event(said))
}

fn is_error(json: &str) -> bool {
    let json = unlisted(json);
    if !json.starts_with('{') {
        return false;
    }
    let shape = Shape::read(json);
    if shape.error.is_some() || shape.object.as_deref() == Some("error") {
        return true;
    }
    let ends_with = |word: &Option<String>, ends: &[&str]| {
        let word = word.as_deref().unwrap_or_default().to_ascii_lowercase();
        ends.iter().any(|end| word.ends_with(end))
    };
    if ends_with(&shape.kind, &["error", "exception"])
        || shape.kind.is_none() && ends_with(&shape.status, &["error", "failed", "failure"])
    {
        return true;
    }
    // What gateways make up: a sentence, and a number or a word that is none for success.
    let is_failure =
        |code: &str| !matches!(code, "0" | "200" | "success" | "Success" | "ok" | "OK");
    let mut codes = [&shape.code, &shape.status].into_iter().flatten();
    let is_named = shape.kind.as_deref().is_none_or(|kind| kind.contains(':'));
    shape.has_detail && is_named
        || shape.message.is_some() && is_named && codes.any(|code| is_failure(code))
}

/// The first of a list, or what is none.
fn unlisted(json: &str) -> &str {
    if !json.starts_with('[') {
        return json;
    }
    let list: Vec<&RawValue> = serde_json::from_str(json).unwrap_or_default();
    list.first().map_or(json, |first| first.get())
}

fn happened(kind: ModelErrorKind) -> &'static str {
    match kind {
        ModelErrorKind::Auth => "the server refused the key",
        ModelErrorKind::NotFound => "the server does not know the model or the address",
        ModelErrorKind::RateLimit => "the server wants fewer requests for now",
        ModelErrorKind::Quota => "the account has nothing left to spend",
        ModelErrorKind::Timeout => "the server gave up waiting",
        ModelErrorKind::Rejected => "the server refused the request",
        ModelErrorKind::ContextOverflow => "the conversation is longer than the model can read",
        _ => "the server failed",
    }
}

fn kind_by_status(status: u16) -> ModelErrorKind {
    match status {
        401 | 403 => ModelErrorKind::Auth,
        402 => ModelErrorKind::Quota,
        404 => ModelErrorKind::NotFound,
        413 => ModelErrorKind::ContextOverflow,
        408 | 504 => ModelErrorKind::Timeout,
        429 => ModelErrorKind::RateLimit,
        // A conflict is one of those that both official SDKs send again.
        409 | 500.. => ModelErrorKind::Server,
        _ => ModelErrorKind::Rejected,
    }
}

/// Words that say more than the status under which they come: a used-up account is a 429 or a 400 as the server
/// likes, and asking it again helps nobody.
const WORDS: &[(&str, ModelErrorKind)] = &[
    ("insufficient_quota", ModelErrorKind::Quota),
    ("billing_error", ModelErrorKind::Quota),
    ("enforced_spend_limit_reached", ModelErrorKind::Quota),
    ("invalid_api_key", ModelErrorKind::Auth),
    ("authentication_error", ModelErrorKind::Auth),
    ("permission_error", ModelErrorKind::Auth),
    ("model_not_found", ModelErrorKind::NotFound),
    ("not_found_error", ModelErrorKind::NotFound),
    ("invalid_model", ModelErrorKind::NotFound),
    ("rate_limit_error", ModelErrorKind::RateLimit),
    ("rate_limit_exceeded", ModelErrorKind::RateLimit),
    ("timeout_error", ModelErrorKind::Timeout),
    ("overloaded_error", ModelErrorKind::Server),
    ("server_is_overloaded", ModelErrorKind::Server),
    ("server_error", ModelErrorKind::Server),
    ("api_error", ModelErrorKind::Server),
    ("content_filter", ModelErrorKind::Rejected),
    ("context_length_exceeded", ModelErrorKind::ContextOverflow),
    ("exceed_context_size_error", ModelErrorKind::ContextOverflow),
    ("too_many_prompt_tokens", ModelErrorKind::ContextOverflow),
    ("request_too_large", ModelErrorKind::ContextOverflow),
    ("invalid_prompt", ModelErrorKind::Rejected),
    ("tool_use_failed", ModelErrorKind::Rejected),
    // Google's.
    ("RESOURCE_EXHAUSTED", ModelErrorKind::RateLimit),
    ("UNAUTHENTICATED", ModelErrorKind::Auth),
    ("PERMISSION_DENIED", ModelErrorKind::Auth),
    ("NOT_FOUND", ModelErrorKind::NotFound),
    ("INVALID_ARGUMENT", ModelErrorKind::Rejected),
    ("UNAVAILABLE", ModelErrorKind::Server),
    ("DEADLINE_EXCEEDED", ModelErrorKind::Timeout),
    // Amazon's and Alibaba's.
    ("ThrottlingException", ModelErrorKind::RateLimit),
    ("Throttling", ModelErrorKind::RateLimit),
    ("AccessDeniedException", ModelErrorKind::Auth),
    ("InvalidApiKey", ModelErrorKind::Auth),
    ("Arrearage", ModelErrorKind::Quota),
    ("ValidationException", ModelErrorKind::Rejected),
    ("ResourceNotFoundException", ModelErrorKind::NotFound),
];

/// How servers say that a conversation is too long that have no word for it, in small letters.
const TOO_LONG: &[&str] = &[
    "maximum context length",
    "max context length",
    "context window",
    "context size",
    "prompt is too long",
    "prompt too long",
    "maximum prompt length",
    "input is too long",
    "messages is too long",
];

/// A word that says less than any status: it stands over wrong keys and unknown models too.
const INVALID_REQUEST: &str = "invalid_request_error";

#[derive(Debug, Default)]
struct Report {
    kind: Option<String>,
    code: Option<String>,
    status: Option<String>,
    detail_code: Option<String>,
    message: String,
}

/// An error as far as any server says it, under the names that they have for it.
struct Shape<'a> {
    /// The error itself, where there is something around it.
    error: Option<&'a str>,
    object: Option<String>,
    kind: Option<String>,
    code: Option<String>,
    status: Option<String>,
    message: Option<String>,
    /// The sentence is FastAPI's or that of a problem, which needs nothing beside it.
    has_detail: bool,
    details: Raw<'a>,
}

impl<'a> Shape<'a> {
    fn read(json: &'a str) -> Self {
        let members = Members::read(json);
        let filled = |names: &[&str]| {
            let mut found = names.iter().filter_map(|name| members.get(name));
            found.find(|json| !is_blank(json))
        };
        let text = |names: &[&str]| {
            let json = filled(names)?;
            Raw::of(json).text_or_json().into_string()
        };
        // Cloudflare has a list of them, Tencent and MiniMax one under another name.
        let around = ["error", "errors", "Error", "base_resp", "Response"];
        Self {
            error: filled(&around),
            object: text(&["object"]),
            kind: text(&["type", "__type"]),
            // Baidu's is `error_code`, a problem has a `status`, AWS and Tencent begin with a capital.
            code: text(&["code", "error_code", "Code"]),
            status: text(&["status_code", "statusCode", "status"]),
            message: text(&[
                "message",
                "detail",
                "msg",
                "error_msg",
                "error_description",
                "status_msg",
                "Message",
                "title",
            ]),
            has_detail: filled(&["detail"]).is_some(),
            details: members.get("details").map(Raw::of).unwrap_or_default(),
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Details<'a> {
    #[serde(borrow)]
    error_code: Text<'a>,
}

impl Report {
    /// Reads `{"error": {..}}`, `{"error": ".."}`, a bare error, FastAPI's `{"detail": ..}`, or any of these in a list.
    fn read(json: &str) -> Option<Self> {
        Self::read_inside(json, NESTED)
    }

    fn read_inside(json: &str, levels: usize) -> Option<Self> {
        let levels = levels.checked_sub(1)?;
        let json = unlisted(json.trim());
        if let Some(text) = Some(json).filter(|json| json.starts_with('"')) {
            return Some(Self {
                message: serde_json::from_str(text).ok()?,
                ..Self::default()
            });
        }
        if !json.starts_with('{') {
            return None;
        }
        serde_json::from_str::<IgnoredAny>(json).ok()?;
        let shape = Shape::read(json);
        let outer = Self {
            kind: shape.kind,
            code: shape.code,
            status: shape.status,
            detail_code: shape
                .details
                .read::<Details<'_>>()
                .and_then(|details| details.error_code.into_string()),
            message: shape.message.unwrap_or_default(),
        };
        if let Some(error) = shape.error {
            let inner = Self::read_inside(error, levels)?;
            // Around a mere sentence, what stands beside it is all there is; the `"type": "error"` around an
            // Anthropic error says nothing.
            if error.starts_with('"') && !outer.message.is_empty() {
                return Some(Self {
                    code: outer.code.or(Some(inner.message)),
                    ..outer
                });
            }
            return Some(Self {
                code: inner.code.or(outer.code),
                status: inner.status.or(outer.status),
                ..inner
            });
        }
        let says = !outer.message.is_empty() || outer.kind.is_some() || outer.code.is_some();
        says.then_some(outer)
    }

    fn kind_by_word(&self) -> Option<ModelErrorKind> {
        let words = [&self.detail_code, &self.code, &self.kind, &self.status];
        words.into_iter().flatten().find_map(|said| {
            // `Throttling.RateQuota` is one of `Throttling`, and AWS writes a name space before its own.
            let said = said.rsplit('#').next().unwrap_or_default();
            let class = said.split('.').next().unwrap_or_default();
            WORDS
                .iter()
                .find(|(word, _)| *word == said || *word == class)
                .map(|(_, kind)| *kind)
        })
    }

    /// What it is by its words, or else by what is known beside them.
    fn kind_or(&self, known: ModelErrorKind) -> ModelErrorKind {
        let kind = self.kind_by_word().unwrap_or(known);
        let message = self.message.to_lowercase();
        let is_too_long = || TOO_LONG.iter().any(|words| message.contains(words));
        match kind {
            ModelErrorKind::Rejected if is_too_long() => ModelErrorKind::ContextOverflow,
            kind => kind,
        }
    }

    fn status(&self) -> Option<u16> {
        [&self.status, &self.code]
            .into_iter()
            .flatten()
            .find_map(|code| code.parse().ok())
            .filter(|status| (400..600).contains(status))
    }

    fn into_server(self) -> ServerError {
        ServerError {
            kind: self.kind,
            code: self.code,
            message: self.message,
        }
    }
}

/// A body that is no JSON, on one line and, if it is a page, without its tags.
pub(super) fn plain(body: &str) -> Cow<'_, str> {
    if !body.trim_start().starts_with('<') {
        return Cow::Borrowed(body);
    }
    let mut text = String::from("a web page, not an API's answer:");
    let mut inside_tag = false;
    let mut gap = true;
    for letter in body.chars().take(4096) {
        match letter {
            '<' => inside_tag = true,
            '>' => (inside_tag, gap) = (false, true),
            _ if inside_tag => {}
            _ if letter.is_whitespace() => gap = true,
            _ => {
                if std::mem::take(&mut gap) {
                    text.push(' ');
                }
                text.push(letter);
            }
        }
    }
    Cow::Owned(text)
}
