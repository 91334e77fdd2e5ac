//! What fills a parameter: the model's arguments, a state, the data of the run, the context, or an extractor of the
//! user's own.
//!
//! The role follows from the type, by trait, so aliases work. [`Param`] knows no state: a type that cannot be a
//! parameter is reported at the function. [`Get`] does: its index is inferred where tools meet the states, in `tools![]`.
//! Only a `&` is read from the syntax, since `impl Param for &str` would conflict with serde's future: what is kept of a `&T` until
//! the function borrows it is a `T`, a `Vec`, a `PathBuf`, or [`Borrowed`](super::borrowed::Borrowed) text.

#![expect(
    clippy::missing_errors_doc,
    reason = "for expansions only: arguments that do not fit"
)]

use super::declared::Blueprint;
use super::list::Given;
use super::slot::{Fill, Missing, Slot};
use super::{ToolContext, ToolError};
use crate::schema::{ReadError, Reader};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::any::{Any, TypeId, type_name};

/// A value of the host's, given to the agent with `.state(..)` and never shown to the model.
///
/// `State<T>` clones the value for each call, so wrap what is expensive to clone in an `Arc`; `State<&T>` lends it.
///
/// ```
/// use agent::State;
///
/// fn greet(State(name): State<&String>) -> String {
///     format!("hello {name}")
/// }
/// assert_eq!(greet(State(&"Ada".to_owned())), "hello Ada");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct State<T>(pub T);

/// Data given with each run: who asks, on whose behalf, in which language.
///
/// `RunData<T>` clones it for each call, `RunData<&T>` lends it. A run that was not given it does not start. Whether who
/// asks may have what the call wants is [for the tool to say](crate::yours).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RunData<T>(pub T);

/// A parameter that a type takes from the call or from a state, for extractors of your own.
///
/// The model never sees such a parameter. Its error ends the call before the function runs.
///
/// ```
/// use agent::{FromCall, ToolContext, ToolError};
///
/// struct Tenants {
///     default: String,
/// }
///
/// struct Tenant(String);
///
/// impl FromCall for Tenant {
///     type State = Tenants; // `()` where none is needed
///
///     fn from_call(tenants: &Tenants, cx: &ToolContext) -> Result<Self, ToolError> {
///         Ok(Tenant(cx.run_data::<String>().unwrap_or(&tenants.default).clone()))
///     }
/// }
/// ```
pub trait FromCall: Sized {
    /// The state that it needs: `()` for none. A tool with such a parameter needs that state too.
    type State;

    /// Takes the value.
    ///
    /// # Errors
    ///
    /// What the model shall read in place of the tool's answer.
    fn from_call(state: &Self::State, context: &ToolContext) -> Result<Self, ToolError>;
}

/// A type of data that each run must be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RunDataType {
    /// The type.
    pub id: TypeId,
    /// Its name, for messages.
    pub name: &'static str,
}

impl RunDataType {
    /// The data of type `T`.
    pub fn of<T: 'static>() -> Self {
        Self {
            id: TypeId::of::<T>(),
            name: type_name::<T>(),
        }
    }
}

/// The function that gives the schema of a type.
pub(super) type SchemaOf = fn(&mut schemars::SchemaGenerator) -> schemars::Schema;

/// A type that can be a parameter by value. `R` is its role, inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a tool",
    label = "needs `#[derive(serde::Deserialize, schemars::JsonSchema)]`",
    note = "a value of the host's is taken as `State<..>`, the data of a run as `RunData<..>`, the context as `&ToolContext`, anything else by `impl agent::FromCall`"
)]
pub trait Param<'a, R>: Sized {
    /// Adds it to what is known of a tool.
    fn describe(tool: &mut Blueprint, name: &'static str, description: &'static str);

    /// Where it is read to.
    fn slot() -> Slot<Self, R> {
        Slot::empty()
    }

    /// The slot, as it is filled.
    fn fill(slot: &mut Slot<Self, R>) -> &mut dyn Fill<'a> {
        slot
    }

    /// Reads it from the arguments.
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError>;

    /// Reads it from the fields that no other parameter took.
    fn read_flattened(reader: &mut Reader<'a>, index: usize) -> Result<Self, ReadError>;

    /// What stands for it where it is absent: of an `Option`, `None`.
    fn absent() -> Result<Option<Self>, Missing>;
}

