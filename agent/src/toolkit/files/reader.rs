use super::desk::{Desk, not_text};
use super::lines;
use crate::message::Image;
use crate::tool::{ToolContext, ToolError, ToolOutput};
use crate::toolkit::approval;
use crate::toolkit::file_system::{Entry, Kind};
use crate::toolkit::limits::{Head, count};
use crate::toolkit::path::shown;
use crate::toolkit::text::{self, Content};
use crate::toolkit::walk::{Options, Walk};
use agent_macros::tool;
use base64::Engine as _;
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The largest image that is put into a request, in bytes and in points; providers refuse more.
const IMAGE_BYTES: usize = 5 * 1024 * 1024;
const IMAGE_POINTS: usize = 40_000_000;

/// The tools that look at files: `read`, `list`, `tree`.
#[derive(Debug, Clone)]
pub struct FileReader {
    desk: Arc<Desk>,
    sees: bool,
}

impl FileReader {
    pub(crate) fn new(desk: Arc<Desk>, sees: bool) -> Self {
        Self { desk, sees }
    }
}

#[tool]
impl FileReader {
    /// Read a file: text with line numbers, or an image. Long files come in pieces.
    #[tool(read_only, idempotent, parallel, needs_approval = approval::path(path))]
    fn read(
        &self,
        /// The file, relative to the working folder.
        path: &str,
        /// The line to begin with, from 1.
        offset: Option<NonZeroU32>,
        /// How many lines at most.
        limit: Option<NonZeroU32>,
    ) -> Result<ToolOutput, ToolError> {
        let path = self.desk.find(path)?;
        let bytes = self.desk.bytes(&path)?;
        let whole = |number: NonZeroU32| number.get() as usize;
        match text::read(&bytes) {
            Content::Text(text) => {
                let offset = offset.map_or(1, whole);
                let shown =
                    lines::numbered(&path, &text, offset, limit.map(whole), self.desk.limits)?;
                self.desk.note(&path, &bytes);
                Ok(shown.into())
            }
            Content::Image(media_type) if self.sees => {
                let image = picture(media_type, &bytes)
                    .map_err(|why| ToolError::new(format!("{path} {why}")))?;
                Ok(ToolOutput::text(format!(
                    "{path} is {}",
                    not_text(&Content::Image(media_type), &bytes)
                ))
                .with_image(image))
            }
            other => Err(ToolError::new(format!(
                "{path} is {}, and cannot be shown",
                not_text(&other, &bytes)
            ))),
        }
    }

    /// List what is in a folder, in the order of the names; folders end in `/`, links in `@`.
    #[tool(read_only, idempotent, parallel, needs_approval = approval::path(path))]
    fn list(
        &self,
        /// The folder, relative to the working folder.
        #[arg(default = ".")]
        path: &str,
    ) -> Result<String, ToolError> {
        let path = self.desk.find(path)?;
        let entries = self
            .desk
            .files
            .list(&path)
            .map_err(|error| self.desk.sentence(&path, &error))?;
        let mut head = Head::new(self.desk.limits);
        for entry in &entries {
            if !head.push(&line(entry)) {
                break;
            }
        }
        let mut notices = Vec::new();
        if entries.is_empty() {
            notices.push(format!("{path} is empty"));
        } else if head.is_full() {
            notices.push(format!("the first {} of {}", head.lines(), entries.len()));
        }
        Ok(head.with(&notices))
    }

    /// Show a folder with the folders in it as a tree. What ignore files name is left out.
    #[tool(read_only, idempotent, parallel, timeout = "60s", needs_approval = approval::path(path))]
    fn tree(
        &self,
        /// The folder, relative to the working folder.
        #[arg(default = ".")]
        path: &str,
        /// How many levels deep.
        #[arg(range = 1..=20, default = 3)]
        depth: u8,
        cx: &ToolContext,
    ) -> Result<String, ToolError> {
        let path = self.desk.find(path)?;
        let mut head = Head::new(self.desk.limits);
        let options = Options {
            depth: depth.into(),
            folders: true,
            ..Options::default()
        };
        let walk = Walk::new(&self.desk, cx, options);
        let above = path.names().count();
        let end = walk.run(&path, &mut |found, entry| {
            let indent = "  ".repeat(found.names().count() - above - 1);
            if head.push(&format!("{indent}{}", line(entry))) {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        let mut notices = end.notices();
        if head.is_full() {
            notices.push(format!(
                "the first {}; there are more",
                count(head.lines(), "line")
            ));
        } else if head.lines() == 0 {
            notices.push(format!("{path} has nothing to show"));
        }
        Ok(head.with(&notices))
    }
}

/// A thing in a folder on one line.
fn line(entry: &Entry) -> String {
    let name = shown(&entry.name);
    let mut line = match entry.kind {
        Kind::File => format!("{name}  {} B", entry.size),
        Kind::Folder => format!("{name}/"),
        Kind::Link => format!("{name}@"),
        Kind::Other => format!("{name}  (no file)"),
    };
    if !entry.has_name {
        line.push_str("  (a name that is no UTF-8)");
    }
    line
}

/// An image for a request, or why it is none.
pub(super) fn picture(media_type: &str, bytes: &[u8]) -> Result<Image, String> {
    if bytes.len() > IMAGE_BYTES {
        return Err(format!(
            "is an image of {} bytes, more than {IMAGE_BYTES}",
            bytes.len()
        ));
    }
    match imagesize::blob_size(bytes) {
        Ok(size) if size.width.saturating_mul(size.height) <= IMAGE_POINTS => {}
        Ok(size) => {
            return Err(format!(
                "is an image of {} x {}, more than {IMAGE_POINTS} points",
                size.width, size.height
            ));
        }
        Err(_) => return Err("begins like an image and is none".to_owned()),
    }
    let data = base64::engine::general_purpose::STANDARD.encode(bytes);
    Ok(Image::base64(media_type, data))
}
