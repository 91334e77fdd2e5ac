#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
use super::Kept;
use super::kept::WHOLE;

fn kept(head: usize, tail: usize, pieces: &[&[u8]]) -> Kept {
    let mut kept = Kept::new(head, tail);
    for piece in pieces {
        kept.push(piece);
    }
    kept
}

#[test]
fn an_output_within_its_limits_is_whole_however_it_came() {
    let text = "a\nb€c";
    for size in 1..=text.len() {
        let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
        assert_eq!(kept(3, 5, &pieces).text(""), text, "pieces of {size}");
    }
}

#[test]
fn an_output_is_cut_between_characters_at_every_limit() {
    let output = format!("a{}", "€".repeat(30_000));
    for head in 0..=16 {
        for tail in 0..=16 {
            let kept = kept(head, tail, &[output.as_bytes()]);
            let text = kept.text("");
            assert!(!text.contains('\u{fffd}'), "{head}, {tail}: {text}");
            let marker = text.lines().find(|line| line.starts_with('[')).unwrap();
            let left_out: usize = marker[1..].split(' ').next().unwrap().parse().unwrap();
            let shown: usize = text
                .lines()
                .filter(|line| !line.starts_with('['))
                .map(str::len)
                .sum();
            assert_eq!(left_out + shown, output.len(), "{head}, {tail}: {text}");
        }
    }
}

#[test]
fn what_is_left_out_is_counted_in_bytes_and_line_ends() {
    let lines: Vec<String> = (0..1000).map(|line| format!("line {line:03}\n")).collect();
    let whole = lines.concat();
    let text = kept(40, 40, &[whole.as_bytes()]).text("");
    assert_eq!(
        text,
        "line 000\nline 001\nline 002\nline 003\n[8928 bytes with 992 line ends left out here]\n\
         line 996\nline 997\nline 998\nline 999\n"
    );
}

#[test]
fn what_is_no_text_is_replaced_and_said_so() {
    let text = kept(100, 100, &[b"a\xff\xfe\x00b\x1b[1m\tc\r\n"]).text("");
    assert_eq!(
        text,
        "a\u{fffd}\u{fffd}\u{fffd}b\u{fffd}[1m\tc\r\n[\u{fffd} stands for what is no text, 4 times]"
    );
}

#[test]
fn an_endless_output_keeps_no_more_than_its_limits() {
    let mut kept = Kept::new(100, 200);
    for _ in 0..10_000 {
        kept.push(&[0; 1000]);
    }
    let (whole, missing) = kept.whole();
    assert_eq!(
        (whole.chars().count(), missing),
        (WHOLE, 10_000_000 - WHOLE as u64)
    );
    assert!(kept.text("").contains("[9999700 bytes left out here]"));
}
