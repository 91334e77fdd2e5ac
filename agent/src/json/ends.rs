//! Names, compared in words.

/// The first eight bytes of a text and its last eight, which are partly the same where it is short.
///
/// Of texts of the same length they say whether those are the same, up to [`Ends::WHOLE`] bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Ends(u64, u64);

impl Ends {
    /// So many bytes are in the ends.
    pub(crate) const WHOLE: usize = 16;

    #[inline]
    pub(crate) fn of(text: &[u8]) -> Self {
        if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
            return Self(u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        }
        if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
            let half = |half: &[u8; 4]| u32::from_le_bytes(*half).into();
            return Self(half(first), half(last));
        }
        let few = text.iter().fold(0, |few, byte| few << 8 | u64::from(*byte));
        Self(few, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_one_length_are_the_same_if_their_ends_are() {
        for len in 0..=24 {
            let text: Vec<u8> = (1..=len).collect();
            for changed in &text {
                let other: Vec<u8> = text
                    .iter()
                    .map(|byte| if byte == changed { 0 } else { *byte })
                    .collect();
                let is_seen = *changed <= 8 || changed + 8 > len;
                assert_eq!(
                    Ends::of(&text) != Ends::of(&other),
                    is_seen,
                    "{changed} of {len}"
                );
            }
        }
    }
}
