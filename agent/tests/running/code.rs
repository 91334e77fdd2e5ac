//! Programs that the model writes. Each test says so if an interpreter is missing.

use crate::outlive::nothing_is_left;
use crate::scratch::Scratch;
use agent::message::{Message, Outcome, ToolCall};
use agent::model::{ScriptedModel, Step};
use agent::toolkit::{CodeRunner, Environment, Language, Toolkit};
use agent::{Agent, ToolContext, tool, tools};
use serde_json::json;
use std::process::Command;

const LANGUAGES: [Language; 2] = [Language::Python, Language::JavaScript];

/// Whether programs of this language can be run here.
fn is_here(language: Language) -> bool {
    let command = match language {
        Language::Python => "python3",
        _ => "node",
    };
    let found = Command::new(command).arg("--version").output().is_ok();
    if !found {
        println!("skipped: there is no `{command}` here");
    }
    found
}

/// What the model reads, once somebody agreed; an error's text, too.
async fn run(code: &CodeRunner, language: Language, program: &str) -> String {
    let context = ToolContext::for_test();
    match code.run_code(language, program, 60, &context).await {
        Ok(text) => text,
        Err(error) => format!("error: {error}"),
    }
}

/// Runs each program in an empty folder.
async fn all_say(table: &[(Language, &str, &str)]) {
    for (language, program, expected) in table {
        if !is_here(*language) {
            continue;
        }
        let scratch = Scratch::new();
        let text = run(&CodeRunner::new(&scratch.workspace()), *language, program).await;
        assert_eq!(text, *expected, "{program}");
    }
}

#[tokio::test]
async fn what_a_program_prints_and_how_it_ends_is_the_result() {
    use Language::{JavaScript, Python};
    all_say(&[
        (Python, "print(6 * 7)", "42\n[exit code 0]"),
        (JavaScript, "console.log(6 * 7)", "42\n[exit code 0]"),
        (Python, "x = 1", "[exit code 0; no output]"),
        (
            Python,
            "import sys\nprint('a')\nprint('b', file=sys.stderr)\nsys.exit(3)",
            "a\nb\n[exit code 3]",
        ),
        (
            JavaScript,
            "console.log('a'); console.error('b'); process.exit(3)",
            "a\nb\n[exit code 3]",
        ),
        (
            JavaScript,
            "const x = await Promise.resolve(2); console.log(x)",
            "2\n[exit code 0]",
        ),
        (
            JavaScript,
            "console.log(require('node:path').basename('/a/b'))",
            "b\n[exit code 0]",
        ),
        (
            JavaScript,
            "const p = await import('node:path'); console.log(p.basename('/a/b'))",
            "b\n[exit code 0]",
        ),
        // It is a program, not a part of one of ours.
        (
            Python,
            "import sys\nprint(__name__, sys.argv, sys.stdin.read())",
            "__main__ ['-c'] \n[exit code 0]",
        ),
        (
            Python,
            "class A: pass\ndef f(): return A()\nprint(type(f()).__name__)",
            "A\n[exit code 0]",
        ),
    ])
    .await;
}

#[tokio::test]
async fn a_program_that_fails_says_where() {
    use Language::{JavaScript, Python};
    all_say(&[
        (
            Python,
            "def f():\n    return 1 / 0\nf()",
            "Traceback (most recent call last):\n  File \"<code>\", line 3, in <module>\n    f()\n  File \"<code>\", line 2, in f\n    return 1 / 0\n           ~~^~~\nZeroDivisionError: division by zero\n[exit code 1]",
        ),
        (
            Python,
            "x = (",
            "  File \"<code>\", line 1\n    x = (\n        ^\nSyntaxError: '(' was never closed\n[exit code 1]",
        ),
    ])
    .await;
    if is_here(JavaScript) {
        let scratch = Scratch::new();
        let code = CodeRunner::new(&scratch.workspace());
        for (program, place) in [
            ("let a = 1;\nnull.x", "code.js:2"),
            ("let a = (", "code.js:"),
        ] {
            let text = run(&code, JavaScript, program).await;
            assert!(
                text.contains(place) && text.ends_with("[exit code 1]"),
                "{text}"
            );
        }
    }
}

