//! Whatever a command does to live on, nothing of it is left when its call has ended.
#![cfg(target_os = "linux")]

use crate::scratch::{Scratch, processes_in, until};
use agent::ToolContext;
use agent::toolkit::Shell;
use std::time::Duration;

/// Each tries to write `left` some time after its call.
pub(crate) const ATTACKS: &[(&str, &str)] = &[
    ("a child", "(sleep 300; touch left) & wait"),
    ("no ear for TERM", "trap '' TERM; sleep 300; touch left"),
    (
        "no ear for anything",
        "trap '' TERM HUP INT QUIT; (trap '' TERM HUP; while :; do sleep 1; done) & while :; do sleep 1; done",
    ),
    ("a session", "setsid sh -c 'sleep 300; touch left' & wait"),
    (
        "a session that nobody waits for",
        "setsid sh -c 'sleep 300; touch left' >/dev/null 2>&1 </dev/null & sleep 300",
    ),
    (
        "nohup",
        "nohup sh -c 'sleep 300; touch left' >/dev/null 2>&1 & sleep 300",
    ),
    (
        "an orphan",
        "(setsid sh -c 'sleep 300; touch left' &) >/dev/null 2>&1; sleep 300",
    ),
    (
        "an orphan of an orphan",
        "setsid sh -c '(setsid sh -c \"(sleep 300; touch left) &\" &)' >/dev/null 2>&1; sleep 300",
    ),
    (
        "another environment",
        "(env -i setsid sh -c '(sleep 300; touch left) &' &) >/dev/null 2>&1; sleep 300",
    ),
    (
        "a lower limit",
        "(prlimit --rttime=1000000:1000000 setsid sh -c '(sleep 300; touch left) &' &) >/dev/null 2>&1; sleep 300",
    ),
    (
        "disowned",
        "sleep 300 & disown -a; exec >/dev/null 2>&1; sleep 300",
    ),
    (
        "stopped",
        "(sleep 300 & kill -STOP $!) ; kill -STOP $$; touch left",
    ),
    (
        "many",
        "for i in $(seq 40); do (setsid sleep 300 &) ; done; sleep 300",
    ),
    (
        "one after the other",
        "f() { sh -c 'sleep 0.02' ; (setsid sh -c \"$1\" sh \"$1\" &) >/dev/null 2>&1; }; f 'sleep 0.02; (setsid sh -c \"$1\" sh \"$1\" &)'; sleep 300",
    ),
    (
        "python, twice forked",
        "python3 -c '\nimport os,time\nif os.fork()==0:\n  os.setsid()\n  if os.fork()==0:\n    os.close(1); os.close(2)\n    time.sleep(300); open(\"left\",\"w\")\n  os._exit(0)\n'; sleep 300",
    ),
    (
        "python, first thread gone",
        "python3 -c '\nimport ctypes,threading,time\nthreading.Thread(target=time.sleep,args=(300,)).start()\nctypes.CDLL(None).pthread_exit(None)\n'",
    ),
];

pub(crate) async fn nothing_is_left(scratch: &Scratch, what: &str) {
    // Ended processes leave their folder a moment after the signal.
    let folder = scratch.path().to_owned();
    let deadline = std::time::Instant::now() + Duration::from_secs(1);
    loop {
        let left = processes_in(&folder);
        if left.is_empty() {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "{what}: {left:#?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!folder.join("left").exists(), "{what}");
}

#[tokio::test]
async fn nothing_outlives_a_time_out() {
    for (what, command) in ATTACKS {
        let scratch = Scratch::new();
        let shell = Shell::new(&scratch.workspace());
        let answer = shell.shell(command, 1, &ToolContext::for_test()).await;
        let text = answer.unwrap_err().to_string();
        assert!(text.contains("timed out after 1 s"), "{what}: {text}");
        nothing_is_left(&scratch, what).await;
    }
}

#[tokio::test]
async fn nothing_outlives_a_command_that_ends() {
    // One stops the shell itself, which then does not end.
    for (what, command) in ATTACKS.iter().filter(|(what, _)| *what != "stopped") {
        let command = format!("({command}) & sleep 0.3; exit 0");
        let scratch = Scratch::new();
        let shell = Shell::new(&scratch.workspace());
        let answer = shell.shell(&command, 60, &ToolContext::for_test()).await;
        let text = answer.unwrap();
        assert!(text.contains("exit code 0"), "{what}: {text}");
        nothing_is_left(&scratch, what).await;
    }
}

#[tokio::test]
async fn nothing_outlives_a_call_that_is_dropped() {
    for (what, command) in ATTACKS {
        let scratch = Scratch::new();
        let shell = Shell::new(&scratch.workspace());
        let command = format!("touch up; {command}");
        let context = ToolContext::for_test();
        let up = scratch.path().join("up");
        {
            let running = shell.shell(&command, 600, &context);
            tokio::select! {
                answer = running => panic!("{what}: {answer:?}"),
                () = until(what, || up.exists() && processes_in(scratch.path()).len() > 1) => {}
            }
        }
        nothing_is_left(&scratch, what).await;
    }
}

#[tokio::test]
async fn nothing_outlives_a_call_that_is_cancelled() {
    for (what, command) in ATTACKS.iter().take(8) {
        let scratch = Scratch::new();
        let shell = Shell::new(&scratch.workspace());
        let command = format!("touch up; {command}");
        let context = ToolContext::for_test();
        let up = scratch.path().join("up");
        let cancel = async {
            until(what, || up.exists()).await;
            context.cancellation().cancel();
        };
        let (result, ()) = tokio::join!(shell.shell(&command, 600, &context), cancel);
        let error = result.unwrap_err().to_string();
        assert!(error.contains("[cancelled and ended"), "{what}: {error}");
        nothing_is_left(&scratch, what).await;
    }
}
