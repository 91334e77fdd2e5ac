use agent::{FromCall, ToolContext, ToolError, tool};

struct Tenant;

impl FromCall for Tenant {
    type State = ();

    fn from_call(_: &(), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn fits(_: &u8, _: &Tenant) -> Result<(), String> {
    Ok(())
}

fn is_even(_: &u8) -> Result<(), String> {
    Ok(())
}

/// A validator of the whole call is asked before the host fills anything.
#[tool(validate = fits)]
async fn hosted(a: u8, tenant: Tenant) {
    let _ = (a, tenant);
}

/// A validator of another type.
#[tool]
async fn other(#[arg(validate = is_even)] a: u16) {
    let _ = a;
}

/// No path.
#[tool(validate)]
async fn none(a: u8) {
    let _ = a;
}

fn main() {}
