use super::body::Body;
use super::own_options::{OwnOptions, ProviderToolOptions};
use super::param::RunDataType;
use super::permission::Rule;
use super::policy::ToolPolicy;
use super::set_error::ToolSetError;
use super::{CallInfo, Hook, TurnInfo};
use crate::json::Object;
use crate::schema::{Fingerprint, Schema};
use std::fmt;
use std::sync::Arc;

/// What a model is told of a tool, and what the loop must know of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The name that the model calls: `^[a-zA-Z0-9_-]{1,64}$`.
    pub name: Arc<str>,
    /// What the tool does, for the model.
    pub description: Arc<str>,
    /// What a person sees in place of the name.
    pub label: Option<Arc<str>>,
    /// The schema of its arguments: always one object.
    pub parameters: Schema,
    /// Whether the provider is to enforce the schema: where nothing is lost, always, or never.
    pub strict: Option<bool>,
    /// What it promises and what it needs.
    pub policy: ToolPolicy,
    /// Where it was defined.
    pub origin: Origin,
    /// What single protocols are told beside.
    pub(crate) own: OwnOptions,
}

impl ToolDefinition {
    /// A hash of what a model is told: name, description and schema. It changes when any of them does.
    pub fn fingerprint(&self) -> Fingerprint {
        let told = [&*self.name, &*self.description, self.parameters.as_json()];
        Fingerprint::of(&serde_json::json!(told).to_string())
    }
}

/// Where a tool was defined, for messages about two tools of one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The module, or what made the tool.
    pub module: &'static str,
    /// The source file.
    pub file: &'static str,
    /// The line in it.
    pub line: u32,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}:{})", self.module, self.file, self.line)
    }
}

/// A tool: a definition and the body behind it. Cheap to clone.
///
/// Only the macros and the checked constructors make one, so every `Tool` has a valid name, a schema that compiled, and
/// a body that runs on nothing but checked arguments.
#[derive(Clone)]
pub struct Tool {
    definition: Arc<ToolDefinition>,
    body: Arc<dyn Body>,
    around: Arc<Around>,
}

/// What stands around a tool, apart from what the model is told of it.
#[derive(Clone, Default)]
struct Around {
    needs: Vec<RunDataType>,
    rewrites: Vec<Rewrite>,
    permissions: Vec<Rule>,
    hooks: Vec<Arc<dyn Hook>>,
    enabled: Vec<Enabled>,
}

