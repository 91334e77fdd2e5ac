//! JSON pointers (RFC 6901), as text and as URI fragments.

use std::borrow::Cow;

/// Adds a key to a pointer.
pub(super) fn push_key(pointer: &mut String, key: &str) {
    pointer.reserve(key.len() + 1);
    pointer.push('/');
    if !key.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
        pointer.push_str(key);
        return;
    }
    for char in key.chars() {
        match char {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// The first key of a pointer; nothing, where it points to the whole.
pub(super) fn first_key(pointer: &str) -> Option<String> {
    pointer.split('/').nth(1).map(key)
}

/// A key as it is, from how a pointer has it.
pub(super) fn key(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// The name behind `#/$defs/`, or the whole reference: `%`-escapes undone first, then `~1`, then `~0`.
pub(super) fn unescape(reference: &str) -> Cow<'_, str> {
    if !reference.contains(['~', '%']) {
        return Cow::Borrowed(reference);
    }
    let bytes = reference.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let code = (*byte == b'%')
            .then(|| reference.get(at + 1..at + 3))
            .flatten();
        if let Some(code) = code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            out.push(code);
            at += 3;
        } else {
            out.push(*byte);
            at += 1;
        }
    }
    Cow::Owned(key(&String::from_utf8_lossy(&out)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_escape_and_references_unescape() {
        let mut pointer = String::new();
        push_key(&mut pointer, "a/b~c");
        assert_eq!(pointer, "/a~1b~0c");
        assert_eq!(first_key(&pointer).as_deref(), Some("a/b~c"));
        assert_eq!(first_key("/~01/x").as_deref(), Some("~1"));
        assert_eq!(first_key(""), None);
        assert_eq!(unescape("#/$defs/a~1b~0c"), "#/$defs/a/b~c");
        assert_eq!(unescape("#/$defs/a%20b%7E1"), "#/$defs/a b/");
        assert_eq!(unescape("#/$defs/~01"), "#/$defs/~1");
    }
}
