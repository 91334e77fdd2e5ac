//! From the text that a model wrote to the text that a tool is called with.
//!
//! A text that is strict and fits is read once and nothing more. Only one that does not is parsed, rewritten as the
//! tool asks, fitted to the schema, and read again: by the same check, so that mending can never let through what the
//! check refuses.

use super::mending::{Mending, Repaired};
use super::{Tool, ToolPolicy};
use crate::json::{InvalidReason, Kind, Mends, Object, Parsed, Place, Provenance, parse};
use crate::json::{Json, MendKind};
use crate::message::ToolCall;
use crate::schema::Problem;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock, OnceLock};

/// The longest text of arguments that is read, in bytes.
const LONGEST: usize = 8 << 20;

/// How many mends are told to the model.
const TOLD: usize = 4;

/// The arguments of one call: the model's text, and what it was mended to. Outlives the prepared call, which may borrow
/// from either.
#[derive(Debug)]
pub(crate) struct Arguments<'a> {
    raw: Cow<'a, str>,
    /// Whether somebody else than the model wrote them.
    is_replaced: bool,
    /// What the agent says of mending, where the tool says nothing.
    agent: Mending,
    mended: OnceLock<Mended>,
}

/// What was mended in arguments that a hook or a person wrote.
static REPLACED: LazyLock<Mends> = LazyLock::new(|| {
    let mut mends = Mends::default();
    mends.push(MendKind::Rewritten, Place::Pointer(String::new()));
    mends
});

/// Strict JSON text, and how it came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mended {
    pub(super) text: String,
    pub(super) mends: Mends,
}

impl<'a> Arguments<'a> {
    /// The arguments as the model wrote them, under what the agent says of mending.
    pub(crate) fn new(raw: impl Into<Cow<'a, str>>, agent: Mending) -> Self {
        Self {
            raw: raw.into(),
            is_replaced: false,
            agent,
            mended: OnceLock::new(),
        }
    }

    /// Those that a hook or a person wrote in place of the model's.
    pub(crate) fn replaced(raw: impl Into<Cow<'a, str>>, agent: Mending) -> Self {
        Self {
            is_replaced: true,
            ..Self::new(raw, agent)
        }
    }

    /// The text as it came.
    pub(super) fn raw(&self) -> &str {
        &self.raw
    }

    /// The text after all that was mended.
    pub(crate) fn text(&self) -> &str {
        self.mended
            .get()
            .map_or(&*self.raw, |mended| mended.text.as_str())
    }

    /// What was mended.
    pub(crate) fn mends_ref(&self) -> &Mends {
        static NOTHING: Mends = Mends::NOTHING;
        match self.mended.get() {
            Some(mended) => &mended.mends,
            None if self.is_replaced => &REPLACED,
            None => &NOTHING,
        }
    }

    /// Keeps what was mended, for as long as the call.
    pub(super) fn keep(&self, mut mended: Mended) -> &Mended {
        if self.is_replaced {
            let later = std::mem::replace(&mut mended.mends, REPLACED.clone());
            mended.mends.append(later);
        }
        self.mended.get_or_init(|| mended)
    }

    /// What was mended before the arguments could be checked; nothing, where they were the model's own.
    pub(crate) fn mends(&self) -> Mends {
        self.mends_ref().clone()
    }

    /// The record of the call that has these arguments.
    pub(crate) fn checked(&self, call: &Arc<ToolCall>) -> CheckedCall {
        // A hook or a person may have put others in their place, which needed no mending.
        let replaced = || {
            self.is_replaced.then(|| Mended {
                text: self.raw.to_string(),
                mends: REPLACED.clone(),
            })
        };
        CheckedCall {
            call: Arc::clone(call),
            mended: self.mended.get().cloned().or_else(replaced),
        }
    }
}

/// A call after the check of its arguments: what hooks, approvals and events get to see of it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedCall {
    call: Arc<ToolCall>,
    /// The arguments, where they are not those of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mended: Option<Mended>,
}

impl CheckedCall {
    /// The call as the model wrote it.
    pub fn call(&self) -> &Arc<ToolCall> {
        &self.call
    }

    /// The arguments as the tool gets them: JSON text that its schema accepts. Of a call that will not run, the text as
    /// far as it was mended.
    pub fn arguments(&self) -> &str {
        match &self.mended {
            Some(mended) => &mended.text,
            None => &self.call.arguments,
        }
    }

    /// How far these are the model's own text.
    pub fn provenance(&self) -> Provenance {
        let mended = self.mended.as_ref();
        mended.map_or(Provenance::Strict, |mended| mended.mends.provenance())
    }

    /// What was mended.
    pub fn mends(&self) -> &Mends {
        static NOTHING: Mends = Mends::NOTHING;
        self.mended
            .as_ref()
            .map_or(&NOTHING, |mended| &mended.mends)
    }
}

/// Shows no arguments, since some of them may be secret.
impl fmt::Debug for CheckedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckedCall")
            .field("call", &self.call)
            .field("mends", self.mends())
            .finish_non_exhaustive()
    }
}

