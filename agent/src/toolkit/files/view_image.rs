use super::desk::{Desk, not_text};
use super::reader::picture;
use crate::message::{Content as Said, Message, Transcript};
use crate::model::{Model, Request, RequestOptions};
use crate::tool::{Definitions, ToolContext, ToolError};
use crate::toolkit::approval;
use crate::toolkit::text::{self, Content};
use agent_macros::tool;
use std::fmt;
use std::sync::Arc;

/// The tool `view_image`: another model, one that sees, is asked about an image.
#[derive(Clone)]
pub struct ImageViewer {
    desk: Arc<Desk>,
    model: Arc<dyn Model>,
}

impl ImageViewer {
    pub(crate) fn new(desk: Arc<Desk>, model: Arc<dyn Model>) -> Self {
        Self { desk, model }
    }
}

#[tool]
impl ImageViewer {
    /// Ask a question about an image: what is on it, what it says. A model that sees answers.
    #[tool(read_only, parallel, timeout = "120s", needs_approval = approval::path(path))]
    async fn view_image(
        &self,
        /// The image, relative to the working folder: PNG, JPEG, GIF or WebP.
        path: String,
        /// The question.
        #[arg(length = 1..=4000)]
        question: String,
        cx: &ToolContext,
    ) -> Result<String, ToolError> {
        let desk = Arc::clone(&self.desk);
        let image = tokio::task::spawn_blocking(move || {
            let path = desk.find(&path)?;
            let bytes = desk.bytes(&path)?;
            match text::read(&bytes) {
                Content::Image(media_type) => picture(media_type, &bytes)
                    .map_err(|why| ToolError::new(format!("{path} {why}"))),
                other => Err(ToolError::new(format!(
                    "{path} is no image that can be shown: {}",
                    not_text(&other, &bytes)
                ))),
            }
        });
        let image = image.await.map_err(ToolError::internal)??;
        let asked = Message::User {
            content: vec![Said::Image(image), Said::text(question)],
        };
        let transcript = Transcript::from(vec![asked]);
        let (tools, options) = (Definitions::default(), RequestOptions::default());
        let request = Request::new(&transcript, &tools, &options);
        let asked = self.model.reply(request);
        let reply = cx.cancellation().run_until_cancelled(asked).await;
        let reply = reply.ok_or_else(|| ToolError::new("cancelled before the model answered"))?;
        Ok(reply?.text())
    }
}

impl fmt::Debug for ImageViewer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ImageViewer")
            .field("model", &self.model.name())
            .finish_non_exhaustive()
    }
}
