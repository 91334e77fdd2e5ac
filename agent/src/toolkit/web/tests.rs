#![allow(clippy::unwrap_used)]
use super::address::{Closed, judge};
use super::guard::{Guard, SystemLookup};
use super::page::{Shown, read};
use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

fn closed(address: &str) -> bool {
    judge(address.parse().unwrap(), &[]).is_err()
}

#[test]
fn only_the_public_internet_is_open() {
    for address in [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "10.255.255.255",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "168.63.129.16",
        "100.100.100.200",
        "::",
        "::1",
        "::7f00:1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "::ffff:0:127.0.0.1",
        "64:ff9b::127.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::808:808",
        "64:ff9b:1:7f00:0:100::",
        "100::1",
        "2001::1",
        "2001:0:808:808::1",
        "2001:2::1",
        "2001:10::1",
        "2001:20::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::",
        "2002:808:808::",
        "3ffe::1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "ff0e::1",
        "4000::1",
        "2606:4700::5efe:10.0.0.1",
        "2606:4700::200:5efe:127.0.0.1",
    ] {
        assert!(closed(address), "{address}");
    }
    for address in [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.1",
        "100.63.255.255",
        "100.128.0.1",
        "126.255.255.255",
        "128.0.0.1",
        "169.253.0.1",
        "172.15.255.255",
        "172.32.0.1",
        "192.0.1.1",
        "192.167.255.255",
        "198.17.255.255",
        "198.20.0.1",
        "223.255.255.255",
        "2606:4700:4700::1111",
        "2a00:1450::1",
        "2001:4860:4860::8888",
        "2003::1",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2606:4700::5efe:8.8.8.8",
    ] {
        assert!(!closed(address), "{address}");
    }
}

#[test]
fn what_a_host_allows_is_open_but_never_where_clouds_keep_keys() {
    let allowed: Vec<IpAddr> = [
        "127.0.0.1",
        "169.254.169.254",
        "fd00:ec2::254",
        "168.63.129.16",
    ]
    .iter()
    .map(|address| address.parse().unwrap())
    .collect();
    for address in ["127.0.0.1", "::ffff:127.0.0.1"] {
        assert_eq!(
            judge(address.parse().unwrap(), &allowed),
            Ok(()),
            "{address}"
        );
    }
    for address in [
        "169.254.169.254",
        "::ffff:169.254.169.254",
        "fd00:ec2::254",
        "168.63.129.16",
        "64:ff9b::a9fe:a9fe",
    ] {
        assert_eq!(
            judge(address.parse().unwrap(), &allowed),
            Err(Closed::Metadata),
            "{address}"
        );
    }
    assert!(judge("127.0.0.2".parse().unwrap(), &allowed).is_err());
}

proptest! {
    /// However an address is wrapped up, it is no more open than by itself.
    #[test]
    fn no_wrapping_opens_an_address(bits: u32, prefix: u32) {
        let plain = Ipv4Addr::from_bits(bits);
        let is_closed = judge(plain.into(), &[]).is_err();
        let low = u128::from(bits);
        let wrapped = [
            low,
            (0xffff_u128 << 32) | low,
            (0xffff_u128 << 48) | low,
            (0x64_ff9b_u128 << 96) | low,
            (0x64_ff9b_0001_u128 << 80) | low,
            (0x2002_u128 << 112) | (low << 80),
            (0x2001_u128 << 112) | (low << 64),
            (0x2001_u128 << 112) | (!low & 0xffff_ffff),
            (0x2606_4700_u128 << 96) | (u128::from(prefix) << 64) | (0x5efe_u128 << 32) | low,
            (0x2606_4700_u128 << 96) | (0x0200_5efe_u128 << 32) | low,
        ];
        for address in wrapped {
            let address = Ipv6Addr::from_bits(address);
            if is_closed {
                prop_assert!(judge(address.into(), &[]).is_err(), "{plain} as {address}");
            }
        }
    }
}

