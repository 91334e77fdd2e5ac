use agent::tool;

struct Km(#[allow(dead_code)] u32);

/// Types.
#[tool]
async fn by_value(km: Km) {
    let _ = km;
}

/// Types.
#[tool]
async fn by_reference(km: &Km) {
    let _ = km;
}

/// Nested borrows.
#[tool]
async fn nested(names: Vec<&str>) {
    let _ = names;
}

fn main() {}
