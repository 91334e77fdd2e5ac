use super::gate::Gate;
use crate::tool::BoxError;
use crate::toolkit::Environment;
use crate::toolkit::process::{Ender, Kept, Launch, Running, run};
use std::ffi::OsString;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// The variable that names the program.
const VARIABLE: &str = "AGENT_BROWSER";
/// What it is called.
const NAMES: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];
/// Where it is on a Mac.
const APPLICATIONS: &[&str] = &[
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
/// How long one may take until it can be talked to.
const START: Duration = Duration::from_secs(30);
/// How often it is looked whether it can.
const LOOK: Duration = Duration::from_millis(20);
/// How much is kept of what it says.
const SAID: usize = 2 * 1024;

/// A running Chromium with a profile of its own. Dropped, its processes are ended and its profile is gone.
#[derive(Debug)]
pub(super) struct Chromium {
    // In this order: whoever still runs would write into the folder.
    _ender: Ender,
    running: JoinHandle<io::Result<Kept>>,
    folder: TempDir,
}

impl Drop for Chromium {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// The program: the one that was named, by the host or by [`VARIABLE`], or one that is where they usually are.
pub(super) fn find(named: Option<&Path>) -> Result<PathBuf, BoxError> {
    let by_variable = || std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
    let (path, by) = match (named, by_variable()) {
        (Some(path), _) => (path.to_owned(), "was named"),
        (None, Some(path)) => (path.into(), "the variable AGENT_BROWSER names"),
        (None, None) => {
            return usual().ok_or_else(|| {
                "no Chromium was found in PATH (`chromium`, `google-chrome`, ..); install one, for example by `apt-get \
                 install chromium`, or name its program in the variable AGENT_BROWSER"
                    .into()
            });
        }
    };
    if path.is_file() {
        return Ok(path);
    }
    let path = path.display();
    Err(format!(
        "there is no browser at `{path}`, which {by}; correct it, or leave it out to have one found"
    )
    .into())
}

fn usual() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path)
        .flat_map(|folder| NAMES.iter().map(move |name| folder.join(name)));
    let applications = APPLICATIONS.iter().map(PathBuf::from);
    in_path
        .chain(applications)
        .find(|program| program.is_file())
}

/// Starts one behind the gate. Returns it, and the port and the path at which it is talked to.
pub(super) async fn start(
    program: &Path,
    sandbox: bool,
    gate: &Gate,
    way_out: u16,
) -> Result<(Chromium, (u16, String)), BoxError> {
    let folder = tempfile::Builder::new()
        .prefix("agent-browser-")
        // What a page leaves in its profile is nobody else's business.
        .permissions(Permissions::from_mode(0o700))
        .tempdir()?;
    let own = folder.path();
    for name in ["profile", "tmp"] {
        std::fs::create_dir(own.join(name))?;
    }
    let environment = Environment::new()
        .set("HOME", own)
        .set("XDG_CONFIG_HOME", own.join("config"))
        .set("XDG_CACHE_HOME", own.join("cache"))
        .set("TMPDIR", own.join("tmp"));
    let launch = Launch {
        program: command(program, own, sandbox, way_out),
        folder: own,
        environment: &environment,
        confinement: None,
        talks: false,
    };
    let running = Running::start(launch)
        .await
        .map_err(|error| format!("`{}` cannot be started: {error}", program.display()))?;
    let mut chromium = Chromium {
        _ender: running.ender(),
        running: tokio::spawn(async move {
            let mut said = Kept::new(SAID, SAID);
            let never = CancellationToken::new();
            run(running, None, &never, |bytes| said.push(bytes)).await?;
            Ok(said)
        }),
        folder,
    };
    let until = Instant::now() + START;
    let place = chromium.folder.path().join("profile/DevToolsActivePort");
    while Instant::now() < until {
        if chromium.running.is_finished() {
            return Err(chromium.last_words().await.into());
        }
        // A port, and on the next line a path that nobody can guess.
        let said = std::fs::read_to_string(&place).unwrap_or_default();
        if let Some((port, path)) = said.split_once('\n')
            && let Ok(port) = port.trim().parse()
            && path.starts_with('/')
        {
            gate.close(port);
            return Ok((chromium, (port, path.trim().to_owned())));
        }
        sleep(LOOK).await;
    }
    Err(format!(
        "the browser could not be talked to within {} s",
        START.as_secs()
    )
    .into())
}

impl Chromium {
    /// What it said before it ended.
    async fn last_words(&mut self) -> String {
        let said = match (&mut self.running).await {
            Ok(Ok(said)) => said.text(""),
            Ok(Err(error)) => error.to_string(),
            Err(_) => String::new(),
        };
        let said = said.trim();
        let advice = if said.contains("--no-sandbox") || said.contains("sandbox") {
            "; its sandbox does not work for this user: run as another one, or, where a container is wall enough, build the \
             `Browser` with `without_sandbox`"
        } else {
            ""
        };
        if said.is_empty() {
            return "the browser ended as soon as it was started, and said nothing".to_owned();
        }
        format!("the browser ended as soon as it was started{advice}; it said: {said}")
    }
}

fn command(program: &Path, own: &Path, sandbox: bool, way_out: u16) -> Vec<OsString> {
    let mut profile = OsString::from("--user-data-dir=");
    profile.push(own.join("profile"));
    let proxy = format!("--proxy-server=socks5://127.0.0.1:{way_out}").into();
    let mut command = vec![program.as_os_str().to_owned(), profile, proxy];
    command.extend(ARGUMENTS.iter().map(OsString::from));
    if !sandbox {
        command.push("--no-sandbox".into());
    }
    command.push("about:blank".into());
    command
}

const ARGUMENTS: &[&str] = &[
    "--headless=new",
    "--remote-debugging-port=0",
    // Everything goes through the gate: this machine too, which is left out by default; no name is looked up here; and
    // what would go around a proxy is switched off (WebRTC, QUIC, and what looks for devices in the local network).
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--disable-features=MediaRouter,DialMediaRouteProvider,CastMediaRouteProvider,Translate,OptimizationHints,AutofillServerCommunication",
    // Nothing that a page did not ask for.
    "--disable-background-networking",
    // These three lead to a port that no browser connects to.
    "--apps-gallery-update-url=http://127.0.0.1:1/",
    "--component-updater=url-source=http://127.0.0.1:1/",
    "--gaia-url=http://127.0.0.1:1/",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    // Nothing of the user's, and nobody to ask.
    "--deny-permission-prompts",
    "--password-store=basic",
    "--use-mock-keychain",
    "--mute-audio",
    // Containers have little shared memory, and a page that nobody looks at works as one that somebody does.
    "--disable-dev-shm-usage",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-background-timer-throttling",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--window-size=1280,800",
    "--lang=en-US",
];
