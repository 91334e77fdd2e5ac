use std::borrow::Cow;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};

/// An id for a call that came without one.
///
/// The same for the same answer, so that decoding a recording twice gives equal replies, and different from answer to
/// answer; where the answer has no id either, chance has to do. Nine letters and digits, which every server takes
/// (Mistral takes nothing else).
pub(super) fn made_id(answer_id: &str, index: usize) -> String {
    let mut hash = if answer_id.is_empty() {
        RandomState::new().hash_one(index)
    } else {
        let mut hasher = DefaultHasher::new();
        (answer_id, index).hash(&mut hasher);
        hasher.finish()
    };
    let mut id = String::with_capacity(9);
    for _ in 0..9 {
        let digit = u32::try_from(hash % 36).unwrap_or_default();
        id.extend(char::from_digit(digit, 36));
        hash /= 36;
    }
    id
}

/// The id as every protocol takes it: 1 to 64 letters, digits, `_` and `-`. An id that is something else (it came from
/// another provider) becomes one of its own, the same for the call and for its result.
pub(super) fn safe_id(id: &str) -> Cow<'_, str> {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if (1..=64).contains(&id.len()) && id.bytes().all(letter) {
        return Cow::Borrowed(id);
    }
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    Cow::Owned(format!("call_{:016x}", hasher.finish()))
}
