use agent::tool;

/// Generic.
#[tool]
async fn generic<T>(_x: u8) {}

/// Borrowed.
#[tool]
async fn borrowed<'a>(x: &'a str) {
    let _ = x;
}

/// Static.
#[tool]
async fn lasting(x: &'static str) {
    let _ = x;
}

/// Changes.
#[tool]
async fn changes(x: &mut String) {
    x.clear();
}

/// Any.
#[tool]
async fn any(x: impl std::fmt::Display) -> impl std::fmt::Display {
    x.to_string()
}

/// Unsafe.
#[tool]
async unsafe fn dangerous() {}

/// Foreign.
#[tool]
extern "C" fn foreign() {}

/// Patterns.
#[tool]
async fn patterns((a, b): (u8, u8), _: u8, &c: &u8) {
    let _ = (a, b, c);
}

/// Cfg.
#[tool]
async fn depends(#[cfg(unix)] a: u8, #[serde(rename = "b")] c: u8) {
    let _ = (a, c);
}

#[tool]
struct Weather;

fn main() {}
