use agent::tool;

/// Contradictions.
#[tool(read_only, destructive, parallel, sequential, inline)]
async fn contradictory() {}

/// Durations.
#[tool(timeout = "10 seconds")]
async fn slow() {}

/// Durations.
#[tool(timeout = 10)]
async fn slower() {}

/// Missing.
#[tool(name, label = "")]
async fn missing() {}

/// Commas.
#[tool(read_only idempotent, strict = maybe)]
async fn commas() {}

/// Errors.
#[tool(on_error = ignore)]
async fn errors() {}

/// Nothing like it.
#[tool(params(lmit = "max rows"), frobnicate)]
async fn nothing_like_it(limit: u32) {
    let _ = limit;
}

fn main() {}
