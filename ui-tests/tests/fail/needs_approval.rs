use agent::{FromCall, Permission, ToolContext, ToolError, tool};

fn of_number(_: &u32) -> bool {
    true
}

fn of_text(_: &str) -> bool {
    true
}

fn of_nothing() -> bool {
    true
}

fn by_value(_: u64) -> bool {
    true
}

fn says_why(_: &u64) -> String {
    String::new()
}

async fn later(_: &u64) -> Permission {
    Permission::Allow
}

/// A function over another type.
#[tool(needs_approval = of_number)]
async fn of_another_type(cents: u64) {
    let _ = cents;
}

/// A function over text, of a number.
#[tool(needs_approval = of_text)]
async fn of_text_not_a_number(cents: u64) {
    let _ = cents;
}

/// A function over fewer arguments.
#[tool(needs_approval = of_nothing)]
async fn of_fewer(cents: u64) {
    let _ = cents;
}

/// A function over values.
#[tool(needs_approval = by_value)]
async fn of_values(cents: u64) {
    let _ = cents;
}

/// A function that says neither yes nor no.
#[tool(needs_approval = says_why)]
async fn with_another_answer(cents: u64) {
    let _ = cents;
}

/// A function that takes its time.
#[tool(needs_approval = later)]
async fn with_a_future(cents: u64) {
    let _ = cents;
}

/// No function at all.
#[tool(needs_approval = no_such_function)]
async fn without_one(cents: u64) {
    let _ = cents;
}

struct Tenant;

impl FromCall for Tenant {
    type State = ();

    fn from_call(_: &(), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn of_tenant(_: &u64, _: &Tenant) -> bool {
    true
}

/// A function over what comes from the host.
#[tool(needs_approval = of_tenant)]
async fn of_the_host(cents: u64, tenant: Tenant) {
    let _ = (cents, tenant);
}

struct Bank;

impl Bank {
    fn too_much(&self, _: &u64) -> bool {
        true
    }

    fn too_few(&self) -> bool {
        true
    }

    fn too_late(&self, _: &u64) -> Option<bool> {
        None
    }

    fn of_no_value(_: &u64) -> bool {
        true
    }
}

#[tool]
impl Bank {
    /// A method over another type.
    #[tool(needs_approval = Self::too_much)]
    async fn small(&self, cents: u32) {
        let _ = cents;
    }

    /// A method over fewer arguments.
    #[tool(needs_approval = Self::too_few)]
    async fn few(&self, cents: u64) {
        let _ = cents;
    }

    /// A method with another answer.
    #[tool(needs_approval = Self::too_late)]
    async fn late(&self, cents: u64) {
        let _ = cents;
    }

    /// A function that does not take the value.
    #[tool(needs_approval = Self::of_no_value)]
    async fn alone(&self, cents: u64) {
        let _ = cents;
    }

    /// No such method.
    #[tool(needs_approval = Self::to_much)]
    async fn missing(&self, cents: u64) {
        let _ = cents;
    }
}

fn main() {}