#[tokio::test]
async fn it_works_in_the_workspace_and_reaches_nothing_else() {
    let outside = Scratch::new();
    std::fs::write(outside.path().join("secret"), "s3cret").unwrap();
    let there = outside.path().display();
    for language in LANGUAGES {
        if !is_here(language) {
            continue;
        }
        let attempts = match language {
            Language::Python => [
                format!("print(open('{there}/secret').read())"),
                format!("open('{there}/new', 'w')"),
                format!("import os; os.remove('{there}/secret')"),
                format!(
                    "import os; os.symlink('{there}', 'link'); print(open('link/secret').read())"
                ),
                format!("import os; os.link('{there}/secret', 'hard')"),
                format!("import subprocess as s; s.run(['cat', '{there}/secret'], check=True)"),
                "open('/etc/passwd')".to_owned(),
                format!("open('/proc/{}/environ')", std::process::id()),
                "import os; print(os.listdir(os.path.expanduser('~')))".to_owned(),
                format!("import os; os.kill({}, 9)", std::process::id()),
            ]
            .to_vec(),
            _ => [
                format!("console.log(require('fs').readFileSync('{there}/secret', 'utf8'))"),
                format!("require('fs').writeFileSync('{there}/new', 'x')"),
                format!(
                    "console.log(require('child_process').execFileSync('cat', ['{there}/secret']))"
                ),
                "require('fs').readFileSync('/etc/passwd')".to_owned(),
            ]
            .to_vec(),
        };
        let scratch = Scratch::new();
        let code = CodeRunner::new(&scratch.workspace());
        for attempt in attempts {
            let text = run(&code, language, &attempt).await;
            assert!(text.ends_with("[exit code 1]"), "{attempt}: {text}");
            assert!(!text.contains("s3cret"), "{attempt}: {text}");
        }
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
        let inside = match language {
            Language::Python => {
                "open('a.txt', 'w').write('hi')\nimport tempfile\nprint(open('a.txt').read(), tempfile.TemporaryFile().write(b'x'))"
            }
            _ => {
                "const fs = require('fs'); fs.writeFileSync('a.txt', 'hi'); fs.writeFileSync(require('os').tmpdir() + '/b', 'x'); console.log(fs.readFileSync('a.txt', 'utf8'), 1)"
            }
        };
        assert_eq!(run(&code, language, inside).await, "hi 1\n[exit code 0]");
        let named = code.may_read([outside.path()]);
        let read = match language {
            Language::Python => format!("print(open('{there}/secret').read())"),
            _ => format!("console.log(require('fs').readFileSync('{there}/secret', 'utf8'))"),
        };
        let text = run(&named, language, &read).await;
        assert_eq!(text, "s3cret\n[exit code 0]");
    }
}

