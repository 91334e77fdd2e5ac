//! Folders that are gone when the test ends.

use agent::message::ToolResult;
use agent::toolkit::Toolkit;
use agent::{ToolSet, tools};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder with a root `ws` in it, and what is beside that.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("agent-toolkit-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().canonicalize().unwrap().join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("ws")).unwrap();
        Self(folder)
    }

    /// The root that tools get.
    pub(crate) fn root(&self) -> PathBuf {
        self.0.join("ws")
    }

    /// What they must never reach.
    pub(crate) fn outside(&self) -> &Path {
        &self.0
    }

    /// The plain toolkit over the root.
    pub(crate) fn kit(&self) -> Kit {
        Kit::of(Toolkit::new(self.root()).unwrap())
    }

    /// The bytes of a file below the root.
    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.root().join(path)).unwrap()
    }

    /// Puts a file below the root.
    pub(crate) fn file(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Tools, called as a model calls them.
pub(crate) struct Kit(ToolSet);

impl Kit {
    pub(crate) fn of(kit: Toolkit) -> Self {
        Self(tools![..kit].into_set().unwrap())
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.0.names().collect()
    }

    pub(crate) fn set(&self) -> &ToolSet {
        &self.0
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        self.0.call(tool, &arguments.to_string()).await
    }

    /// What a call that succeeds says.
    #[track_caller]
    pub(crate) fn ok(&self, tool: &str, arguments: Value) -> impl Future<Output = String> {
        let caller = std::panic::Location::caller();
        async move {
            let result = self.call(tool, arguments).await;
            assert!(!result.is_error(), "{caller}: {}", result.text());
            result.text()
        }
    }

    /// What a call that fails says.
    #[track_caller]
    pub(crate) fn err(&self, tool: &str, arguments: Value) -> impl Future<Output = String> {
        let caller = std::panic::Location::caller();
        async move {
            let result = self.call(tool, arguments).await;
            assert!(result.is_error(), "{caller}: {}", result.text());
            result.text()
        }
    }
}
