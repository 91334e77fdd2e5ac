//! Files: looked at, and changed with care.
//!
//! Read `desk` (what both groups share: the root, the guard, what was read), `reader` and `writer` (the tools), then what
//! they are made of: `lines` (a file as a model reads it), `document` and `edit` (exact replacement), `patch` (several
//! files at once), `nearest` (what the model may have meant), and `view_image`.

mod desk;
mod document;
mod edit;
mod lines;
mod nearest;
mod patch;
mod reader;
mod view_image;
mod writer;

pub(crate) use desk::{Desk, not_text};
pub use edit::Edit;
pub use reader::FileReader;
pub use view_image::ImageViewer;
pub use writer::FileWriter;
