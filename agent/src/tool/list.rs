//! `tools![..]`: functions that wait for their states, and the sets that come of them.
//!
//! A [`Tools<S>`] is what `tools![..]` gives. `S` is the list of states `(A, (B, ()))`, inferred from what the functions take;
//! binding one makes a [`ToolSet`], which knows no states any more and is what an agent holds.

use super::body::Body;
use super::declared::{Blueprint, Bound, Called, Describe, Prepare};
use super::{Tool, ToolSet, ToolSetError};
use std::fmt;
use std::sync::Arc;

/// Tools that wait for states of type `S`: what `tools![..]` gives.
///
/// Give it to an agent's builder with `.tools(..)`, and the states with `.state(..)`; or make a [`ToolSet`] of it:
///
/// - [`into_set`](Self::into_set) where no tool takes a state,
/// - [`with_state`](Self::with_state) where they take one,
/// - [`bind`](Self::bind) for several.
///
/// All three can fail, since two lists may bring two tools of one name.
pub struct Tools<S = ()>(Vec<Entry<S>>);

enum Entry<S> {
    /// One that needs no state.
    Made(Tool),
    /// One that has a body as soon as it has a state.
    Waiting(Describe, Box<dyn Binding<S>>),
}

trait Binding<S>: Send {
    fn bind(self: Box<Self>, state: &Arc<S>, asks_at_last: bool) -> Arc<dyn Body>;
}

struct Member<V, S> {
    this: Arc<V>,
    prepare: Prepare<V, S>,
}

impl<V: Send + Sync + 'static, S: Send + Sync + 'static> Binding<S> for Member<V, S> {
    fn bind(self: Box<Self>, state: &Arc<S>, asks_at_last: bool) -> Arc<dyn Body> {
        Arc::new(Bound {
            this: self.this,
            state: Arc::clone(state),
            prepare: self.prepare,
            asks_at_last,
        })
    }
}

impl<S> Tools<S> {
    /// No tools yet.
    #[doc(hidden)]
    pub fn none() -> Self {
        Self(Vec::new())
    }

    /// Adds the tool of a function.
    #[doc(hidden)]
    pub fn push<T, I>(&mut self, _function: T)
    where
        T: Called<0, (), S, I>,
        S: Send + Sync + 'static,
    {
        self.add_function(T::describe, T::prepare);
    }

    /// Not compiled into each list anew, which has a call for each of its functions.
    #[inline(never)]
    fn add_function(&mut self, describe: Describe, prepare: Prepare<(), S>)
    where
        S: Send + Sync + 'static,
    {
        self.add(describe, Arc::new(()), prepare);
    }

    /// Adds the `N`th tool of `this`.
    #[doc(hidden)]
    pub fn push_nth<const N: usize, T, I>(&mut self, this: &Arc<T>)
    where
        T: Called<N, T, S, I> + Send + Sync + 'static,
        S: Send + Sync + 'static,
    {
        self.add(T::describe, Arc::clone(this), T::prepare);
    }

    fn add<V>(&mut self, describe: Describe, this: Arc<V>, prepare: Prepare<V, S>)
    where
        V: Send + Sync + 'static,
        S: Send + Sync + 'static,
    {
        let waiting = Box::new(Member { this, prepare });
        self.0.push(Entry::Waiting(describe, waiting));
    }

    /// Adds whatever `.tools(..)` takes.
    #[doc(hidden)]
    pub fn extend<I>(&mut self, group: impl IntoTools<S, I>) {
        self.0.append(&mut group.into_tools().0);
    }

    /// The set of these tools, bound to the states.
    ///
    /// ```
    /// use agent::{State, tool, tools};
    ///
    /// struct Shop;
    ///
    /// /// Say where the shop is.
    /// #[tool]
    /// async fn address(State(_shop): State<&Shop>, State(street): State<String>) -> String {
    ///     street
    /// }
    ///
    /// let set = tools![address].bind((Shop, ("Main Street".to_owned(), ())))?;
    /// # Ok::<(), agent::ToolSetError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When two tools have one name, or the schema of one is impossible.
    pub fn bind(self, states: S) -> Result<ToolSet, ToolSetError> {
        let states = Arc::new(states);
        let tools = self.0.into_iter().map(|entry| match entry {
            Entry::Made(tool) => Ok(tool),
            Entry::Waiting(describe, binding) => {
                let blueprint = Blueprint::of(describe);
                let body = binding.bind(&states, blueprint.asks_at_last);
                blueprint.tool(body)
            }
        });
        ToolSet::from_tools(tools.collect::<Result<Vec<_>, _>>()?)
    }
}

