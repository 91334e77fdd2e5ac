//! Ways to cut a body, as a network does.

/// A small generator of numbers that are the same in every run.
#[derive(Debug)]
pub struct Numbers(u64);

impl Numbers {
    /// Numbers of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let z = z ^ (z >> 31);
        usize::try_from(z % limit.max(1) as u64).unwrap_or_default()
    }
}

/// The body in pieces: whole, byte by byte, and cut at random places in three ways.
pub fn ways(body: &[u8]) -> Vec<(&'static str, Vec<&[u8]>)> {
    let mut ways = vec![
        ("whole", vec![body]),
        ("byte by byte", body.chunks(1).collect()),
    ];
    for (name, seed, most) in [
        ("in small pieces", 1, 9),
        ("in middling pieces", 2, 120),
        ("in large pieces", 3, 3000),
    ] {
        let mut numbers = Numbers::new(seed);
        let mut rest = body;
        let mut pieces = Vec::new();
        while !rest.is_empty() {
            let (piece, left) = rest.split_at((1 + numbers.below(most)).min(rest.len()));
            pieces.push(piece);
            rest = left;
        }
        ways.push((name, pieces));
    }
    ways
}
