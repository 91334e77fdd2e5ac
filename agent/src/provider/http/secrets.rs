use memchr::memmem;

/// Texts that may stand in no message and no file: the key, and the values of added headers.
#[derive(Clone, Default)]
pub(super) struct Secrets(Vec<Box<str>>);

impl Secrets {
    pub(super) fn key(&mut self, key: &str) {
        // Shorter ones are words, and taking them out would only say what they are.
        if key.len() >= 8 && !self.0.iter().any(|known| **known == *key) {
            self.0.push(key.into());
            // The longer first, or a part of one would be left.
            self.0.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        }
    }

    /// Adds the value of a header, and each of its words: `Bearer x` is repeated as `x`.
    pub(super) fn header(&mut self, value: &str) {
        for secret in std::iter::once(value).chain(value.split_whitespace()) {
            // `assistant` is no secret, and without it no answer could be read.
            let is_word = secret.len() < 16 && secret.bytes().all(|byte| byte.is_ascii_lowercase());
            if !is_word {
                self.key(secret);
            }
        }
    }

    /// The text with a word in place of each.
    pub(super) fn without(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.0 {
            text = text.replace(&**secret, "[secret]");
        }
        text
    }

    /// The text with as many stars in place of each.
    pub(super) fn masked(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.0 {
            text = text.replace(&**secret, &"*".repeat(secret.len()));
        }
        text
    }

    /// Puts as many stars in place of each, so that every other byte stays where it is.
    pub(super) fn mask(&self, bytes: &mut [u8]) {
        for secret in &self.0 {
            let found: Vec<usize> = memmem::find_iter(bytes, secret.as_bytes()).collect();
            for at in found {
                if let Some(found) = bytes.get_mut(at..at + secret.len()) {
                    found.fill(b'*');
                }
            }
        }
    }
}