#[test]
fn odd_spellings_of_a_private_host_are_the_private_host() {
    let guard = Guard {
        lookup: Arc::new(SystemLookup),
        allowed: Arc::new([]),
    };
    for address in [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://127.0.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.1/",
        "http://017700000001/",
        "http://0177.0.0.1/",
        "http://127.0.0.1./",
        "http://127.0.0.1:8080/",
        "http://0/",
        "http://0.0.0.0/",
        "http://[::1]/",
        "http://[::]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[0:0:0:0:0:0:0:1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://a:b@127.0.0.1/",
        "http://8.8.8.8@127.0.0.1/",
        "http:127.0.0.1/",
        "http:/127.0.0.1/",
        "http:\\\\127.0.0.1\\",
        "  http://127.0.0.1/",
        "HTTP://127.0.0.1/",
        "http://①②⑦.⓪.⓪.①/",
        "http://127。0。0。1/",
        "http://%31%32%37.0.0.1/",
        "ht\ntp://127.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://0xa9fea9fe/",
        "http://2852039166/",
    ] {
        let said = guard.address(address).unwrap_err().to_string();
        assert!(
            said.contains("only the public internet"),
            "{address}: {said}"
        );
    }
    for address in [
        "file:///etc/passwd",
        "ftp://a/",
        "gopher://a/",
        "data:text/plain,a",
        "javascript:1",
        "unix:/x",
        "localhost:80",
        "http://",
        "//a/b",
        "a",
        "http://[fe80::1%25eth0]/",
        "http://a b/",
        "http://256.256.256.256/",
    ] {
        guard.address(address).unwrap_err();
    }
    let plain = guard
        .address("https://me:secret@example.com/a?b#c")
        .unwrap();
    assert_eq!(plain.as_str(), "https://example.com/a?b");
}

#[test]
fn a_body_is_shown_as_the_server_says_and_never_as_what_it_is_not() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    let text = |text: &str| Shown::Text(text.to_owned());
    let nothing = |why: &str| Shown::Nothing(why.to_owned());
    let table: &[(Option<&str>, &[u8], Shown)] = &[
        (Some("text/plain"), b"a <b>", text("a <b>")),
        (Some("application/json; charset=utf-8"), b"{}", text("{}")),
        (Some("application/ld+json"), b"{}", text("{}")),
        (
            Some("text/plain; charset=iso-8859-1"),
            b"caf\xe9",
            text("café"),
        ),
        (
            Some("text/plain; charset=\"Shift_JIS\""),
            b"\x82\xa0",
            text("あ"),
        ),
        (Some("text/plain"), b"caf\xe9 ", text("café ")),
        (Some("text/plain"), b"\xff\xfea\0b\0", text("ab")),
        (
            Some("text/plain"),
            "cut €".as_bytes().get(..6).unwrap(),
            text("cut \u{fffd}"),
        ),
        (None, b"a", text("a")),
        (
            Some("image/png"),
            png,
            nothing("16 bytes of image/png, which is no text"),
        ),
        (
            Some("text/html"),
            png,
            nothing("16 bytes that are no text, though the server says text/html"),
        ),
        (
            None,
            png,
            nothing("16 bytes that are no text, and the server does not say what"),
        ),
        (
            Some("application/octet-stream"),
            b"a",
            nothing("1 bytes of application/octet-stream, which is no text"),
        ),
    ];
    for (said, body, expected) in table {
        assert_eq!(&read(*said, body), expected, "{said:?} {body:?}");
    }
}

#[test]
fn a_page_is_its_text_without_scripts() {
    let page = b"<!DOCTYPE html><title>T</title><style>p{}</style><script>let a=1</script><h1>Hello</h1><p>A <a href=\"/b\">link</a>.";
    for said in [Some("text/html"), None] {
        let Shown::Html(text) = read(said, page) else {
            panic!("{said:?}");
        };
        assert!(
            text.contains("Hello") && text.contains("link") && text.contains("/b"),
            "{text}"
        );
        assert!(!text.contains("let a") && !text.contains("p{}"), "{text}");
    }
}

#[test]
fn a_page_that_is_nested_without_end_is_still_read() {
    let end = "<script>hidden</script><p>words";
    for page in [
        "<div>".repeat(50_000) + end,
        "<div></x>".repeat(50_000) + end,
        "<b><table>".repeat(5_000) + end,
        "<ul><li>".repeat(10_000) + end,
        "<div>".repeat(400) + end,
    ] {
        // On a thread as small as those that read pages are.
        let read = std::thread::Builder::new()
            .stack_size(2 * 1024 * 1024)
            .spawn(move || read(Some("text/html"), page.as_bytes()));
        let Shown::Html(text) = read.unwrap().join().unwrap() else {
            panic!("not a page");
        };
        assert!(text.contains("words") && !text.contains("hidden"));
    }
}
