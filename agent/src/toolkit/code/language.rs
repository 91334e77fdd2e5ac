use crate::tool::ToolError;
use crate::toolkit::process::Environment;
use schemars::JsonSchema;
use serde::Deserialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::process::Command;

/// A language that programs are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Language {
    /// Python 3.
    Python,
    /// JavaScript, by Node.
    JavaScript,
}

/// How long an interpreter may take to say where it is.
const PROBE: Duration = Duration::from_secs(20);

impl Language {
    /// Under which name its interpreter is looked for.
    pub(super) fn command(self) -> &'static str {
        match self {
            Self::Python => "python3",
            Self::JavaScript => "node",
        }
    }

    /// A program that says line by line which file runs programs, and what that file needs.
    fn probe(self) -> [&'static str; 3] {
        match self {
            Self::Python => [
                "-I",
                "-c",
                "import os, sys, sysconfig as s\n\
                 paths = [s.get_path(p) for p in ('stdlib', 'platstdlib', 'purelib', 'platlib')]\n\
                 config = os.path.join(sys.prefix, 'pyvenv.cfg')\n\
                 for path in [sys.executable, os.path.realpath(sys.executable), s.get_config_var('LIBDIR'), config, *paths]:\n \
                 if path: print(path)",
            ],
            Self::JavaScript => ["-e", "console.log(process.execPath)", "--"],
        }
    }

    /// The arguments with which the interpreter runs `code`, which may call these tools.
    pub(super) fn arguments(self, code: &str, tools: &[String]) -> Vec<OsString> {
        let tools = serde_json::Value::from(tools).to_string();
        let arguments: &[&str] = match self {
            Self::Python => &["-I", "-u", "-c", include_str!("prelude.py"), code, &tools],
            Self::JavaScript => &["-e", include_str!("prelude.js"), "--", code, &tools],
        };
        arguments.iter().map(OsString::from).collect()
    }
}

/// Who runs programs of a language.
#[derive(Debug)]
pub(super) struct Interpreter {
    pub(super) program: PathBuf,
    /// What it needs of the file system, itself included.
    pub(super) needs: Vec<PathBuf>,
}

impl Interpreter {
    /// Asks the interpreter `command` where it is: what is found by its name may be a script that finds it.
    pub(super) async fn find(
        language: Language,
        command: &Path,
        environment: &Environment,
    ) -> Result<Self, ToolError> {
        let missing =
            |why: String| ToolError::new(format!("`{}` cannot run here: {why}", command.display()));
        let asked = Command::new(command)
            .args(language.probe())
            .env_clear()
            .envs(environment.iter())
            .kill_on_drop(true)
            .output();
        let said = match tokio::time::timeout(PROBE, asked).await {
            Ok(Ok(said)) if said.status.success() => said,
            Ok(Ok(said)) => return Err(missing(said.status.to_string())),
            Ok(Err(error)) => return Err(missing(error.to_string())),
            Err(_) => {
                return Err(missing(format!(
                    "it did not answer in {} s",
                    PROBE.as_secs()
                )));
            }
        };
        let said = String::from_utf8_lossy(&said.stdout);
        let needs: Vec<PathBuf> = said.lines().map(PathBuf::from).collect();
        match needs.first() {
            Some(program) => Ok(Self {
                program: program.clone(),
                needs,
            }),
            None => Err(missing("it does not say where it is".to_owned())),
        }
    }
}
