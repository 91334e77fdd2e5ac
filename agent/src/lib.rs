//! Turn async functions into tools that language models call, and run the conversation.
//!
//! `#[tool]` makes of a function the schema that a model sees, the decoder and the checks of what it sends
//! back; `tools![]` lists such functions; an [`Agent`] asks a model, runs the calls and gives it the results until it has
//! an answer.
//!
#![cfg_attr(all(feature = "macros", feature = "run"), doc = "```")]
#![cfg_attr(not(all(feature = "macros", feature = "run")), doc = "```ignore")]
//! use agent::message::ToolCall;
//! use agent::model::{ScriptedModel, Step};
//! use agent::{Agent, State, tool, tools};
//!
//! struct Sky(&'static str);
//!
//! /// Get the weather forecast for a city.
//! #[tool(read_only)]
//! async fn get_weather(
//!     /// City name, for example "Paris".
//!     #[arg(length = 1..=80)]
//!     city: String,
//!     State(sky): State<&Sky>, // from the program, never in the schema
//! ) -> String {
//!     format!("{} in {city}", sky.0)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A script plays the model. For a real one: `agent::model::from_env()?`.
//! let model = ScriptedModel::new([
//!     Step::call(ToolCall::new("1", "get_weather", r#"{"city":"Paris"}"#)),
//!     Step::text("Pack a raincoat."),
//! ]);
//! let agent = Agent::builder(model)
//!     .tools(tools![get_weather])
//!     .state(Sky("rain"))
//!     .build()?;
//! assert_eq!(agent.run("What should I pack for Paris?").await?.text(), "Pack a raincoat.");
//!
//! // One tool, without a model, as in a test:
//! let tools = tools![get_weather].with_state(Sky("sun"))?;
//! assert_eq!(tools.call("get_weather", r#"{"city":"Rome"}"#).await.text(), "sun in Rome");
//! # Ok(())
//! # }
//! ```
//!
//! # Where to look
//!
//! | for | look at |
//! |---|---|
//! | what `#[tool]` and `#[arg]` can say, and what parameters and results may be | `tool` |
//! | tools that no macro made | `Tool::dynamic`, [`Tool::external`], [`ToolDefinition`] |
//! | naming, filtering and overriding tools | [`ToolSet`] |
//! | values that the model never sees | [`State`], [`RunData`], [`ToolContext`], [`FromCall`] |
//! | what a tool says to the model | [`ToolOutput`], [`ToolError`] |
//! | a run: its events, its end, waiting for somebody | [`Run`], [`Event`], [`Answer`], [`RunError`], [`Paused`] |
//! | conversations that outlive their runs and their process | [`Session`], [`SessionStore`], [`FileSessions`], `SqliteSessions` |
//! | models, real and for tests, and a loop of your own | [`model`] |
//! | the wire protocols without their HTTP client | `provider` |
//! | what is said: content, calls, results, transcripts | [`message`] |
//! | what others bring in one piece | [`Extension`], [`extensions`] |
//! | keeping a transcript sendable | [`history`] |
//! | the schemas that models are told, and reading by them | [`schema`] |
//! | text that is nearly JSON | [`json`] |
//! | newtypes that constraints apply to | [`constraint`] |
//! | what this crate does for you, and what stays yours | [`yours`] |
//! | helpers for your tests | [`testing`] |
//!
//! # Features
//!
//! All are on unless `default-features = false`, but for those that say so.
//!
//! | feature | what it brings |
//! |---|---|
//! | `macros` | `#[tool]` and `tools!` |
//! | `dynamic` | `Tool::dynamic`: tools whose schema is known only at run time |
//! | `run` | the loop: [`Agent`], sessions, [`model`], [`extensions`], [`history`], [`testing`] |
//! | `providers` | `run`, and the three protocols as bytes in and out |
//! | `http` | `providers`, an HTTP client under them, and `model::from_env` |
//! | `sqlite` | `run`, and conversations in a SQLite database, on request |
//! | `toolkit` | `macros`, `run`, and built-in tools, on request: `toolkit` |
//! | `toolkit-shell` | `toolkit`, and commands in a shell (Unix) |
//! | `toolkit-code` | `toolkit-shell`, and programs that the model writes (Unix) |
//! | `toolkit-web` | `toolkit`, and pages of the web |
//! | `toolkit-browser` | `toolkit-web`, and pages in a Chromium (Unix) |

#![cfg_attr(
    not(feature = "run"),
    allow(
        dead_code,
        unused_imports,
        reason = "what the rooms below keep ready for the loop"
    )
)]

pub mod json;
// Expansions say `::agent`, also in this crate's own tools and tests.
#[cfg(any(test, feature = "toolkit"))]
extern crate self as agent;

#[doc(hidden)]
#[path = "macro_support.rs"]
pub mod __private;
#[cfg(feature = "run")]
pub mod extensions;
#[cfg(feature = "run")]
pub mod history;
pub mod message;
#[cfg(feature = "run")]
pub mod model;
#[cfg(feature = "providers")]
pub mod provider;
#[cfg(feature = "run")]
mod run;
pub mod schema;
#[cfg(feature = "run")]
mod sessions;
#[cfg(feature = "run")]
pub mod testing;
mod tool;
#[cfg(feature = "toolkit")]
pub mod toolkit;

#[doc = include_str!("docs/yours.md")]
pub mod yours {}

// By name, so that the compiler tells who has left the loop out which feature it is.
#[cfg(feature = "run")]
pub use run::{
    Agent, AgentBuilder, Answer, Brought, CallEnded, Change, Compactor, ConcurrencyLimit,
    DecisionError, DecodeAnswerError, Event, Execution, Extension, ExtensionError, Inbox, KeepLast,
    Limit, Limits, LiveCall, LiveRun, LiveStage, LiveTools, Middleware, Next, NextTurn, Paused,
    PendingCall, Prompt, RateLimit, Retry, Run, RunError, RunErrorKind, RunStream, Session,
    SessionError, SessionLog, SessionStore, Shorter, Stored, Summarize, TypedAnswer, TypedRun,
    Verdict, WaitingCall, Watch,
};
#[cfg(feature = "signing")]
pub use run::{SealError, SigningKey};
#[cfg(feature = "sqlite")]
pub use sessions::SqliteSessions;
#[cfg(feature = "run")]
pub use sessions::{FileSessions, MemorySessions};
pub use tool::*;

#[cfg(feature = "macros")]
#[doc = include_str!("../../agent-macros/src/docs/tool.md")]
pub use agent_macros::tool;

#[cfg(feature = "macros")]
#[doc = include_str!("../../agent-macros/src/docs/tools.md")]
#[macro_export]
macro_rules! tools {
    // `$crate` is this crate under whatever name it has where the list stands.
    ($($list:tt)*) => { $crate::__private::tools!($crate; $($list)*) };
}