#[tokio::test]
async fn it_has_no_network_unless_it_is_given() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let scratch = Scratch::new();
    let code = CodeRunner::new(&scratch.workspace());
    if is_here(Language::Python) {
        let connect = format!(
            "import socket; socket.create_connection(('127.0.0.1', {port})); print('there')"
        );
        for attempt in [
            &*connect,
            "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
            "import socket; socket.socket(socket.AF_UNIX)",
            "import socket; socket.getaddrinfo('localhost', 80, proto=17) and socket.socket(socket.AF_INET6)",
            "import subprocess as s; s.run(['python3', '-c', 'import socket; socket.socket()'], check=True)",
        ] {
            let text = run(&code, Language::Python, attempt).await;
            assert!(text.ends_with("[exit code 1]"), "{attempt}: {text}");
        }
        // What needs a pair of sockets of its own goes on.
        let loops = "import asyncio\nasync def f(): return 3\nprint(asyncio.run(f()))";
        assert_eq!(
            run(&code, Language::Python, loops).await,
            "3\n[exit code 0]"
        );
        let open = code.clone().with_network();
        assert_eq!(
            run(&open, Language::Python, &connect).await,
            "there\n[exit code 0]"
        );
    }
    if is_here(Language::JavaScript) {
        let connect = format!(
            "await new Promise((ok, no) => require('net').connect({port}, '127.0.0.1', ok).on('error', no)); console.log('there'); process.exit()"
        );
        let text = run(&code, Language::JavaScript, &connect).await;
        assert!(text.ends_with("[exit code 1]"), "{text}");
        let open = code.with_network();
        assert_eq!(
            run(&open, Language::JavaScript, &connect).await,
            "there\n[exit code 0]"
        );
    }
}

#[tokio::test]
async fn its_memory_and_its_files_have_an_end() {
    if !is_here(Language::Python) {
        return;
    }
    let scratch = Scratch::new();
    let code = CodeRunner::new(&scratch.workspace());
    let text = run(&code, Language::Python, "x = bytearray(3 << 30)").await;
    assert!(text.contains("MemoryError"), "{text}");
    let text = run(&code, Language::Python, "open('f', 'wb').truncate(1 << 30)").await;
    assert!(
        text.contains("File too large") || text.contains("signal 25"),
        "{text}"
    );
}

#[tokio::test]
async fn nothing_of_it_is_left_after_its_time() {
    for (language, program) in [
        (
            Language::Python,
            "import subprocess, time\nsubprocess.Popen(['setsid', 'sleep', '300'])\nprint('up', flush=True)\ntime.sleep(300)",
        ),
        (
            Language::JavaScript,
            "require('child_process').spawn('setsid', ['sleep', '300'], { detached: true }).unref(); console.log('up'); setTimeout(() => {}, 300000)",
        ),
    ] {
        if !is_here(language) {
            continue;
        }
        let scratch = Scratch::new();
        let code = CodeRunner::new(&scratch.workspace());
        let context = ToolContext::for_test();
        let text = code.run_code(language, program, 3, &context).await;
        let text = text.unwrap_err().to_string();
        assert_eq!(text, "up\n[timed out after 3 s and was ended]");
        nothing_is_left(&scratch, program).await;
    }
}

/// Say something twice.
#[tool(read_only)]
async fn twice(
    /// What.
    #[arg(length = 1..=10)]
    text: String,
) -> String {
    format!("{text}{text}")
}

/// Fire.
#[tool(needs_approval)]
async fn fire() -> String {
    "fired".to_owned()
}

/// What a program prints that runs as a call of a run.
async fn in_a_run(language: Language, program: &str) -> String {
    let scratch = Scratch::new();
    let code = CodeRunner::new(&scratch.workspace())
        .with_tools(["twice", "fire", "read"])
        .unattended();
    let language = match language {
        Language::Python => "python",
        _ => "javascript",
    };
    let arguments = json!({ "language": language, "code": program }).to_string();
    let model = ScriptedModel::new([
        Step::call(ToolCall::new("1", "run_code", arguments)),
        Step::text("done"),
    ]);
    let agent = Agent::builder::<()>(model)
        .tools(tools![twice, fire, ..code])
        .tools(Toolkit::new(scratch.path()).unwrap())
        .build()
        .unwrap();
    std::fs::write(scratch.path().join("a.txt"), "first line\n").unwrap();
    let answer = agent.run("go").await.unwrap();
    let results = answer
        .transcript()
        .iter()
        .find_map(|message| match message {
            Message::Results { results } => Some(results[0].text()),
            _ => None,
        });
    results.unwrap()
}

