//! What bytes are, said once for all tools: text in some form, an image, or nothing that can be read.

use std::borrow::Cow;

/// What a file has in it.
#[derive(Debug, PartialEq)]
pub(crate) enum Content<'a> {
    Text(Text<'a>),
    Image(&'static str),
    Binary,
}

/// Text without its byte order mark, and the form that it had.
#[derive(Debug, PartialEq)]
pub(crate) struct Text<'a> {
    pub(crate) content: Cow<'a, str>,
    pub(crate) form: Form,
    /// Bytes that are no UTF-8 were replaced: it can be looked at, and not written back.
    pub(crate) is_lossy: bool,
}

/// How a text stands in its file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Form {
    encoding: Encoding,
    has_mark: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Encoding {
    #[default]
    Utf8,
    Utf16Le,
    Utf16Be,
}

/// Says what the bytes of a file are.
pub(crate) fn read(bytes: &[u8]) -> Content<'_> {
    if let Some(media_type) = image_type(bytes) {
        return Content::Image(media_type);
    }
    let (encoding, rest) = match bytes {
        [0xFF, 0xFE, rest @ ..] => (Encoding::Utf16Le, rest),
        [0xFE, 0xFF, rest @ ..] => (Encoding::Utf16Be, rest),
        _ => (Encoding::Utf8, bytes),
    };
    if encoding == Encoding::Utf8 {
        let rest = bytes.strip_prefix(b"\xEF\xBB\xBF");
        let has_mark = rest.is_some();
        let rest = rest.unwrap_or(bytes);
        if memchr::memchr(0, rest).is_some() {
            return Content::Binary;
        }
        let text = String::from_utf8_lossy(rest);
        return Content::Text(Text {
            // A borrowed text is the file's own.
            is_lossy: matches!(text, Cow::Owned(_)),
            content: text,
            form: Form { encoding, has_mark },
        });
    }
    let (pairs, odd) = rest.as_chunks::<2>();
    let units = pairs.iter().map(|pair| match encoding {
        Encoding::Utf16Be => u16::from_be_bytes(*pair),
        _ => u16::from_le_bytes(*pair),
    });
    match char::decode_utf16(units).collect::<Result<String, _>>() {
        Ok(text) if odd.is_empty() && !text.contains('\0') => Content::Text(Text {
            content: text.into(),
            form: Form {
                encoding,
                has_mark: true,
            },
            is_lossy: false,
        }),
        _ => Content::Binary,
    }
}

impl Form {
    /// The bytes of a text in this form.
    pub(crate) fn write(self, text: &str) -> Vec<u8> {
        match self.encoding {
            Encoding::Utf8 if self.has_mark => [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
            Encoding::Utf8 => text.as_bytes().to_vec(),
            Encoding::Utf16Le => std::iter::once(0xFEFF)
                .chain(text.encode_utf16())
                .flat_map(u16::to_le_bytes)
                .collect(),
            Encoding::Utf16Be => std::iter::once(0xFEFF)
                .chain(text.encode_utf16())
                .flat_map(u16::to_be_bytes)
                .collect(),
        }
    }

    /// What is unusual about it, in words.
    pub(crate) fn unusual(self) -> Option<&'static str> {
        match self.encoding {
            Encoding::Utf8 => self.has_mark.then_some("UTF-8 with a byte order mark"),
            Encoding::Utf16Le => Some("UTF-16, little endian"),
            Encoding::Utf16Be => Some("UTF-16, big endian"),
        }
    }
}

/// Whether every line end of a text is `\r\n`. One without line ends has none.
pub(crate) fn is_crlf(text: &str) -> bool {
    let mut ends = memchr::memchr_iter(b'\n', text.as_bytes()).peekable();
    ends.peek().is_some() && ends.all(|end| end > 0 && text.as_bytes().get(end - 1) == Some(&b'\r'))
}

/// A text with `\n` alone at its line ends.
pub(crate) fn with_lf(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        return text.replace("\r\n", "\n").into();
    }
    text.into()
}

/// A text with `\r\n` at its line ends.
pub(crate) fn with_crlf(text: &str) -> String {
    with_lf(text).replace('\n', "\r\n")
}

/// The formats that every provider takes.
fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Option<(String, bool)> {
        match read(bytes) {
            Content::Text(text) => Some((text.content.into_owned(), text.is_lossy)),
            Content::Image(_) | Content::Binary => None,
        }
    }

    #[test]
    fn bytes_are_text_in_one_of_its_forms_or_said_to_be_none() {
        let plain = |text: &str| Some((text.to_owned(), false));
        assert_eq!(text(b"a\nb"), plain("a\nb"));
        assert_eq!(text(b""), plain(""));
        assert_eq!(text(b"\xEF\xBB\xBFa"), plain("a"));
        assert_eq!(text(b"\xFF\xFEa\0\xE9\0"), plain("a\u{e9}"));
        assert_eq!(text(b"\xFE\xFF\0a"), plain("a"));
        assert_eq!(text(b"caf\xE9"), Some(("caf\u{fffd}".to_owned(), true)));
        assert_eq!(text(b"\xFF\xFEa"), None, "half a unit");
        assert_eq!(
            text(&[vec![b'a'; 9000], vec![0]].concat()),
            None,
            "a late NUL"
        );
        assert_eq!(read(b"\x89PNG\r\n\x1a\n"), Content::Image("image/png"));
    }

    #[test]
    fn what_is_written_back_has_the_form_that_it_had() {
        for bytes in [
            &b"a\r\nb"[..],
            b"\xEF\xBB\xBFa\n",
            b"\xFF\xFEa\0\xE9\0",
            b"\xFE\xFF\xD8\x3D\xDE\x00",
        ] {
            match read(bytes) {
                Content::Text(text) => assert_eq!(text.form.write(&text.content), bytes),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn line_ends_are_crlf_where_all_are() {
        for (text, crlf) in [
            ("a\r\nb\r\n", true),
            ("a\r\nb\n", false),
            ("a\n", false),
            ("\n", false),
            ("a", false),
            ("", false),
        ] {
            assert_eq!(is_crlf(text), crlf, "{text:?}");
        }
    }
}
