//! What a model does on a page.

use crate::server::Server;
use crate::{browser, open, reference, tree};
use agent::toolkit::ReadAs;

const FORM: &str = r"<!doctype html><title>Order</title><form method=post action=/sent>
<input name=who aria-label=Who value=old>
<input name=key type=password aria-label=Key>
<textarea name=note aria-label=Note>first </textarea>
<select name=size aria-label=Size><option value=s>Small<option value=l>Large</select>
<select name=kind aria-label=Kind><option value=a>Apple<option value=p>Pear</select>
<input name=day type=date aria-label=Day>
<label><input name=fresh type=checkbox>Fresh</label>
<button>Send</button></form>
<div contenteditable role=textbox aria-label=Rich>rich</div>";

#[tokio::test]
async fn a_form_is_filled_and_sent() {
    let Some(browser) = browser() else { return };
    let server = Server::of(&[
        ("/", FORM),
        ("/sent", "<title>Thanks</title><p>it was sent"),
    ])
    .await;
    let form = browser.browser_open(&server.url("/")).await.unwrap();
    let of = |words: &str| reference(&form, words);
    let typed = browser
        .browser_type(of("\"Who\""), "Ada \"L\" – 1 & 2", true, false)
        .await
        .unwrap();
    assert!(
        typed.contains("textbox \"Who\" = \"Ada \\\"L\\\" – 1 & 2\""),
        "{typed}"
    );
    assert!(
        !typed.contains("\"Note\"") && typed.contains(" as before]"),
        "only what changed:\n{typed}"
    );
    let key = browser
        .browser_type(of("\"Key\""), "hush", true, false)
        .await
        .unwrap();
    assert!(!key.contains("hush"), "{key}");
    browser
        .browser_type(of("\"Note\""), "and last", false, false)
        .await
        .unwrap();
    browser
        .browser_type(of("\"Size\""), "Large", true, false)
        .await
        .unwrap();
    browser
        .browser_click(of("option \"Pear\""), false)
        .await
        .unwrap();
    browser
        .browser_type(of("\"Day\""), "2026-01-31", true, false)
        .await
        .unwrap();
    browser.browser_click(of("\"Fresh\""), false).await.unwrap();
    let rich = browser
        .browser_type(of("\"Rich\""), " text", false, false)
        .await
        .unwrap();
    assert!(rich.contains("rich text"), "{rich}");
    let sent = browser
        .browser_click(of("button \"Send\""), false)
        .await
        .unwrap();
    assert!(
        sent.starts_with("[tab 1: \"Thanks\" at ") && sent.contains("it was sent"),
        "{sent}"
    );
    let asked = server.asked();
    let (_, fields) = asked.last().unwrap().split_once("\r\n\r\n").unwrap();
    assert_eq!(
        fields,
        "who=Ada+%22L%22+%E2%80%93+1+%26+2&key=hush&note=first+and+last&size=l&kind=p&day=2026-01-31&fresh=on"
    );
}

#[tokio::test]
async fn enter_sends_a_form_and_an_empty_text_empties_a_field() {
    let Some(browser) = browser() else { return };
    let page = "<form action=/found><input name=q aria-label=Search value=old></form>";
    let server = Server::of(&[("/", page), ("/found", "<title>Found</title>here")]).await;
    let shown = browser.browser_open(&server.url("/")).await.unwrap();
    let field = reference(&shown, "\"Search\"");
    let empty = browser.browser_type(field, "", true, false).await.unwrap();
    assert!(
        empty.contains("textbox \"Search\"") && !empty.contains("old"),
        "{empty}"
    );
    let found = browser
        .browser_type(field, "two words", true, true)
        .await
        .unwrap();
    assert!(
        found.starts_with("[tab 1: \"Found\" at ") && found.contains("?q=two+words]"),
        "{found}"
    );
}

