//! An answer that is a value: its shape is told to the model, and what comes is checked.

use super::error::RunError;
use super::start::{Answer, Run, RunStream};
use crate::json::{Invalid, InvalidReason, Parsed, parse};
use crate::message::{CallNames, ToolCall};
use crate::model::ResponseFormat;
use crate::schema::{Schema, SchemaError};
use crate::tool::{
    Arguments, DecodeError, Mending, Repaired, Tool, ToolContext, ToolDefinition, ToolSetError,
};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::marker::PhantomData;

/// The name under which the shape of an answer is told to a model.
const NAME: &str = "final_output";

/// How often a model may try again whose answer does not fit.
const RETRIES: u32 = 2;

/// What an answer must be: checked as the arguments of a call are, mending included.
pub(super) struct Shape {
    tool: Tool,
    pub(super) retries: u32,
}

/// Providers want an object, so what is none stands in one.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Wrapped<T> {
    response: T,
}

impl Shape {
    fn of<T: JsonSchema + DeserializeOwned>() -> Result<Self, ToolSetError> {
        let definition = if is_object::<T>() {
            ToolDefinition::of::<T>(NAME, "The answer.")
        } else {
            ToolDefinition::of::<Wrapped<T>>(NAME, "The answer.")
        }?;
        Ok(Self {
            tool: Tool::external(definition),
            retries: RETRIES,
        })
    }

    /// As a request says it.
    pub(super) fn format(&self) -> ResponseFormat {
        ResponseFormat::new(NAME, self.tool.definition().parameters.clone())
    }

    /// The text of an answer as JSON that fits, or what is wrong with it.
    pub(super) fn fit(&self, text: &str) -> Result<String, String> {
        // Arguments may be left out; an answer may not, and what is said of it is said of an answer.
        if text.trim().is_empty() {
            return Err("it is empty".to_owned());
        }
        match parse(text) {
            Parsed::Strict(_) | Parsed::Repaired(_) => {}
            Parsed::Partial(_) => return Err("it is cut off before its end".to_owned()),
            Parsed::Invalid(invalid) => return Err(unreadable(&invalid)),
        }
        let mut mending = Mending::UNSAID;
        mending.repaired = Some(Repaired::Run);
        let arguments = Arguments::new(text, mending);
        let context = ToolContext::for_test();
        match self.tool.prepare(&arguments, &context) {
            Ok(_) => Ok(arguments.text().to_owned()),
            Err(end) => Err(end
                .result(CallNames::joined("", NAME), arguments.mends())
                .text()),
        }
    }
}

/// Why a text is no answer at all.
fn unreadable(invalid: &Invalid) -> String {
    match invalid.reason() {
        InvalidReason::NotAnObject(kind) => format!("it is {kind}, and must be one JSON object"),
        InvalidReason::NoObject => "it holds no JSON object".to_owned(),
        InvalidReason::EmptyAmongWords => {
            "only an empty JSON object stands among its words".to_owned()
        }
        _ => invalid.to_string(),
    }
}

fn is_object<T: JsonSchema>() -> bool {
    Schema::of::<T>().is_ok()
}

/// A run whose answer is a value of type `T`: see [`Run::typed`].
#[must_use = "a run does nothing until it is awaited or streamed"]
pub struct TypedRun<T> {
    run: Result<Run, ToolSetError>,
    value: PhantomData<fn() -> T>,
}

impl<T: JsonSchema + DeserializeOwned> TypedRun<T> {
    pub(super) fn new(run: Run) -> Self {
        Self {
            run: Shape::of::<T>().map(|shape| run.with_shape(shape)),
            value: PhantomData,
        }
    }

    /// How often the model may try again whose answer does not fit: 2 times unless said otherwise.
    pub fn retries(mut self, retries: u32) -> Self {
        if let Ok(run) = &mut self.run {
            run.set_shape_retries(retries);
        }
        self
    }

    /// Starts the run and hands out its events as they happen; [`Answer::decode`] then gives the value.
    ///
    /// # Errors
    ///
    /// When no schema can be made of `T`; the message says what of it.
    pub fn stream(self) -> Result<RunStream, ToolSetError> {
        self.run.map(Run::stream)
    }
}

impl<T: JsonSchema + DeserializeOwned + Send + 'static> IntoFuture for TypedRun<T> {
    type Output = Result<TypedAnswer<T>, RunError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let run = self.run.map_err(RunError::no_shape)?;
            let answer = run.await?;
            match answer.decode() {
                Ok(value) => Ok(TypedAnswer { value, answer }),
                Err(error) => Err(RunError::wrong_shape(error.to_string(), answer)),
            }
        })
    }
}

impl<T> fmt::Debug for TypedRun<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedRun").field("run", &self.run).finish()
    }
}

/// An answer that is a value.
#[derive(Debug)]
#[non_exhaustive]
pub struct TypedAnswer<T> {
    /// The value.
    pub value: T,
    /// All that led to it.
    pub answer: Answer,
}

impl Answer {
    /// The answer's text as a value, mended and checked as the arguments of a call are.
    ///
    /// For a run that was told the shape with [`Run::typed`]; any other model may answer in prose.
    ///
    /// # Errors
    ///
    /// When the text does not fit: with every problem at once.
    pub fn decode<T: JsonSchema + DeserializeOwned>(&self) -> Result<T, DecodeAnswerError> {
        let shape = Shape::of::<T>().map_err(|error| DecodeAnswerError(error.to_string()))?;
        let text = shape.fit(&self.text()).map_err(DecodeAnswerError)?;
        let call = ToolCall::new("", NAME, text);
        let definition = shape.tool.definition();
        let wrong = |error: DecodeError| DecodeAnswerError(error.to_string());
        if is_object::<T>() {
            definition.decode(&call).map_err(wrong)
        } else {
            let wrapped: Wrapped<T> = definition.decode(&call).map_err(wrong)?;
            Ok(wrapped.response)
        }
    }
}

/// Why an answer is no value of the type that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DecodeAnswerError(String);

impl From<SchemaError> for DecodeAnswerError {
    fn from(error: SchemaError) -> Self {
        Self(error.to_string())
    }
}
