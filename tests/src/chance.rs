//! Chance that is the same in every process: numbers that look random, from numbers.

/// A number for these numbers, as `SplitMix64` stirs them.
pub fn chance(of: &[u64]) -> u64 {
    of.iter().fold(0x9E37_79B9_7F4A_7C15, |state, number| {
        let mut z = (state ^ number).wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    })
}
