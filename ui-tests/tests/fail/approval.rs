use agent::{State, tool};

fn is_large(cents: &u64) -> bool {
    *cents > 1000
}

fn fits(_from: &u8, _to: &u8) -> Result<(), String> {
    Ok(())
}

/// An argument that there is not.
#[tool(needs_approval = is_large(cent))]
async fn pay(cents: u64) {
    let _ = cents;
}

/// An argument that the host fills.
#[tool(needs_approval = is_large(bank))]
async fn save(cents: u64, State(bank): State<u64>) {
    let _ = (cents, bank);
}

/// One of another type.
#[tool(needs_approval = is_large(to))]
async fn send(cents: u64, to: String) {
    let _ = (cents, to);
}

/// One too few.
#[tool(validate = fits(from))]
async fn range(from: u8, to: u8) {
    let _ = (from, to);
}

/// None at all.
#[tool(needs_approval = is_large(x))]
async fn nothing() {}

fn main() {}