/// A type that the host fills: the only ones that a pattern may take apart, since the model's need a name.
#[diagnostic::on_unimplemented(
    message = "a parameter of type `{Self}` comes from the model and needs a name",
    label = "taken apart by a pattern",
    note = "write a name and take it apart in the body, or `#[arg(rename = \"..\")]`"
)]
pub trait HostParam<'a, R>: Sized {
    /// As [`Param::describe`].
    fn describe(tool: &mut Blueprint, name: &'static str, description: &'static str);

    /// As [`Param::slot`]; nobody fills it.
    fn slot() -> Slot<Self, R> {
        Slot::empty()
    }
}

/// Where a parameter's value comes from once the states are known. `I` is inferred.
#[diagnostic::on_unimplemented(
    message = "a parameter of type `{Self}` cannot be filled from the states that the agent was given",
    label = "this tool takes `{Self}`",
    note = "add `.state(..)` with the value that it needs to the builder"
)]
pub trait Get<'a, S, I>: Sized {
    /// Takes what was read, or the host's value.
    fn get(slot: Option<Self>, state: &'a S, context: &'a ToolContext) -> Result<Self, ToolError>;
}

/// The roles and the indices that the compiler infers. Not for naming.
pub mod role {
    /// From the model.
    #[derive(Debug)]
    pub struct Json;
    /// From the call, by [`FromCall`](super::FromCall); at this place among the states.
    #[derive(Debug)]
    pub struct Call<I = ()>(I);
    /// A state, cloned; at this place.
    #[derive(Debug)]
    pub struct Cloned<I = ()>(I);
    /// A state, lent; at this place.
    #[derive(Debug)]
    pub struct Lent<I = ()>(I);
    /// From the model, as text that borrows from the call.
    #[derive(Debug)]
    pub struct Text;
    /// The context itself.
    #[derive(Debug)]
    pub struct Context;
}
use role::{Call, Cloned, Context, Json, Lent};

/// Whether the absence of a `T` is an answer of its own.
pub fn is_optional<T: DeserializeOwned>() -> bool {
    absent::<T>().is_some()
}

/// What stands for an absent `T`.
pub fn absent<T: DeserializeOwned>() -> Option<T> {
    crate::schema::absent()
}

/// A parameter that the host fills was found among the arguments: the schema never lists one.
pub(super) fn from_nowhere() -> ReadError {
    serde::de::Error::custom("no argument of this name exists")
}

/// A slot is empty although reading succeeded. Reading settles every slot, so only a broken body meets it, and ends as one
/// that panics: an error would be a way out behind each slot of each tool.
#[cold]
#[inline(never)]
fn lost() -> ! {
    panic!("an argument was lost between reading and running")
}

#[diagnostic::do_not_recommend]
impl<'a, T: DeserializeOwned + JsonSchema> Param<'a, Json> for T {
    fn describe(tool: &mut Blueprint, name: &'static str, description: &'static str) {
        tool.parameter(name, description, T::json_schema, is_optional::<T>);
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        reader.value()
    }

    fn read_flattened(reader: &mut Reader<'a>, index: usize) -> Result<Self, ReadError> {
        reader.flattened(index)
    }

    fn absent() -> Result<Option<Self>, Missing> {
        absent().map(Some).ok_or(Missing)
    }
}

