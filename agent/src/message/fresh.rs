use std::hash::{BuildHasher, RandomState};

/// A name that nobody guesses and nothing else has: 32 hexadecimal digits, from the randomness with which std seeds its
/// hash maps.
pub(crate) fn fresh_name() -> String {
    let random = || RandomState::new().hash_one(0);
    format!("{:016x}{:016x}", random(), random())
}
