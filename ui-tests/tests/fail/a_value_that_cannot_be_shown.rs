use agent::tool;

struct Secret;
struct NoError;
type Outcome<T> = Result<T, NoError>;

/// Value.
#[tool]
async fn value() -> Secret {
    Secret
}

/// Value in a result.
#[tool]
async fn in_a_result() -> Result<Secret, String> {
    Ok(Secret)
}

/// Error.
#[tool]
async fn error() -> Outcome<u8> {
    Err(NoError)
}

/// Blocking.
#[tool]
fn blocking() -> Vec<Secret> {
    Vec::new()
}

fn main() {}