/// A type that a default written as text can be made into.
#[diagnostic::on_unimplemented(
    message = "a text cannot be the default of a `{Self}`",
    label = "expected a value of type `{Self}`",
    note = "write the value as Rust does: `default = 3`, `default = Unit::Celsius`"
)]
pub trait FromText {
    /// The value.
    fn from_text(text: &'static str) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: From<&'static str>> FromText for T {
    fn from_text(text: &'static str) -> Self {
        text.into()
    }
}

/// What a settled slot holds.
///
/// # Panics
///
/// When it holds nothing, which no settled slot does.
pub fn filled<T>(slot: Option<T>) -> T {
    slot.unwrap_or_else(|| lost())
}

impl<'a, S, T: DeserializeOwned + JsonSchema> Get<'a, S, Json> for T {
    fn get(slot: Option<Self>, _: &'a S, _: &'a ToolContext) -> Result<Self, ToolError> {
        Ok(filled(slot))
    }
}

macro_rules! host_param {
    (impl[$($generics:tt)*] $role:ty, $type:ty $(, $needs:ty)?) => {
        #[diagnostic::do_not_recommend]
        impl<'r, $($generics)*> Param<'r, $role> for $type {
            fn describe(tool: &mut Blueprint, name: &'static str, description: &'static str) {
                <Self as HostParam<'r, $role>>::describe(tool, name, description);
            }

            fn read(_: &mut Reader<'r>) -> Result<Self, ReadError> {
                Err(from_nowhere())
            }

            fn read_flattened(_: &mut Reader<'r>, _: usize) -> Result<Self, ReadError> {
                Err(from_nowhere())
            }

            fn absent() -> Result<Option<Self>, Missing> {
                Ok(None)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<'r, $($generics)*> HostParam<'r, $role> for $type {
            fn describe(tool: &mut Blueprint, name: &'static str, description: &'static str) {
                tool.host_parameter(name, description);
                $(tool.needs(RunDataType::of::<$needs>());)?
            }
        }
    };
}

host_param!(impl[T] Cloned, State<T>);
host_param!(impl['a, T] Lent, State<&'a T>);
host_param!(impl[T: Any] Cloned, RunData<T>, T);
host_param!(impl['a, T: Any] Lent, RunData<&'a T>, T);
host_param!(impl[T: FromCall] Call, T);
host_param!(impl['a] Context, &'a ToolContext);
host_param!(impl[] Context, ToolContext);

impl<'a, S: Given<T, I>, T: Clone, I> Get<'a, S, Cloned<I>> for State<T> {
    fn get(_: Option<Self>, state: &'a S, _: &'a ToolContext) -> Result<Self, ToolError> {
        Ok(State(state.get().clone()))
    }
}

impl<'a, S: Given<T, I>, T, I> Get<'a, S, Lent<I>> for State<&'a T> {
    fn get(_: Option<Self>, state: &'a S, _: &'a ToolContext) -> Result<Self, ToolError> {
        Ok(State(state.get()))
    }
}

impl<'a, S, T: Any + Clone + Send + Sync> Get<'a, S, Cloned> for RunData<T> {
    fn get(_: Option<Self>, _: &'a S, context: &'a ToolContext) -> Result<Self, ToolError> {
        run_data(context).cloned().map(RunData)
    }
}

impl<'a, S, T: Any + Send + Sync> Get<'a, S, Lent> for RunData<&'a T> {
    fn get(_: Option<Self>, _: &'a S, context: &'a ToolContext) -> Result<Self, ToolError> {
        run_data(context).map(RunData)
    }
}

fn run_data<T: Any + Send + Sync>(context: &ToolContext) -> Result<&T, ToolError> {
    context.run_data().ok_or_else(|| {
        ToolError::internal(format!(
            "the run was not given data of type `{}`",
            type_name::<T>()
        ))
    })
}

impl<'a, S: Given<T::State, I>, T: FromCall, I> Get<'a, S, Call<I>> for T {
    fn get(_: Option<Self>, state: &'a S, context: &'a ToolContext) -> Result<Self, ToolError> {
        T::from_call(state.get(), context)
    }
}

impl<'a, S> Get<'a, S, Context> for &'a ToolContext {
    fn get(_: Option<Self>, _: &'a S, context: &'a ToolContext) -> Result<Self, ToolError> {
        Ok(context)
    }
}

impl<'a, S> Get<'a, S, Context> for ToolContext {
    fn get(_: Option<Self>, _: &'a S, context: &'a ToolContext) -> Result<Self, ToolError> {
        Ok(context.clone())
    }
}