#[tokio::test]
async fn what_cannot_be_done_to_an_element_is_said_with_what_to_do() {
    let page = "<button id=off disabled>Off</button><input readonly aria-label=Fixed><input type=file aria-label=Upload>\
        <input type=date aria-label=Day><select aria-label=Pick><option>One<option>Two</select><button id=gone>Gone</button>\
        <h1>Words</h1><div style='position:relative'><button>Under</button>\
        <div style='position:absolute;inset:0;background:white'>Cookies? </div></div>";
    let Some((browser, _server, shown)) = open(page).await else {
        return;
    };
    let of = |words: &str| reference(&shown, words);
    let click = async |number| {
        browser
            .browser_click(number, false)
            .await
            .unwrap_err()
            .to_string()
    };
    let kind = async |number| {
        browser
            .browser_type(number, "x", true, false)
            .await
            .unwrap_err()
            .to_string()
    };
    let (off, under) = (of("\"Off\""), of("\"Under\""));
    assert_eq!(click(off).await, format!("[{off}] is disabled"));
    assert_eq!(
        click(under).await,
        format!(
            "[{under}] is covered by something else (div \"Cookies?\"), which a click would hit"
        )
    );
    assert_eq!(
        click(9999).await,
        "there is no element [9999]; `browser_read` shows which there are"
    );
    assert!(kind(of("\"Fixed\"")).await.ends_with("] can only be read"));
    assert!(
        kind(of("\"Upload\""))
            .await
            .ends_with("files are not given to pages")
    );
    assert!(
        kind(of("\"Day\""))
            .await
            .contains("is of type date and does not take this value")
    );
    assert!(
        kind(of("\"Pick\""))
            .await
            .ends_with("has no such option; it has `One`, `Two`")
    );
    assert!(
        kind(of("\"Words\""))
            .await
            .contains("is no field that can be typed into")
    );
}

#[tokio::test]
async fn a_reference_to_what_is_gone_is_answered_with_what_to_do() {
    let Some(browser) = browser() else { return };
    let page = "<button onclick='this.nextSibling.remove()'>Remove</button><button>Other</button><a href=/two>Two</a>";
    let server = Server::of(&[("/", page), ("/two", "<button>Second</button>")]).await;
    let shown = browser.browser_open(&server.url("/")).await.unwrap();
    let (remove, other, two) = (
        reference(&shown, "\"Remove\""),
        reference(&shown, "\"Other\""),
        reference(&shown, "\"Two\""),
    );
    browser.browser_click(remove, false).await.unwrap();
    let stale =
        |number| format!("[{number}] is no longer on the page; `browser_read` shows what is");
    let said = browser.browser_click(other, false).await.unwrap_err();
    assert_eq!(said.to_string(), stale(other));
    let second = browser.browser_click(two, false).await.unwrap();
    let second = reference(&second, "\"Second\"");
    assert!(second > two, "no number is given twice");
    let said = browser.browser_click(remove, false).await.unwrap_err();
    assert_eq!(said.to_string(), stale(remove));
    browser.browser_click(second, false).await.unwrap();
}

#[tokio::test]
async fn dialogs_are_dismissed_and_told() {
    let page = "<script>alert('wel\\ncome')</script><button onclick=\"this.textContent = confirm('Sure?') ? 'yes' : 'no'\">Ask</button>\
        <button onclick=\"this.textContent = 'got ' + prompt('Name?', 'x')\">Name</button><p>after";
    let Some((browser, server, shown)) = open(page).await else {
        return;
    };
    assert!(
        shown.contains("[the page said in a dialog: \"wel\\ncome\"]") && shown.contains("after"),
        "{shown}"
    );
    let asked = browser
        .browser_click(reference(&shown, "\"Ask\""), false)
        .await
        .unwrap();
    assert!(
        asked.contains("[the page asked in a dialog, which was dismissed: \"Sure?\"]"),
        "{asked}"
    );
    assert!(asked.contains("button \"no\""), "{asked}");
    let named = browser
        .browser_click(reference(&shown, "\"Name\""), false)
        .await
        .unwrap();
    assert!(
        named.contains("dismissed: \"Name?\"]") && named.contains("button \"got null\""),
        "{named}"
    );
    // One that does not want to be left is left.
    let sticky = Server::of(&[(
        "/",
        "<script>onbeforeunload = () => 'no'</script><button>Touch</button>",
    )])
    .await;
    let shown = browser.browser_open(&sticky.url("/")).await.unwrap();
    browser
        .browser_click(reference(&shown, "\"Touch\""), false)
        .await
        .unwrap();
    let left = browser.browser_open(&server.url("/")).await.unwrap();
    assert!(
        left.contains("[the page asked whether it should be left, and was]"),
        "{left}"
    );
}

