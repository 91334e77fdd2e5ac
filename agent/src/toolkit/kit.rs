use super::files::{Desk, FileReader, FileWriter, ImageViewer};
use super::git::Git;
use super::search::Search;
use super::{FileSystem, Limits, Todo, Workspace, ask_user};
use crate::model::Model;
use crate::tool::list::kind::Itself;
use crate::tool::{IntoTools, Tool, ToolSetError, Tools};
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The built-in tools of one folder, for an agent's `.tools(..)` or `.extension(..)`: [which there are](crate::toolkit).
///
/// One toolkit is for one conversation: what the model has read of a file, and its list of things to do, are kept in it.
///
/// ```
/// use agent::toolkit::Toolkit;
/// use agent::tools;
///
/// # let root = std::env::temp_dir();
/// let set = tools![..Toolkit::new(root)?.read_only()].into_set()?;
/// assert_eq!(
///     set.names().collect::<Vec<_>>(),
///     ["find", "git_diff", "git_log", "git_status", "glob", "grep", "list", "read", "todo", "tree"]
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use = "a toolkit does nothing until an agent gets it with `.tools(..)` or `.extension(..)`"]
pub struct Toolkit {
    files: Arc<dyn FileSystem>,
    workspace: Option<Workspace>,
    limits: Limits,
    images: bool,
    writes: bool,
    todo: Todo,
    sees: Option<Arc<dyn Model>>,
    asks: Option<Tool>,
}

impl Toolkit {
    /// The tools of the folder at `root`.
    ///
    /// # Errors
    ///
    /// When there is no folder, or it cannot be opened.
    pub fn new(root: impl AsRef<Path>) -> io::Result<Self> {
        let workspace = Workspace::open(root)?;
        let mut kit = Self::over(Arc::new(workspace.clone()));
        kit.workspace = Some(workspace);
        Ok(kit)
    }

    /// The tools for files and search over another backend. Those that need a folder of this machine, git among them,
    /// are left out.
    pub fn over(files: Arc<dyn FileSystem>) -> Self {
        Self {
            files,
            workspace: None,
            limits: Limits::default(),
            images: true,
            writes: true,
            todo: Todo::new(),
            sees: None,
            asks: None,
        }
    }

    /// Without the tools that change files.
    pub fn read_only(mut self) -> Self {
        self.writes = false;
        self
    }

    /// For a model that does not see: `read` says of an image what it is, in place of showing it.
    pub fn without_images(mut self) -> Self {
        self.images = false;
        self
    }

    /// Other limits of what is read and said.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// With `view_image`, which asks `model` about images.
    pub fn view_image(mut self, model: impl Model + 'static) -> Self {
        self.sees = Some(Arc::new(model));
        self
    }

    /// With `ask_user`, which pauses the run until a person answers.
    ///
    /// # Errors
    ///
    /// As [`ask_user`](super::ask_user).
    pub fn ask_user(mut self) -> Result<Self, ToolSetError> {
        self.asks = Some(ask_user()?);
        Ok(self)
    }

    /// The folder, where the tools work in one of this machine.
    pub fn workspace(&self) -> Option<&Workspace> {
        self.workspace.as_ref()
    }

    /// The list that `todo` keeps.
    pub fn todo(&self) -> &Todo {
        &self.todo
    }
}

/// What was asked for, and nothing else.
impl<S: Send + Sync + 'static> IntoTools<S, Itself> for Toolkit {
    fn into_tools(self) -> Tools<S> {
        let mut tools = Tools::none();
        let desk = Arc::new(Desk::new(self.files, self.limits));
        tools.extend(FileReader::new(Arc::clone(&desk), self.images));
        tools.extend(Search::new(Arc::clone(&desk)));
        if self.writes {
            tools.extend(FileWriter::new(Arc::clone(&desk)));
        }
        if let Some(workspace) = self.workspace {
            tools.extend(Git::new(workspace, self.limits));
        }
        tools.extend(self.todo);
        if let Some(model) = self.sees {
            tools.extend(ImageViewer::new(desk, model));
        }
        if let Some(ask) = self.asks {
            tools.extend(ask);
        }
        tools
    }
}

impl fmt::Debug for Toolkit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Toolkit")
            .field("root", &self.files.root())
            .field("writes", &self.writes)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
