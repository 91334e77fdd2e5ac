//! What fills a parameter follows from its type, under whatever name.
#![deny(warnings)]

use agent::{FromCall, RunData, State, ToolContext, ToolError, ToolOutput, tool, tools};
use std::borrow::Cow;
use std::path::Path;

#[derive(Clone)]
struct Api;
struct Db;
type Weather = State<Api>;
type Cx<'a> = &'a ToolContext;
type Outcome<T> = Result<T, std::io::Error>;

struct Tenant(String);

impl FromCall for Tenant {
    type State = Db;

    fn from_call(_: &Db, cx: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(cx.call_id().to_owned()))
    }
}

struct Call(String);

impl FromCall for Call {
    type State = ();

    fn from_call((): &(), cx: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(cx.call_id().to_owned()))
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Filter {
    #[allow(dead_code)]
    min: u8,
}

/// Everything.
#[tool]
async fn everything(
    State(_api): Weather,
    State(_db): State<&Db>,
    cx: Cx<'_>,
    own: ToolContext,
    Tenant(tenant): Tenant,
    call: Call,
    RunData(user): RunData<&String>,
    RunData(_number): RunData<u8>,
    path: &Path,
    numbers: &[u8],
    text: Cow<'_, str>,
    lasting: Cow<'static, str>,
    filter: &Filter,
    maybe: Option<&str>,
    #[arg(flatten)] rest: Filter,
) -> Outcome<String> {
    let _ = (cx, own, tenant, call.0, user, path, numbers, text, lasting, filter, maybe, rest);
    Ok(String::new())
}

/// The same where it may block.
#[tool]
fn blocking(
    State(_db): State<&Db>,
    cx: Cx<'_>,
    Tenant(tenant): Tenant,
    RunData(user): RunData<&String>,
    path: &Path,
    numbers: &[u8],
    text: Cow<'_, str>,
    filter: &Filter,
    maybe: Option<&str>,
) -> Result<ToolOutput, ToolError> {
    let _ = (cx, tenant, user, path, numbers, text, filter, maybe);
    Ok(ToolOutput::text(""))
}

/// Borrows.
#[tool(inline)]
fn borrows(text: &str) -> &str {
    text
}

/// Borrows in a result.
#[tool]
async fn borrows_in_a_result(text: &str) -> Result<&str, Box<dyn std::error::Error + Send + Sync>> {
    Ok(text)
}

/// Nothing.
#[tool]
async fn nothing() {}

fn main() {
    let set = tools![everything, blocking, borrows, borrows_in_a_result, nothing].bind((Api, (Db, ()))).unwrap();
    assert_eq!(set.get("everything").unwrap().needs().len(), 2);
}
