//! How far a string runs on as it stands: eight bytes in one step.

/// A stretch of a string in which every byte is itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// Where it ends: at a quote, a backslash, a control character, or with the text.
    pub(super) end: usize,
    /// Certainly without a character of more than one byte.
    pub(super) is_ascii: bool,
}

const ONES: u64 = u64::MAX / 255;
const HIGH: u64 = ONES << 7;

/// The run that begins at `at`.
#[inline]
pub(super) fn run(bytes: &[u8], mut at: usize) -> Run {
    let mut all = 0;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let word = u64::from_le_bytes(*chunk);
        all |= word;
        let stops = stops(word);
        if stops != 0 {
            at += place(stops);
            let is_ascii = all & HIGH == 0;
            return Run { end: at, is_ascii };
        }
        at += 8;
    }
    while let Some(byte) = bytes.get(at)
        && !matches!(byte, b'"' | b'\\' | 0..0x20)
    {
        all |= u64::from(*byte);
        at += 1;
    }
    let is_ascii = all & HIGH == 0;
    Run { end: at, is_ascii }
}

/// Copies the run that begins at `at`, and says where it ends. Where fewer than sixteen bytes are left, that is where it
/// stopped.
#[inline]
pub(super) fn copy_run(bytes: &[u8], mut at: usize, out: &mut Vec<u8>) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
        // All sixteen at once, and those that were too many taken back: a copy of a known length costs nothing.
        out.extend_from_slice(chunk);
        let plain = match words(chunk).map(stops) {
            [0, 0] => {
                at += 16;
                continue;
            }
            [0, other] => 8 + place(other),
            [one, _] => place(one),
        };
        out.truncate(out.len() - 16 + plain);
        return at + plain;
    }
    at
}

/// Sixteen bytes as two words.
#[inline]
fn words(bytes: &[u8; 16]) -> [u64; 2] {
    let (words, _) = bytes.as_chunks();
    match words {
        [one, other] => [u64::from_le_bytes(*one), u64::from_le_bytes(*other)],
        _ => [0; 2],
    }
}

/// Which of eight bytes are a quote, a backslash or a control character: the lowest bit set belongs to the first one.
#[inline]
const fn stops(word: u64) -> u64 {
    // The quote changes places with the space, so that it comes next to the control characters.
    let low = (word ^ (ONES * 2)).wrapping_sub(ONES * 0x21);
    let slash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    (low | slash) & !word & HIGH
}

/// The first byte of which a bit is set.
#[inline]
const fn place(bits: u64) -> usize {
    (bits.trailing_zeros() / 8) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stops_at_the_first_byte_that_is_not_itself() {
        for at in 0..8 {
            for byte in 0..=u8::MAX {
                for filler in [b' ', b'!', b'#', b'[', b']', 0x7F, 0x80, 0xFF] {
                    let mut chunk = [byte; 8];
                    chunk.iter_mut().take(at).for_each(|own| *own = filler);
                    let stops = stops(u64::from_le_bytes(chunk));
                    let is_stop = matches!(byte, b'"' | b'\\' | 0..0x20);
                    assert_eq!(place(stops), if is_stop { at } else { 8 }, "{chunk:?}");
                }
            }
        }
    }

    #[test]
    fn a_run_ends_at_the_same_byte_whatever_follows() {
        for length in 0..40 {
            for behind in [
                "",
                "\"",
                "\\n",
                "\u{1}",
                "\"é and so on, for more than one step",
            ] {
                for letter in ["a", "é"] {
                    let text = letter.repeat(length) + behind;
                    let end = letter.len() * length;
                    let found = run(text.as_bytes(), 0);
                    assert_eq!(found.end, end, "{text}");
                    // What follows may be looked at as well.
                    assert!(!found.is_ascii || text.get(..end).is_some_and(str::is_ascii));
                    assert!(found.is_ascii || !text.is_ascii(), "{text}");
                    let mut out = Vec::new();
                    let at = copy_run(text.as_bytes(), 0, &mut out);
                    assert_eq!(text.as_bytes().get(..at), Some(&*out), "{text}");
                    assert!(at == end || text.len() - at < 16, "{text}");
                }
            }
        }
    }
}