#[tokio::test]
async fn a_tab_that_a_page_opens_is_looked_at_and_the_other_one_waits() {
    let Some(browser) = browser() else { return };
    let server = Server::of(&[
        ("/", "<title>One</title><a href=/two target=_blank>Two</a>"),
        (
            "/two",
            "<title>Two</title><button onclick='window.close()'>Close</button>",
        ),
    ])
    .await;
    let one = browser.browser_open(&server.url("/")).await.unwrap();
    let two = browser
        .browser_click(reference(&one, "\"Two\""), false)
        .await
        .unwrap();
    assert!(two.starts_with("[tab 2: \"Two\" at "), "{two}");
    assert!(
        two.contains("[the page opened tab 2, which is looked at now; `browser_tabs` goes back]"),
        "{two}"
    );
    let back = browser.browser_tabs(Some(1)).await.unwrap();
    assert!(
        back.starts_with("[tab 1: \"One\"") && back.contains("[tab 1, looked at; tab 2]"),
        "{back}"
    );
    assert_eq!(
        browser.browser_tabs(Some(9)).await.unwrap_err().to_string(),
        "there is no tab 9"
    );
    let link = reference(&tree(&browser).await, "\"Two\"");
    browser.browser_tabs(Some(2)).await.unwrap();
    let button = reference(&tree(&browser).await, "\"Close\"");
    // A reference is of one tab.
    let said = browser.browser_click(link, false).await.unwrap_err();
    assert!(
        said.to_string().contains("is no longer on the page"),
        "{said}"
    );
    let closed = browser.browser_click(button, false).await.unwrap();
    assert!(
        closed.starts_with("[tab 1: \"One\"")
            && closed.contains("[tab 2 was closed; tab 1 is looked at now]"),
        "{closed}"
    );
}

#[tokio::test]
async fn downloads_and_files_are_refused_and_told() {
    let Some(browser) = browser() else { return };
    let server = Server::of(&[
        (
            "/",
            "<a href=/file>Get</a><input type=file aria-label=Give>",
        ),
        ("/file", "file secret"),
    ])
    .await;
    let shown = browser.browser_open(&server.url("/")).await.unwrap();
    let got = browser
        .browser_click(reference(&shown, "\"Get\""), false)
        .await
        .unwrap();
    assert!(
        got.contains("[a download was refused: \"a.bin\" from "),
        "{got}"
    );
    let given = browser
        .browser_click(reference(&shown, "\"Give"), false)
        .await
        .unwrap();
    assert!(
        given.contains("[the page asked for a file, and got none: files are not given to pages]"),
        "{given}"
    );
    let opened = browser
        .browser_open(&server.url("/file"))
        .await
        .unwrap_err();
    assert!(
        opened
            .to_string()
            .contains("was not opened: a download was refused: \"a.bin\""),
        "{opened}"
    );
    assert!(
        browser
            .browser_read(ReadAs::Text, 1)
            .await
            .unwrap()
            .contains("Get"),
        "the page is still there"
    );
}

#[tokio::test]
async fn nothing_is_read_or_done_before_a_page_is_open() {
    let Some(browser) = browser() else { return };
    let said = browser.browser_click(1, false).await.unwrap_err();
    assert_eq!(
        said.to_string(),
        "no page is open; open one with `browser_open`"
    );
}