impl<T> Tools<(T, ())> {
    /// The set of these tools, bound to the one state that they take.
    ///
    /// # Errors
    ///
    /// When two tools have one name, or the schema of one is impossible.
    pub fn with_state(self, state: T) -> Result<ToolSet, ToolSetError> {
        self.bind((state, ()))
    }
}

impl Tools<()> {
    /// The set of these tools, of which none takes a state.
    ///
    /// # Errors
    ///
    /// When two tools have one name, or the schema of one is impossible.
    pub fn into_set(self) -> Result<ToolSet, ToolSetError> {
        self.bind(())
    }
}

impl TryFrom<Tools<()>> for ToolSet {
    type Error = ToolSetError;

    fn try_from(tools: Tools<()>) -> Result<Self, ToolSetError> {
        tools.into_set()
    }
}

impl<S> Default for Tools<S> {
    fn default() -> Self {
        Self::none()
    }
}

impl<S> fmt::Debug for Tools<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|entry| match entry {
            Entry::Made(tool) => tool.name(),
            Entry::Waiting(describe, _) => Blueprint::of(*describe).name,
        });
        f.debug_list().entries(names).finish()
    }
}

/// Whatever an agent's `.tools(..)` takes: a list from `tools![..]`, a [`ToolSet`], a [`Tool`], or a value (also in an
/// `Arc`) whose `impl` block has `#[tool]`. The index `I` is inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no group of tools",
    label = "not a group of tools",
    note = "a group is a list from `tools![..]`, a `ToolSet`, or a value whose `impl` block has `#[tool]` on it"
)]
pub trait IntoTools<S, I> {
    /// The tools.
    fn into_tools(self) -> Tools<S>;
}

/// A type whose `impl` block has `#[tool]`.
pub trait Group<S, I>: Sized {
    /// Its tools.
    fn tools(this: &Arc<Self>) -> Tools<S>;
}

/// How a value is a group: the indices that the compiler infers. Not for naming.
pub mod kind {
    /// As it is.
    #[derive(Debug)]
    pub struct Itself;
    /// By its methods.
    #[derive(Debug)]
    pub struct Methods<I>(I);
    /// By the methods of what is in the `Arc`.
    #[derive(Debug)]
    pub struct Shared<I>(I);
}
use kind::{Itself, Methods, Shared};

impl<S> IntoTools<S, Itself> for Tools<S> {
    fn into_tools(self) -> Tools<S> {
        self
    }
}

impl<S> IntoTools<S, Itself> for ToolSet {
    fn into_tools(self) -> Tools<S> {
        Tools(self.iter().cloned().map(Entry::Made).collect())
    }
}

impl<S> IntoTools<S, Itself> for Tool {
    fn into_tools(self) -> Tools<S> {
        Tools(vec![Entry::Made(self)])
    }
}

impl<S, I, T: Group<S, I>> IntoTools<S, Methods<I>> for T {
    fn into_tools(self) -> Tools<S> {
        T::tools(&Arc::new(self))
    }
}

impl<S, I, T: Group<S, I>> IntoTools<S, Shared<I>> for Arc<T> {
    fn into_tools(self) -> Tools<S> {
        T::tools(&self)
    }
}

/// A list of states `(A, (B, ()))` that has one of type `T`, at the place `I`.
#[diagnostic::on_unimplemented(
    message = "no state of type `{T}` was given to the agent",
    label = "this tool takes a state of type `{T}`",
    note = "add `.state(..)` with a value of type `{T}` to the builder"
)]
pub trait Given<T, I> {
    /// The state.
    fn get(&self) -> &T;
}

/// Places in a list of states. Not for naming.
pub mod place {
    /// The first.
    #[derive(Debug)]
    pub struct Here;
    /// One further on.
    #[derive(Debug)]
    pub struct There<I>(I);
    /// The end of the list, where `()` is: what needs no state asks for that.
    #[derive(Debug)]
    pub struct End;
}
use place::{End, Here, There};

#[diagnostic::do_not_recommend]
impl<T, R> Given<T, Here> for (T, R) {
    fn get(&self) -> &T {
        &self.0
    }
}

#[diagnostic::do_not_recommend]
impl<T, H, R: Given<T, I>, I> Given<T, There<I>> for (H, R) {
    fn get(&self) -> &T {
        self.1.get()
    }
}

#[diagnostic::do_not_recommend]
impl Given<(), End> for () {
    fn get(&self) -> &() {
        self
    }
}