/// Why a text has no arguments that could be checked.
#[derive(Debug)]
pub(super) enum Unreadable {
    /// Nothing of it can be used; in words for the model.
    Refused(String),
    /// The rewrite of the tool panicked.
    RewriteBroke,
}

/// A text that is too long to be read.
pub(super) fn too_long(text: &str) -> Option<String> {
    (text.len() > LONGEST).then(|| {
        format!(
            "the arguments have {} bytes, and at most {LONGEST} are read; send less",
            text.len()
        )
    })
}

/// What a text that was refused is after all mends that the tool takes. It is not checked yet.
///
/// Says also what must be told where it does not fit, beside what does not.
///
/// `null` in the place of the arguments means that there are none, as a blank text does: gateways send either for a
/// tool without parameters.
pub(super) fn mend(
    tool: &Tool,
    arguments: &Arguments<'_>,
) -> Result<(Mended, Option<Problem>), Unreadable> {
    let (mut object, mut mends) = match parse(&arguments.raw) {
        Parsed::Strict(object) => (object, Mends::default()),
        Parsed::Repaired(repaired) => repaired.into_parts(),
        Parsed::Partial(_) => {
            return Err(Unreadable::Refused(
                "the arguments are cut off before their end, so nothing was run; send the call again, whole, and \
                 shorter or in parts if it was long"
                    .to_owned(),
            ));
        }
        Parsed::Invalid(invalid) if is_null(invalid.reason()) => {
            let mut mends = Mends::default();
            mends.push(MendKind::NullArguments, Place::Pointer(String::new()));
            (Object::new(), mends)
        }
        Parsed::Invalid(invalid) => return Err(Unreadable::Refused(invalid.to_string())),
    };
    // A rewrite that looks for a key would take one of two, and what it leaves would pass.
    if !tool.rewrites().is_empty() && !object.repeats_a_key() {
        let before = object.clone();
        for rewrite in tool.rewrites() {
            catch_unwind(AssertUnwindSafe(|| rewrite(&mut object)))
                .map_err(|_panic| Unreadable::RewriteBroke)?;
        }
        if object != before {
            mends.push(MendKind::Rewritten, Place::Pointer(String::new()));
        }
    }
    let definition = tool.definition();
    let coercion = definition.policy.mending.or(arguments.agent).coercion;
    let fitted = (definition.parameters).coerce(coercion.unwrap_or_default(), Json::Object(object));
    mends.append(fitted.mends);
    let beside = fitted.stopped.then(|| {
        Problem::new(
            "",
            "there is too much here to read every value in another type; send each in the type that the schema wants",
        )
    });
    let mended = Mended {
        text: fitted.arguments.to_text(),
        mends,
    };
    Ok((mended, beside))
}

/// What becomes of arguments whose schema accepts whole floats for integers, so that they come as the integers that they
/// are. Nothing, where they stay as they came.
pub(super) fn with_whole_numbers(tool: &Tool, arguments: &Arguments<'_>) -> Option<Mended> {
    let definition = tool.definition();
    let schema = &definition.parameters;
    if !schema.takes_whole_floats() || !has_float(&arguments.raw) {
        return None;
    }
    let Parsed::Strict(object) = parse(&arguments.raw) else {
        return None;
    };
    let coercion = definition.policy.mending.or(arguments.agent).coercion;
    let (fitted, mends) =
        schema.coerce_floats(coercion.unwrap_or_default(), Json::Object(object))?;
    let text = fitted.to_text();
    schema
        .problems(&text)
        .is_none()
        .then_some(Mended { text, mends })
}

/// Whether a number is written as no integer is.
fn has_float(text: &str) -> bool {
    let (mut before, mut is_text, mut is_escaped) = (b' ', false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'.' | b'e' | b'E' if !is_text && before.is_ascii_digit() => return true,
            b'0' if !is_text && before == b'-' => return true,
            _ => {}
        }
        before = byte;
    }
    false
}

fn is_null(reason: InvalidReason) -> bool {
    reason == InvalidReason::NotAnObject(Kind::Null)
}

/// Why mended arguments may not run, although they passed the check; `None` where they may.
pub(super) fn must_be_sent_again(
    tool: &Tool,
    arguments: &Arguments<'_>,
    mends: &Mends,
) -> Option<String> {
    if mends.provenance() != Provenance::Repaired {
        return None;
    }
    let policy = &tool.definition().policy;
    match policy.mending.or(arguments.agent).repaired {
        Some(Repaired::Run) => return None,
        None if is_harmless(policy) => return None,
        None | Some(Repaired::SendAgain) => {}
    }
    let mut told = String::new();
    for (index, mend) in mends.first().iter().take(TOLD).enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        // Writing to a `String` cannot fail.
        let _ = write!(told, "{comma}{mend}");
    }
    let more = mends.count().saturating_sub(TOLD);
    if more > 0 {
        let _ = write!(told, " and {more} more");
    }
    Some(format!(
        "the arguments are not valid JSON, and `{}` runs on nothing that had to be repaired ({told}); send the call \
         again with strict JSON",
        tool.name()
    ))
}

/// Whether a call that says something else than the model meant does no lasting harm.
fn is_harmless(policy: &ToolPolicy) -> bool {
    policy.read_only || policy.idempotent
}
