use agent::constraint::{Number, Text};

#[derive(Text)]
struct Pair(String, String);

#[derive(Text)]
enum Choice {
    One,
}

#[derive(Number)]
struct Name(String);

fn main() {}
