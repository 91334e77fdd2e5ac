//! What is too large for the model: kept elsewhere, or cut.

use super::limits::Caps;
use crate::message::{Content, ToolCall};
use crate::tool::{Artifact, ArtifactStore, CallEnd, READ_ARTIFACT, Shown};
use serde_json::{Value, json};

/// How much of an offloaded result the model still reads.
const HEAD: usize = 2048;
const TAIL: usize = 1024;

/// Moves the text of a result that has at least so many bytes into the store, and leaves head, tail and a reference. If the
/// store fails, the result is left as it was.
pub(super) async fn offload(
    end: &mut CallEnd,
    call: &ToolCall,
    least: usize,
    store: &dyn ArtifactStore,
) {
    if text_bytes(&end.content) < least {
        return;
    }
    let text = all_text(&end.content);
    let whole = text.len();
    let artifact = Artifact::new(call.name.as_str(), call.id.as_str(), text.as_str());
    match store.put(artifact).await {
        Ok(id) => {
            let note = format!(
                "[.. this result has {whole} bytes; all of it is the artifact `{id}`, which `{READ_ARTIFACT}` reads ..]"
            );
            // Of what is hardly longer than the threshold, most is left out all the same.
            let (head, tail) = (HEAD.min(whole / 2), TAIL.min(whole / 4));
            set_text(&mut end.content, shortened(&text, head, tail, &note));
        }
        Err(error) => {
            tracing::warn!(tool = call.name, %error, "a result could not be kept as an artifact");
        }
    }
}

/// Cuts a result to what it may have, whoever made it: the model reads head and tail, and so does a person. Data and details
/// that are larger give way to their size, and so do images that go beyond their share.
pub(super) fn cut(end: &mut CallEnd, most: Caps) {
    if text_bytes(&end.content) > most.text {
        let text = all_text(&end.content);
        set_text(&mut end.content, cut_text(&text, most.text));
    }
    leave_out_images(&mut end.content, most.images);
    if let Shown::Text(text) = &mut end.shown
        && text.len() > most.text
    {
        *text = cut_text(text, most.text);
    }
    for value in [&mut end.data, &mut end.details].into_iter().flatten() {
        let bytes = json_bytes(value);
        if bytes > most.text {
            **value = json!({ "left_out_bytes": bytes });
        }
    }
}

/// Puts a sentence in the place of each image that does not fit beside those before it.
fn leave_out_images(content: &mut [Content], most: usize) {
    let mut room = most;
    for piece in content {
        if matches!(piece, Content::Image(_)) {
            let bytes = piece.size();
            match room.checked_sub(bytes) {
                Some(left) => room = left,
                None => {
                    *piece = Content::text(format!(
                        "[.. an image of {bytes} bytes is left out here: the images of a result have at most {most} ..]"
                    ));
                }
            }
        }
    }
}

/// Head, tail and what is missing between them, in so many bytes; where not even the sentence fits, it is all there is.
fn cut_text(text: &str, most: usize) -> String {
    let whole = text.len();
    let note = |left_out: usize| {
        format!(
            "[.. about {left_out} of {whole} bytes are left out here; ask for less at a time ..]"
        )
    };
    let room = most.saturating_sub(note(whole).len() + 2);
    // Twice as much of the head as of the tail, which is what fits best with what tools print.
    let (head, tail) = (room / 3 * 2, room / 3);
    shortened(text, head, tail, &note(whole - head - tail))
}

fn text_bytes(content: &[Content]) -> usize {
    content
        .iter()
        .filter_map(Content::as_text)
        .map(str::len)
        .sum()
}

fn all_text(content: &[Content]) -> String {
    let texts: Vec<&str> = content.iter().filter_map(Content::as_text).collect();
    texts.join("\n")
}

/// Puts one text in the place of all of them; what is no text stays behind it.
fn set_text(content: &mut Vec<Content>, text: String) {
    content.retain(|content| content.as_text().is_none());
    content.insert(0, Content::Text { text });
}

fn shortened(text: &str, head: usize, tail: usize, note: &str) -> String {
    let head = text
        .get(..text.floor_char_boundary(head))
        .unwrap_or_default();
    let from = text.ceil_char_boundary(text.len().saturating_sub(tail).max(head.len()));
    let tail = text.get(from..).unwrap_or_default();
    format!("{head}\n{note}\n{tail}")
}

/// How many bytes a value has as JSON, without writing it.
fn json_bytes(value: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.saturating_add(bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting cannot fail, and a `Value` has JSON.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}
