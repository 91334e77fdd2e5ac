//! What all protocols do with the parts of a reply, with content, and with a tool's result.

use crate::message::{Content, Image, ImageSource, Part, PartKind, ToolResult};
use std::borrow::Cow;

/// The parts of a reply up to the last that is sent and is more than reasoning.
///
/// Reasoning that leads to nothing is refused: by Anthropic (`The final block in an assistant message cannot be thinking`),
/// and by OpenAI Responses (`provided without its required following item`).
pub(super) fn leading_somewhere(parts: &[Part], is_sent: impl Fn(&Part) -> bool) -> &[Part] {
    let is_reasoning = |part: &Part| matches!(part.kind, PartKind::Reasoning(_));
    let last = parts
        .iter()
        .rposition(|part| !is_reasoning(part) && is_sent(part));
    let (leading, _) = parts.split_at(last.map_or(0, |last| last + 1));
    leading
}

/// One piece of content, as a model reads it.
pub(super) enum Piece<'a> {
    Text(Cow<'a, str>),
    Image(&'a Image),
}

/// The pieces of content. For a model that does not see, one line stands in place of each run of images.
pub(super) fn pieces(content: &[Content], sees: bool) -> impl Iterator<Item = Piece<'_>> {
    let is_image = |piece: &Content| matches!(piece, Content::Image(_));
    content
        .chunk_by(move |one, next| !sees && is_image(one) && is_image(next))
        .filter_map(move |run| {
            Some(match run.first()? {
                Content::Text { text } => Piece::Text(text.into()),
                Content::Image(image) if sees => Piece::Image(image),
                Content::Image(_) => Piece::Text(unseen(run.len())),
            })
        })
}

fn unseen(images: usize) -> Cow<'static, str> {
    match images {
        1 => "(an image, which this model cannot see)".into(),
        images => format!("({images} images, which this model cannot see)").into(),
    }
}

/// The images of a result that the model sees.
pub(super) fn images(result: &ToolResult, sees: bool) -> impl Iterator<Item = &Image> {
    pieces(&result.content, sees).filter_map(|piece| match piece {
        Piece::Image(image) => Some(image),
        Piece::Text(_) => None,
    })
}

/// The text of a result; never empty, which servers refuse.
pub(super) fn text(result: &ToolResult, sees: bool) -> String {
    let texts: Vec<Cow<'_, str>> = pieces(&result.content, sees)
        .filter_map(|piece| match piece {
            Piece::Text(text) => Some(text),
            Piece::Image(_) => None,
        })
        .collect();
    let text = texts.join("\n");
    match (
        text.trim().is_empty(),
        images(result, sees).next().is_some(),
    ) {
        (false, _) => text,
        (true, true) => "(the images follow)".to_owned(),
        (true, false) => "(no output)".to_owned(),
    }
}

/// The text of a result for a protocol without a flag for errors: the text says it.
pub(super) fn marked_text(result: &ToolResult, sees: bool) -> String {
    let text = text(result, sees);
    let says_so = text
        .get(..5)
        .is_some_and(|start| start.eq_ignore_ascii_case("error"));
    if result.is_error() && !says_so {
        format!("error: {text}")
    } else {
        text
    }
}

/// The address of an image, its bytes in a `data:` address if it has them here.
pub(super) fn image_address(image: &Image) -> Cow<'_, str> {
    match &image.source {
        ImageSource::Url { url } => url.into(),
        ImageSource::Base64 { media_type, data } => {
            format!("data:{media_type};base64,{data}").into()
        }
    }
}