#[tokio::test]
async fn a_program_calls_tools_by_the_road_that_the_model_takes() {
    use Language::{JavaScript, Python};
    let table: &[(Language, &str, &str)] = &[
        (
            Python,
            "print(tools.twice(text='ab'))",
            "abab\n[exit code 0]",
        ),
        (
            JavaScript,
            "console.log(await tools.twice({ text: 'ab' }))",
            "abab\n[exit code 0]",
        ),
        (
            Python,
            "print(sorted(dir(tools)))",
            "['fire', 'read', 'twice']\n[exit code 0]",
        ),
        (
            JavaScript,
            "console.log(Object.keys(tools).join())",
            "twice,fire,read\n[exit code 0]",
        ),
        (
            Python,
            "print(tools.read(path='a.txt'))",
            "1\tfirst line\n[exit code 0]",
        ),
        // The arguments are checked.
        (
            Python,
            "try:\n  tools.twice(text='')\nexcept ToolError as error:\n  print('caught:', str(error).split('\\n')[0])",
            "caught: /text: must have 1 to 10 characters, got 0\n[exit code 0]",
        ),
        // A person's agreement to the program is none to what it calls.
        (
            JavaScript,
            "try { await tools.fire() } catch (error) { console.log(error instanceof ToolError) }",
            "true\n[exit code 0]",
        ),
        // What was not named cannot be called, also by who speaks past `tools`.
        (
            Python,
            "import os, json\nos.write(3, b'{\"tool\":\"run_code\",\"arguments\":{}}\\n')\nprint(json.loads(os.read(4, 9999))['text'])",
            "no tool `run_code` can be called from code\n[exit code 0]",
        ),
        (
            Python,
            "import os, json\nos.write(3, b'nonsense\\n')\nprint(json.loads(os.read(4, 9999))['failed'])",
            "True\n[exit code 0]",
        ),
        (
            Python,
            "n = 0\ntry:\n  while True:\n    tools.twice(text='a')\n    n += 1\nexcept ToolError as error:\n  print(n, error)",
            "50 a program may make 50 calls, and these were made\n[exit code 0]",
        ),
        // Threads take turns.
        (
            Python,
            "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n  print(*pool.map(lambda t: tools.twice(text=t), 'abcdef'))",
            "aa bb cc dd ee ff\n[exit code 0]",
        ),
        // A large answer and a large question.
        (
            JavaScript,
            "try { await tools.twice({ text: 'a'.repeat(500000) }) } catch (error) { console.log('refused') }",
            "refused\n[exit code 0]",
        ),
    ];
    for (language, program, expected) in table {
        if is_here(*language) {
            assert_eq!(in_a_run(*language, program).await, *expected, "{program}");
        }
    }
}

#[tokio::test]
async fn a_person_is_asked_unless_programs_are_confined_and_the_host_says_so() {
    let scratch = Scratch::new();
    let code = CodeRunner::new(&scratch.workspace());
    for (code, outcome) in [
        (code.clone(), Outcome::Refused),
        (code.clone().unattended(), Outcome::Done),
        (code.unattended().unconfined(), Outcome::Refused),
    ] {
        if !is_here(Language::Python) {
            return;
        }
        let set = tools![..code].into_set().unwrap();
        let call = ToolCall::new("1", "run_code", r#"{"language":"python","code":"1"}"#);
        let result = set.answer(&call, &ToolContext::for_test()).await;
        assert_eq!(result.outcome, outcome, "{}", result.text());
    }
}

#[tokio::test]
async fn a_missing_interpreter_is_said_with_its_name() {
    let scratch = Scratch::new();
    let code = CodeRunner::new(&scratch.workspace())
        .with_interpreter(Language::Python, "/nowhere/python3")
        .with_environment(Environment::new());
    let text = run(&code, Language::Python, "1").await;
    assert_eq!(
        text,
        "error: `/nowhere/python3` cannot run here: No such file or directory (os error 2)"
    );
}