/// Whether a tool is offered in a turn.
type Enabled = Arc<dyn Fn(&TurnInfo<'_>) -> bool + Send + Sync>;

/// A change that the host makes to arguments which were not accepted as they came.
pub(super) type Rewrite = Arc<dyn Fn(&mut Object<'_>) + Send + Sync>;

impl Tool {
    pub(super) fn of_body(definition: ToolDefinition, body: Arc<dyn Body>) -> Self {
        Self {
            definition: Arc::new(definition),
            body,
            around: Arc::default(),
        }
    }

    /// The same tool, which needs this data of each run.
    pub(super) fn with_needs(mut self, needs: Vec<RunDataType>) -> Self {
        self.around_mut().needs = needs;
        self
    }

    /// The types of data that a run must be given before this tool can be offered in it: those of its
    /// [`RunData`](super::RunData) parameters.
    pub fn needs(&self) -> &[RunDataType] {
        &self.around.needs
    }

    /// The same tool, which changes arguments that do not fit before it gives up on them: it fills in a default, renames
    /// a key, undoes a provider's quirk.
    ///
    /// The rewrite sees the object that the model sent, or what it was repaired to, when that does not pass the check;
    /// coercion and the check come after it. It never sees text that was cut off, cannot be read or has a key twice. Several rewrites run
    /// in the order in which they were added. One that panics ends the call.
    ///
    /// ```
    /// use agent::Tool;
    ///
    /// # fn shown(tool: Tool) -> Tool {
    /// tool.with_rewrite(|arguments| {
    ///     if let Some(town) = arguments.remove("town") {
    ///         arguments.push("city", town);
    ///     }
    /// })
    /// # }
    /// ```
    #[must_use]
    pub fn with_rewrite(
        mut self,
        rewrite: impl Fn(&mut Object<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.add_rewrite(Arc::new(rewrite));
        self
    }

    pub(super) fn add_rewrite(&mut self, rewrite: Rewrite) {
        self.around_mut().rewrites.push(rewrite);
    }

    pub(super) fn rewrites(&self) -> &[Rewrite] {
        &self.around.rewrites
    }

    /// The same tool, with a rule over its calls: see [`Permission`](super::Permission).
    ///
    /// ```
    /// use agent::{Permission, Tool};
    ///
    /// # fn shown(tool: Tool) -> Tool {
    /// tool.with_permission(|call| match call.arguments().contains("production") {
    ///     true => Permission::Ask("it touches production".to_owned()),
    ///     false => Permission::Allow,
    /// })
    /// # }
    /// ```
    #[must_use]
    pub fn with_permission(
        mut self,
        rule: impl Fn(&CallInfo<'_>) -> super::Permission + Send + Sync + 'static,
    ) -> Self {
        self.add_permission(Rule::new(rule));
        self
    }

    pub(super) fn add_permission(&mut self, rule: Rule) {
        self.around_mut().permissions.push(rule);
    }

    pub(crate) fn permissions(&self) -> &[Rule] {
        &self.around.permissions
    }

    /// The same tool, with a hook around its calls.
    #[must_use]
    pub fn with_hook(mut self, hook: impl Hook + 'static) -> Self {
        self.add_hook(Arc::new(hook));
        self
    }

    pub(super) fn add_hook(&mut self, hook: Arc<dyn Hook>) {
        self.around_mut().hooks.push(hook);
    }

    pub(crate) fn hooks(&self) -> &[Arc<dyn Hook>] {
        &self.around.hooks
    }

    /// The same tool, offered only in turns for which `enabled` says yes. In the others it does not exist for the model,
    /// and a call of it is one of an unknown tool. A predicate that panics says no.
    #[must_use]
    pub fn with_enabled(
        mut self,
        enabled: impl Fn(&TurnInfo<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.add_enabled(Arc::new(enabled));
        self
    }

    /// The same tool, with what one protocol alone can be told of it; in place of such options for the same protocol.
    ///
    /// # Errors
    ///
    /// When an example among them breaks the tool's schema, or one would replace what the definition says by itself.
    pub fn for_protocol(mut self, options: impl ProviderToolOptions) -> Result<Self, ToolSetError> {
        self.definition_mut().take_own(options)?;
        Ok(self)
    }

    pub(super) fn add_enabled(&mut self, enabled: Enabled) {
        self.around_mut().enabled.push(enabled);
    }

    /// Whether it is offered in this turn.
    pub(crate) fn is_enabled(&self, turn: &TurnInfo<'_>) -> bool {
        self.around.enabled.iter().all(|enabled| {
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| enabled(turn)))
                .unwrap_or(false)
        })
    }

    /// Whether nothing hides it in some turns.
    pub(crate) fn is_always_offered(&self) -> bool {
        self.around.enabled.is_empty() && !self.definition.policy.deferred
    }

    fn around_mut(&mut self) -> &mut Around {
        Arc::make_mut(&mut self.around)
    }

    /// What the model is told of it.
    pub fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    /// The name that the model calls.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    pub(crate) fn shared_definition(&self) -> &Arc<ToolDefinition> {
        &self.definition
    }

    pub(super) fn definition_mut(&mut self) -> &mut ToolDefinition {
        Arc::make_mut(&mut self.definition)
    }

    pub(super) fn body(&self) -> &dyn Body {
        &*self.body
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("definition", &self.definition)
            .finish_non_exhaustive()
    }
}
