//! That no name stands twice in `tools![..]`: evaluated by the compiler, where a panic is a compile error.
#![expect(
    clippy::indexing_slicing,
    reason = "constants have no iterators, and a panic in one is a compile error"
)]

/// Refuses a list in which the name at `place` stands before: evaluated by the compiler.
///
/// # Panics
///
/// When it does, with the name.
#[track_caller]
pub const fn stands_once(names: &[&str], place: usize) {
    let mut at = 0;
    while at < place {
        if same(names[place], names[at]) {
            refuse(names[place]);
        }
        at += 1;
    }
}

/// Looks at the ends first, since the names of one list often begin alike.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = a.len();
    while at > 0 {
        at -= 1;
        if a[at] != b[at] {
            return false;
        }
    }
    true
}

/// `panic!` in a constant cannot format: the sentence is put together by hand. A name has at most 64 bytes.
#[track_caller]
const fn refuse(name: &str) -> ! {
    const PARTS: [&str; 2] = [
        "two tools of this list are named `",
        "`; give one of them `#[tool(name = \"..\")]`",
    ];
    let mut text = [0; 192];
    let mut end = 0;
    let parts = [PARTS[0], name, PARTS[1]];
    let mut part = 0;
    while part < parts.len() {
        let bytes = parts[part].as_bytes();
        let mut at = 0;
        while at < bytes.len() && end < text.len() {
            text[end] = bytes[at];
            end += 1;
            at += 1;
        }
        part += 1;
    }
    match std::str::from_utf8(text.split_at(end).0) {
        Ok(text) => panic!("{}", text),
        Err(_) => panic!("two tools of this list have the same name"),
    }
}
