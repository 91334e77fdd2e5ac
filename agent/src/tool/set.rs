use super::definition::{Rewrite, Tool, ToolDefinition};
#[cfg(feature = "providers")]
use super::offered::Memory;
use super::own_options::ProviderToolOptions;
use super::permission::Rule;
use super::policy::ToolPolicy;
use super::set_error::ToolSetError;
use super::{CallInfo, Hook, TurnInfo};
use crate::json::{Ends, Object};
use crate::schema::Fingerprint;
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Tools by name.
///
/// Every name is valid and stands once. What changes a set checks it again, so a set that exists can be offered to a
/// model.
#[derive(Clone, Default)]
pub struct ToolSet {
    /// Sorted by name: the order in which the model sees them, which prompt caches rely on.
    tools: Vec<Tool>,
    /// Where the tool of a name stands, by the length and the ends of the name; of those that share them one.
    by_ends: HashMap<(usize, Ends), usize, FixedState>,
    /// What a model is told, kept from one request to the next.
    definitions: OnceLock<Definitions>,
    /// Whether all of them are offered in every turn.
    always_offered: OnceLock<bool>,
}

impl ToolSet {
    /// A set without tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// A set of these tools.
    ///
    /// # Errors
    ///
    /// When a name is not valid, or two tools have the same.
    pub fn from_tools(tools: impl IntoIterator<Item = Tool>) -> Result<Self, ToolSetError> {
        let mut tools: Vec<Tool> = tools.into_iter().collect();
        tools.sort_by(|a, b| a.name().cmp(b.name()));
        for tool in &tools {
            check_definition(tool.definition())?;
        }
        for (first, second) in tools.iter().zip(tools.iter().skip(1)) {
            if first.name() == second.name() {
                return Err(ToolSetError::duplicate(
                    first.definition(),
                    second.definition(),
                ));
            }
        }
        Ok(Self::of_sorted(tools))
    }

    /// A set of tools that are checked and stand in their order.
    fn of_sorted(tools: Vec<Tool>) -> Self {
        let by_ends = tools
            .iter()
            .enumerate()
            .map(|(at, tool)| (ends(tool.name()), at))
            .collect();
        Self {
            tools,
            by_ends,
            definitions: OnceLock::new(),
            always_offered: OnceLock::new(),
        }
    }

    /// Before something of its tools changes.
    fn forget(&mut self) {
        self.definitions = OnceLock::new();
        self.always_offered = OnceLock::new();
    }

    /// Whether nothing hides one of them in some turns.
    pub(crate) fn is_always_offered(&self) -> bool {
        let all = || self.tools.iter().all(Tool::is_always_offered);
        *self.always_offered.get_or_init(all)
    }

