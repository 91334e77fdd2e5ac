use super::Workspace;
use crate::tool::list::kind::Itself;
use crate::tool::{IntoTools, Tools};
use std::io;
use std::path::Path;

/// The built-in tools of one folder, for an agent's `.tools(..)`.
#[derive(Debug, Clone)]
pub struct Toolkit {
    workspace: Workspace,
}

impl Toolkit {
    /// The tools of the folder at `root`.
    ///
    /// # Errors
    ///
    /// When there is no folder, or it cannot be opened.
    pub fn new(root: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self {
            workspace: Workspace::open(root)?,
        })
    }

    /// The folder.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }
}

/// In the order in which they are told to the model.
impl<S: Send + Sync + 'static> IntoTools<S, Itself> for Toolkit {
    fn into_tools(self) -> Tools<S> {
        Tools::none()
    }
}
