//! What all protocols do with a request before and while they put it into words.

use super::body::{Array, Fields, body};
use super::ready;
use super::request_body::RequestBody;
use super::shape::Shape;
use super::tools;
use super::wire::{Manner, Target, Wire};
use crate::message::Message;
use crate::model::{ModelError, ModelErrorKind, ProviderOptions, Request, RequestOptions};
use crate::tool::{Definitions, Offer, Offered, ToolReport, ToolSetError};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// How a protocol writes requests.
pub(super) trait Encoder: Wire + Clone + PartialEq + 'static {
    /// What it alone can be asked for.
    type Options: ProviderOptions + Serialize;

    /// The field in which the conversation stands.
    const CONVERSATION: &'static str;

    /// Refuses a wish that it has no words for.
    fn refuse(
        &self,
        options: &RequestOptions,
        own: Option<&Self::Options>,
    ) -> Result<(), ModelError>;

    /// How the conversation is to be written.
    fn manner(own: &Self::Options) -> Manner {
        let _ = own;
        Manner::default()
    }

    /// The provider's own tools that are to stand beside those of the request.
    fn hosted(own: &Self::Options) -> &[Value];

    /// A tool, as an element of `tools`.
    fn tool(offer: &Offer, out: &mut Vec<u8>);

    /// All but the conversation.
    fn settings(&self, asked: &Asked<'_, Self::Options>, body: &mut Fields<'_, '_>);

    /// What stands at the head of the conversation without being part of it.
    fn heading(&self, asked: &Asked<'_, Self::Options>, conversation: &mut Array<'_>) {
        let _ = (asked, conversation);
    }

    /// Messages of the conversation, behind those that stand in `before`. They end where a reply does or where the
    /// conversation does, and what they become hangs on nothing but themselves, `before`, the encoder, and whom the target
    /// understands.
    fn messages(
        &self,
        before: &[Message],
        messages: &[Message],
        target: &Target<'_>,
        out: &mut Array<'_>,
    );

    /// The tools as it writes them; worked out once a set.
    fn offered(&self, tools: &Definitions) -> Result<Arc<Offered>, ToolSetError> {
        tools.offered(&self.dialects(), self.protocol().as_str(), Self::tool)
    }

    /// How it tells the tools, and what is lost by it.
    fn report(&self, tools: &Definitions) -> Result<ToolReport, ToolSetError> {
        Ok(self.offered(tools)?.report().clone())
    }
}

/// A request that can be met, with all that its body says beside the conversation.
pub(super) struct Asked<'a, O> {
    pub(super) request: &'a Request<'a>,
    pub(super) target: &'a Target<'a>,
    pub(super) options: &'a RequestOptions,
    pub(super) own: Option<&'a O>,
    pub(super) offered: Arc<Offered>,
    pub(super) hosted: &'a [Value],
    pub(super) shape: Option<Shape<'a>>,
}

impl<O> Asked<'_, O> {
    /// Whether the model can call nothing, here or at the provider.
    pub(super) fn has_no_tools(&self) -> bool {
        self.request.tools.is_empty() && self.hosted.is_empty()
    }
}

/// The body of a request.
pub(super) fn encode<E: Encoder>(
    encoder: &E,
    request: &Request<'_>,
    target: &Target<'_>,
) -> Result<RequestBody, ModelError> {
    request.check()?;
    let own = request.options.own()?;
    encoder.refuse(request.options, own)?;
    let target = &Target {
        manner: own.map(E::manner).unwrap_or_default(),
        ..*target
    };
    let asked = Asked {
        request,
        target,
        options: request.options,
        own,
        hosted: own.map_or(&[][..], E::hosted),
        offered: encoder
            .offered(request.tools)
            .map_err(tools::cannot_be_told)?,
        shape: Shape::of(request.options, &encoder.dialects())?,
    };
    tools::check_hosted(asked.hosted, request)?;
    let fields = added(request, target, E::CONVERSATION)?;
    Ok(body(
        &fields,
        |body| encoder.settings(&asked, body),
        E::CONVERSATION,
        |conversation| encoder.heading(&asked, conversation),
        &ready::conversation(encoder, request.transcript, target),
    ))
}

/// The fields that are added to this request's body: the model's, and in their place the request's own.
///
/// # Errors
///
/// When one would replace the tools or the conversation.
fn added<'a>(
    request: &Request<'a>,
    target: &Target<'a>,
    conversation: &str,
) -> Result<Cow<'a, super::BodyFields>, ModelError> {
    let mut fields = Cow::Borrowed(target.fields);
    let own = &request.options.body_fields;
    if !own.is_empty() {
        fields.to_mut().extend(own.clone());
    }
    match ["tools", conversation]
        .into_iter()
        .find(|name| fields.contains_key(*name))
    {
        None => Ok(fields),
        Some("tools") => Err(refused(
            "the body field `tools` is written by this crate and cannot be replaced; tools of the provider go into \
             `hosted_tools` of the protocol's options",
        )),
        Some(name) => Err(refused(format!(
            "the body field `{name}` is written by this crate and cannot be replaced; leave it out"
        ))),
    }
}

/// The error for what a protocol cannot be asked for.
pub(super) fn refused(message: impl Into<String>) -> ModelError {
    ModelError::new(ModelErrorKind::Request, message)
}