    /// The tool of this name. To call it past an agent is to go without the agent's rules, hooks and limits:
    /// [`yours`](crate::yours#calling-a-tool-directly) says what is left.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.get(self.place(name)?)
    }

    fn place(&self, name: &str) -> Option<usize> {
        let at = *self.by_ends.get(&ends(name))?;
        if name.len() <= Ends::WHOLE || self.tools.get(at)?.name() == name {
            return Some(at);
        }
        let found = self.tools.binary_search_by(|tool| tool.name().cmp(name));
        found.ok()
    }

    /// The names, sorted.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tools.iter().map(Tool::name)
    }

    /// The tools, sorted by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Tool> {
        self.tools.iter()
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// What a model is told of these tools, sorted by name: the same tools give the same bytes.
    pub fn definitions(&self) -> Definitions {
        let make = || {
            Definitions::new(
                self.tools
                    .iter()
                    .map(|tool| Arc::clone(tool.shared_definition())),
            )
        };
        self.definitions.get_or_init(make).clone()
    }

    /// A hash of what a model is told of these tools: it changes when a prompt cache would be lost.
    pub fn fingerprint(&self) -> Fingerprint {
        self.definitions().fingerprint()
    }

    /// Adds a tool.
    ///
    /// # Errors
    ///
    /// When its name is taken. The set is left as it was.
    pub fn add(&mut self, tool: Tool) -> Result<(), ToolSetError> {
        *self = Self::from_tools(self.tools.iter().cloned().chain([tool]))?;
        Ok(())
    }

    /// Takes a tool out.
    pub fn remove(&mut self, name: &str) -> Option<Tool> {
        let at = self.place(name)?;
        let mut tools = std::mem::take(&mut self.tools);
        let tool = tools.remove(at);
        *self = Self::of_sorted(tools);
        Some(tool)
    }

    /// Both sets in one.
    ///
    /// # Errors
    ///
    /// When they share a name; [`prefix`](Self::prefix) one of them first.
    pub fn merge(self, other: Self) -> Result<Self, ToolSetError> {
        Self::from_tools(self.tools.into_iter().chain(other.tools))
    }

    /// The tools for which `keep` says yes.
    #[must_use]
    pub fn filter(mut self, mut keep: impl FnMut(&ToolDefinition) -> bool) -> Self {
        self.tools.retain(|tool| keep(tool.definition()));
        Self::of_sorted(self.tools)
    }

    /// The same tools, each name with `prefix` before it.
    ///
    /// # Errors
    ///
    /// When a name becomes too long or gets a letter that names cannot have.
    pub fn prefix(self, prefix: &str) -> Result<Self, ToolSetError> {
        Self::from_tools(self.tools.into_iter().map(|mut tool| {
            let name = format!("{prefix}{}", tool.name());
            tool.definition_mut().name = name.into();
            tool
        }))
    }

    /// The same tools, one of them under another name.
    ///
    /// # Errors
    ///
    /// When there is no tool `from`, or `to` is taken or no valid name.
    pub fn rename(mut self, from: &str, to: &str) -> Result<Self, ToolSetError> {
        self.definition_mut(from)?.name = to.into();
        Self::from_tools(self.tools)
    }

    /// The same tools, the policy of one of them changed.
    ///
    /// # Errors
    ///
    /// When there is no tool `name`.
    pub fn with_policy(
        mut self,
        name: &str,
        change: impl FnOnce(&mut ToolPolicy),
    ) -> Result<Self, ToolSetError> {
        change(&mut self.definition_mut(name)?.policy);
        Ok(self)
    }

    /// The same tools, one of them with what one protocol alone can be told of it; in place of such options for the same
    /// protocol.
    ///
    /// ```
    /// use agent::provider::{anthropic, openai_responses};
    /// use agent::{tool, tools};
    ///
    /// /// Get the tides of a harbour.
    /// #[tool]
    /// async fn tides(harbour: String) -> String {
    ///     format!("low in {harbour}")
    /// }
    ///
    /// let mut at_anthropic = anthropic::ToolOptions::default();
    /// at_anthropic.defer_loading = true;
    /// at_anthropic.input_examples = vec![serde_json::json!({"harbour": "Hamburg"})];
    /// let mut at_openai = openai_responses::ToolOptions::default();
    /// at_openai.defer_loading = true;
    ///
    /// let set = tools![tides]
    ///     .into_set()?
    ///     .for_protocol("tides", at_anthropic)?
    ///     .for_protocol("tides", at_openai)?;
    /// # Ok::<(), agent::ToolSetError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When there is no tool `name`, when an example among the options breaks its schema, or when one would replace what
    /// the definition says by itself.
    pub fn for_protocol(
        mut self,
        name: &str,
        options: impl ProviderToolOptions,
    ) -> Result<Self, ToolSetError> {
        self.definition_mut(name)?.take_own(options)?;
        Ok(self)
    }

    /// The same tools, the policy changed of those for which `which` says yes.
    #[must_use]
    pub fn with_policy_where(
        mut self,
        mut which: impl FnMut(&ToolDefinition) -> bool,
        mut change: impl FnMut(&mut ToolPolicy),
    ) -> Self {
        self.forget();
        for tool in &mut self.tools {
            if which(tool.definition()) {
                change(&mut tool.definition_mut().policy);
            }
        }
        self
    }

    /// The same tools, each with this [rewrite](Tool::with_rewrite) of arguments that do not fit.
    #[must_use]
    pub fn with_rewrite(
        mut self,
        rewrite: impl Fn(&mut Object<'_>) + Send + Sync + 'static,
    ) -> Self {
        let rewrite: Rewrite = Arc::new(rewrite);
        for tool in &mut self.tools {
            tool.add_rewrite(Arc::clone(&rewrite));
        }
        self
    }

    /// The same tools, each with this rule over its calls: see [`Permission`](super::Permission).
    ///
    /// ```
    /// use agent::{Permission, ToolSet};
    ///
    /// # fn shown(tools: ToolSet) -> ToolSet {
    /// tools.with_permission(|call| match call.tool().is_some_and(|tool| tool.policy.read_only) {
    ///     true => Permission::Allow,
    ///     false => Permission::Ask("it changes something".to_owned()),
    /// })
    /// # }
    /// ```
    #[must_use]
    pub fn with_permission(
        mut self,
        rule: impl Fn(&CallInfo<'_>) -> super::Permission + Send + Sync + 'static,
    ) -> Self {
        let rule = Rule::new(rule);
        for tool in &mut self.tools {
            tool.add_permission(rule.clone());
        }
        self
    }

    /// The same tools, each with this hook around its calls.
    #[must_use]
    pub fn with_hook(mut self, hook: impl Hook + 'static) -> Self {
        let hook: Arc<dyn Hook> = Arc::new(hook);
        for tool in &mut self.tools {
            tool.add_hook(Arc::clone(&hook));
        }
        self
    }

    /// The same tools, each offered only in turns for which `enabled` says yes: see [`Tool::with_enabled`].
    #[must_use]
    pub fn with_enabled(
        mut self,
        enabled: impl Fn(&TurnInfo<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        let enabled: Arc<dyn Fn(&TurnInfo<'_>) -> bool + Send + Sync> = Arc::new(enabled);
        self.forget();
        for tool in &mut self.tools {
            tool.add_enabled(Arc::clone(&enabled));
        }
        self
    }

    fn definition_mut(&mut self, name: &str) -> Result<&mut ToolDefinition, ToolSetError> {
        self.forget();
        self.place(name)
            .and_then(|at| self.tools.get_mut(at))
            .map(Tool::definition_mut)
            .ok_or_else(|| ToolSetError::missing(name))
    }
}

fn ends(name: &str) -> (usize, Ends) {
    (name.len(), Ends::of(name.as_bytes()))
}

impl fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// What a model is told of a set of tools, sorted by name. Cheap to clone; does not follow later changes of the set.
#[derive(Debug, Clone, Default)]
pub struct Definitions(Arc<Kept>);

#[derive(Debug, Default)]
struct Kept {
    list: Box<[Arc<ToolDefinition>]>,
    #[cfg(feature = "providers")]
    memory: Memory,
}

impl Definitions {
    /// Definitions without tools behind them, for tests of what a model is told.
    #[cfg(all(test, feature = "providers"))]
    pub(crate) fn of(definitions: impl IntoIterator<Item = ToolDefinition>) -> Self {
        Self::new(definitions.into_iter().map(Arc::new))
    }

    fn new(list: impl Iterator<Item = Arc<ToolDefinition>>) -> Self {
        Self(Arc::new(Kept {
            list: list.collect(),
            #[cfg(feature = "providers")]
            memory: Memory::default(),
        }))
    }

    /// The definitions in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &ToolDefinition> {
        self.0.list.iter().map(|definition| &**definition)
    }

    /// The definition of this name, if it was offered.
    pub fn get(&self, name: &str) -> Option<&ToolDefinition> {
        let list = &self.0.list;
        list.binary_search_by(|definition| (*definition.name).cmp(name))
            .ok()
            .and_then(|at| list.get(at))
            .map(|definition| &**definition)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.list.is_empty()
    }

    /// A hash of all that the definitions say: it changes when a prompt cache is lost.
    pub fn fingerprint(&self) -> Fingerprint {
        let each: Vec<String> = self
            .iter()
            .map(|tool| format!("{}{}", tool.fingerprint(), tool.own.told()))
            .collect();
        Fingerprint::of(&each.join(" "))
    }

    pub(super) fn shared(&self) -> &[Arc<ToolDefinition>] {
        &self.0.list
    }

    #[cfg(feature = "providers")]
    pub(super) fn memory(&self) -> &Memory {
        &self.0.memory
    }
}

/// The strictest rule of the three protocols: Chat Completions'.
fn is_valid_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// What a model must be able to rely on before it is told of a tool.
pub(super) fn check_definition(definition: &ToolDefinition) -> Result<(), ToolSetError> {
    let (name, origin) = (definition.name.clone(), definition.origin);
    if !is_valid_name(&name) {
        return Err(ToolSetError::name(name, origin));
    }
    if definition.description.trim().is_empty() {
        return Err(ToolSetError::description(name, origin));
    }
    Ok(())
}
