use super::file_system::{Entry, Kind};
use super::files::Desk;
use super::guard::{is_guarded, is_guarded_name, is_version_control_name};
use super::ignored::Ignored;
use super::limits::count;
use super::path::InnerPath;
use crate::tool::{ToolContext, ToolError};
use std::io::ErrorKind;
use std::ops::ControlFlow;

/// The deepest that is gone, in folders: no project is deeper, and a hostile tree ends somewhere.
const DEEPEST: usize = 100;

/// A way through everything below a folder, in the order of full paths' bytes.
///
/// What is met is met in that order at once, since a folder sorts as its name with a `/`: nothing has to be collected
/// and sorted before a cut, and a caller that has enough stops the walk there. One folder of each level is in memory.
/// Links are not followed, so that it ends, and meets every file once.
pub(crate) struct Walk<'a> {
    desk: &'a Desk,
    cx: &'a ToolContext,
    options: Options,
    /// It began at what is guarded, to which somebody agreed.
    is_open: bool,
    passed: Passed,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// So many levels.
    pub(crate) depth: usize,
    /// Folders are met too, each before what is in it.
    pub(crate) folders: bool,
    /// So is what ignore files name.
    pub(crate) ignored: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            depth: DEEPEST,
            folders: false,
            ignored: false,
        }
    }
}

/// What was passed over on the way.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    guarded: Vec<InnerPath>,
    unreadable: Vec<InnerPath>,
    too_deep: usize,
    no_name: usize,
}

type Visit<'v> = &'v mut dyn FnMut(&InnerPath, &Entry) -> ControlFlow<()>;

impl<'a> Walk<'a> {
    pub(crate) fn new(desk: &'a Desk, cx: &'a ToolContext, options: Options) -> Self {
        Self {
            desk,
            cx,
            options,
            is_open: false,
            passed: Passed::default(),
        }
    }

    /// Shows `visit` what is below `folder`, until it has enough.
    pub(crate) fn run(mut self, folder: &InnerPath, visit: Visit<'_>) -> Result<Passed, ToolError> {
        self.is_open = is_guarded(folder);
        let mut ignored = Ignored::above(&*self.desk.files, folder, self.options.ignored);
        match self.folder(folder, 1, &mut ignored, visit) {
            Ok(_) => Ok(self.passed),
            Err(Stopped::Cancelled) => {
                Err(ToolError::new("the search was cancelled before it ended"))
            }
            Err(Stopped::Failed(error)) => Err(error),
        }
    }

    fn folder(
        &mut self,
        folder: &InnerPath,
        level: usize,
        ignored: &mut Ignored,
        visit: Visit<'_>,
    ) -> Result<ControlFlow<()>, Stopped> {
        if self.cx.is_cancelled() {
            return Err(Stopped::Cancelled);
        }
        let mut entries = match self.desk.files.list(folder) {
            Ok(entries) => entries,
            Err(error) if level == 1 => {
                return Err(Stopped::Failed(self.desk.sentence(folder, &error)));
            }
            // It went, or became a link, after its folder was read.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(ControlFlow::Continue(()));
            }
            Err(_) => {
                self.passed.unreadable.push(folder.clone());
                return Ok(ControlFlow::Continue(()));
            }
        };
        entries.sort_by(|one, other| place(one).cmp(place(other)));
        let layers = ignored.enter(&*self.desk.files, folder, &entries);
        let mut flow = ControlFlow::Continue(());
        for entry in &entries {
            flow = self.entry(folder, entry, level, ignored, visit)?;
            if flow.is_break() {
                break;
            }
        }
        ignored.leave(layers);
        Ok(flow)
    }

    fn entry(
        &mut self,
        folder: &InnerPath,
        entry: &Entry,
        level: usize,
        ignored: &mut Ignored,
        visit: Visit<'_>,
    ) -> Result<ControlFlow<()>, Stopped> {
        let go_on = Ok(ControlFlow::Continue(()));
        if !entry.has_name {
            self.passed.no_name += 1;
            return go_on;
        }
        let path = folder.join(&entry.name);
        let is_folder = entry.kind == Kind::Folder;
        if !self.is_open && is_version_control_name(&entry.name) || ignored.names(&path, is_folder)
        {
            return go_on;
        }
        if !self.is_open && is_guarded_name(&entry.name) {
            self.passed.guarded.push(path);
            return go_on;
        }
        match entry.kind {
            Kind::File => return Ok(visit(&path, entry)),
            Kind::Folder => {}
            Kind::Link | Kind::Other => return go_on,
        }
        if self.options.folders && visit(&path, entry).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if level < self.options.depth {
            return self.folder(&path, level + 1, ignored, visit);
        }
        self.passed.too_deep += usize::from(self.options.depth == DEEPEST);
        go_on
    }
}

enum Stopped {
    Cancelled,
    Failed(ToolError),
}

/// Where an entry stands among the full paths.
fn place(entry: &Entry) -> impl Iterator<Item = u8> {
    let end = (entry.kind == Kind::Folder).then_some(b'/');
    entry.name.bytes().chain(end)
}

impl Passed {
    /// What was passed over, in words.
    pub(crate) fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        if !self.guarded.is_empty() {
            notices.push(format!(
                "left out, since they hold secrets: {}",
                some(&self.guarded)
            ));
        }
        if !self.unreadable.is_empty() {
            notices.push(format!(
                "folders that could not be read: {}",
                some(&self.unreadable)
            ));
        }
        if self.too_deep > 0 {
            notices.push(format!(
                "{} deeper than {DEEPEST} levels left out",
                count(self.too_deep, "folder")
            ));
        }
        if self.no_name > 0 {
            notices.push(format!(
                "{} that are no UTF-8 left out",
                count(self.no_name, "name")
            ));
        }
        notices
    }
}

/// The first of many paths, and how many more there are.
pub(crate) fn some(paths: &[InnerPath]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = paths.iter().take(SHOWN).map(ToString::to_string).collect();
    match paths.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
