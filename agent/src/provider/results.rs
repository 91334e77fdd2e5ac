//! What all protocols do with a tool's result.

use crate::message::{Content, Image, ImageSource, ToolResult};
use std::borrow::Cow;

/// The images of a result.
pub(super) fn images(result: &ToolResult) -> impl Iterator<Item = &Image> {
    result.content.iter().filter_map(|piece| match piece {
        Content::Image(image) => Some(image),
        Content::Text { .. } => None,
    })
}

/// The text of a result; never empty, which servers refuse.
pub(super) fn text(result: &ToolResult) -> String {
    let text = result.text();
    match (text.trim().is_empty(), images(result).next().is_some()) {
        (false, _) => text,
        (true, true) => "(the images follow)".to_owned(),
        (true, false) => "(no output)".to_owned(),
    }
}

/// The text of a result for a protocol without a flag for errors: the text says it.
pub(super) fn marked_text(result: &ToolResult) -> String {
    let text = text(result);
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
