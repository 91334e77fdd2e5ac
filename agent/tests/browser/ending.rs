//! How a browser begins and ends.

use crate::server::Server;
use crate::{browser, is_there, reference, sandboxed};
use agent::Agent;
use agent::message::ToolCall;
use agent::model::{ScriptedModel, Step};
use agent::toolkit::{Browser, ReadAs};
use agent::tools;
use serde_json::json;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A program that starts a browser and writes down which process it is.
struct Traced {
    folder: PathBuf,
}

impl Traced {
    fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("agent-traced-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).unwrap();
        let program = Browser::new().program().unwrap();
        let script = format!(
            "#!/bin/sh\necho $$ > {0}/pid.new; mv {0}/pid.new {0}/pid; exec {1} \"$@\"\n",
            folder.display(),
            program.display()
        );
        std::fs::write(folder.join("start"), script).unwrap();
        std::fs::set_permissions(folder.join("start"), PermissionsExt::from_mode(0o755)).unwrap();
        Self { folder }
    }

    fn browser(&self) -> Browser {
        browser().unwrap().at(self.folder.join("start"))
    }

    fn pid(&self) -> String {
        let pid = std::fs::read_to_string(self.folder.join("pid")).unwrap();
        pid.trim().to_owned()
    }

    /// The folder of its profile.
    fn profile(&self) -> PathBuf {
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            let words = std::fs::read_to_string(format!("/proc/{}/cmdline", self.pid())).unwrap();
            let mut words = words.split('\0');
            if let Some(profile) = words.find_map(|word| word.strip_prefix("--user-data-dir=")) {
                return Path::new(profile).parent().unwrap().to_owned();
            }
            // While one program becomes another it has no words.
            assert!(Instant::now() < deadline, "it has no profile");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The processes of a browser: whatever knows its folder by its arguments or its environment, but for those that ended.
fn processes(profile: &Path) -> Vec<String> {
    let profile = profile.display().to_string();
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| {
        let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        let (words, known) = (read("cmdline"), read("environ"));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let is_its = text(&words).contains(&profile) || text(&known).contains(&profile);
        is_its.then(|| format!("{} {}", entry.file_name().display(), text(&words)))
    })
    .collect()
}

fn until_none(profile: &Path) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !processes(profile).is_empty() || profile.exists() {
        assert!(
            Instant::now() < deadline,
            "{:?} {}",
            processes(profile),
            profile.exists()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn nothing_is_left_when_it_is_dropped_or_ended() {
    if !is_there() {
        return;
    }
    let server = Server::of(&[("/", "<h1>here</h1>")]).await;
    for is_dropped in [true, false] {
        let traced = Traced::new("dropped");
        let browser = traced.browser();
        browser.browser_open(&server.url("/")).await.unwrap();
        let profile = traced.profile();
        assert!(
            processes(&profile).len() > 1,
            "a browser is several processes"
        );
        let mode = std::fs::metadata(&profile).unwrap().mode() & 0o777;
        assert_eq!(mode, 0o700, "nobody else reads its profile");
        if is_dropped {
            drop(browser);
        } else {
            browser.end().await;
        }
        assert_eq!(processes(&profile), Vec::<String>::new());
        assert!(!profile.exists());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_is_left_when_its_runtime_ends_first_or_a_call_is_given_up() {
    if !is_there() {
        return;
    }
    for is_given_up in [false, true] {
        let traced = Traced::new("runtime");
        let browser = traced.browser();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let profile = runtime.block_on(async {
            let server = Server::of(&[("/", "<h1>here</h1>")]).await;
            let url = server.url("/");
            let opening = browser.browser_open(&url);
            if !is_given_up {
                opening.await.unwrap();
                return traced.profile();
            }
            // In the middle of starting: as soon as there is a process.
            let is_started = async {
                while !traced.folder.join("pid").exists() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                traced.profile()
            };
            tokio::select! {
                _ = opening => panic!("it was to be given up"),
                profile = is_started => profile,
            }
        });
        drop(runtime);
        assert_eq!(processes(&profile), Vec::<String>::new(), "{is_given_up}");
        drop(browser);
        assert!(!profile.exists(), "{is_given_up}");
    }
}

#[tokio::test]
async fn a_browser_that_ends_in_the_middle_is_said_and_the_next_call_starts_another() {
    if !is_there() {
        return;
    }
    let traced = Traced::new("killed");
    let browser = traced.browser();
    let server = Server::of(&[("/", "<h1>here</h1>"), ("/silent", "silent")]).await;
    let shown = browser.browser_open(&server.url("/")).await.unwrap();
    let profile = traced.profile();
    let kill = async {
        while !server
            .asked()
            .iter()
            .any(|request| request.contains("/silent"))
        {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let killed = tokio::process::Command::new("kill")
            .args(["-9", &traced.pid()])
            .status()
            .await;
        assert!(killed.unwrap().success());
    };
    let url = server.url("/silent");
    let (opened, ()) = tokio::join!(browser.browser_open(&url), kill);
    assert_eq!(
        opened.unwrap_err().to_string(),
        "the browser ended; the next call starts a new one, without cookies and without open pages"
    );
    let said = browser
        .browser_click(reference(&shown, "\"here\""), false)
        .await
        .unwrap_err();
    assert_eq!(
        said.to_string(),
        "no page is open; open one with `browser_open`"
    );
    until_none(&profile);
    assert!(
        browser
            .browser_open(&server.url("/"))
            .await
            .unwrap()
            .contains("here")
    );
}

#[tokio::test]
async fn a_page_that_never_answers_is_closed_and_the_browser_goes_on() {
    let Some(browser) = browser() else { return };
    let browser = browser.answer_limit(Duration::from_secs(4));
    let page = "<button onclick='for (;;);'>Hang</button>";
    let server = Server::of(&[("/", page), ("/two", "<h1>second</h1>")]).await;
    let shown = browser.browser_open(&server.url("/")).await.unwrap();
    let said = browser
        .browser_click(reference(&shown, "\"Hang\""), false)
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(
        said,
        "the page did not answer within 4 s; tab 1 was closed; no tab is left"
    );
    assert!(
        browser
            .browser_open(&server.url("/two"))
            .await
            .unwrap()
            .contains("second")
    );
}

#[tokio::test]
async fn no_page_reaches_the_browser_itself_also_where_this_machine_is_allowed() {
    if !is_there() {
        return;
    }
    let traced = Traced::new("own");
    let browser = traced.browser();
    let server = Server::of(&[("/", "<h1>here</h1>")]).await;
    browser.browser_open(&server.url("/")).await.unwrap();
    let port =
        std::fs::read_to_string(traced.profile().join("profile/DevToolsActivePort")).unwrap();
    let port = port.lines().next().unwrap();
    for host in ["127.0.0.1", "site.test", "[::ffff:127.0.0.1]"] {
        let url = format!("http://{host}:{port}/json/version");
        let said = browser.browser_open(&url).await.unwrap_err().to_string();
        assert!(
            said.contains("its address is the browser's own"),
            "{url}: {said}"
        );
    }
}

#[tokio::test]
async fn a_browser_that_is_missing_or_does_not_start_is_said_with_what_to_do() {
    let missing = Browser::new().at("/no/such/browser");
    let said = missing
        .browser_open("http://example.com/")
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(
        said,
        "there is no browser at `/no/such/browser`, which was named; correct it, or leave it out to have one found"
    );
    let other = Browser::new().at("/bin/false");
    let said = other
        .browser_read(ReadAs::Tree, 1)
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(
        said,
        "the browser ended as soon as it was started, and said nothing"
    );
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    if is_there() && is_root {
        let said = Browser::new()
            .browser_open("http://example.com/")
            .await
            .unwrap_err()
            .to_string();
        assert!(
            said.contains("its sandbox does not work for this user")
                && said.contains("`without_sandbox`"),
            "{said}"
        );
    }
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn an_agent_brings_it_in_as_an_extension_and_ends_it_when_it_stops() {
    if !is_there() {
        return;
    }
    let server = Server::of(&[("/", "<h1>here</h1>")]).await;
    let traced = Traced::new("brought");
    let open = json!({ "url": server.url("/") }).to_string();
    let model = ScriptedModel::new([
        Step::call(ToolCall::new("1", "browser_open", open)),
        Step::text("read"),
    ]);
    let agent = Agent::builder::<()>(model)
        .extension(traced.browser())
        .await
        .unwrap()
        .build()
        .unwrap();
    agent.run("read the page").await.unwrap();
    let profile = traced.profile();
    assert!(profile.exists());
    agent.stop().await.unwrap();
    assert_eq!(processes(&profile), Vec::<String>::new());
    assert!(!profile.exists());
}

#[test]
fn a_browser_registers_these_tools() {
    let set = tools![..sandboxed(Browser::new())].into_set().unwrap();
    assert_eq!(
        set.names().collect::<Vec<_>>(),
        [
            "browser_click",
            "browser_open",
            "browser_read",
            "browser_screenshot",
            "browser_scroll",
            "browser_tabs",
            "browser_type"
        ]
    );
    for name in set.names() {
        let policy = &set.get(name).unwrap().definition().policy;
        let acts = matches!(name, "browser_click" | "browser_type");
        assert_eq!(
            (policy.read_only, policy.destructive),
            (!acts, acts),
            "{name}"
        );
    }
}
