//! Functions with `#[tool]`, called with what a model sends.
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]

use agent::{RunData, State, ToolContext, ToolSet, tool, tools};

#[derive(Clone)]
struct Api(u8);

/// Get the weather.
#[tool(timeout = "10s", read_only)]
async fn get_weather(
    /// City name.
    #[arg(length = 1..=80)]
    city: String,
    /// Days ahead.
    #[arg(range = 1..=10, default = 3)]
    days: u8,
    unit: Option<&str>,
    State(api): State<Api>,
    cx: &ToolContext,
) -> Result<String, std::io::Error> {
    let _ = cx.call_id();
    Ok(format!("{city} {days} {unit:?} {}", api.0))
}

/// Plain.
#[tool]
fn plain(
    a: &str,
    b: &[u8],
    p: &std::path::Path,
    RunData(x): RunData<&u8>,
    State(api): State<&Api>,
) -> usize {
    a.len() + b.len() + usize::from(*x) + usize::from(api.0) + p.as_os_str().len()
}

struct Db(u8);

#[tool]
impl Db {
    /// Look.
    #[tool(idempotent)]
    async fn lookup(&self, id: u64) -> u64 {
        id + u64::from(self.0)
    }

    /// Look.
    #[tool]
    fn drop_it(&self, State(api): State<Api>) {
        let _ = (self.0, api.0);
    }
}

#[test]
fn lists_bind() {
    let list = tools![get_weather, plain, ..Db(3)];
    let set: ToolSet = list.with_state(Api(2)).unwrap();
    assert_eq!(
        set.names().collect::<Vec<_>>(),
        ["drop_it", "get_weather", "lookup", "plain"]
    );
    println!("{:#?}", set.get("get_weather").unwrap());
}
