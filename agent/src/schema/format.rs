//! The formats that are checked. Every other one is a note to the model, as JSON Schema has it.

use std::net::{Ipv4Addr, Ipv6Addr};

/// A format that can be told cheaply and without doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Date,
    Time,
    DateTime,
    Uuid,
    Ipv4,
    Ipv6,
    Email,
    Hostname,
    Uri,
    Duration,
}

/// Formats of JSON Schema that stay in a schema; others are a generator's own.
pub(super) const STANDARD: &[&str] = &[
    "date",
    "time",
    "date-time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
];

/// Those that are checked, under their names.
pub(super) const CHECKED: [(&str, Format); 10] = [
    ("date", Format::Date),
    ("time", Format::Time),
    ("date-time", Format::DateTime),
    ("uuid", Format::Uuid),
    ("ipv4", Format::Ipv4),
    ("ipv6", Format::Ipv6),
    ("email", Format::Email),
    ("hostname", Format::Hostname),
    ("uri", Format::Uri),
    ("duration", Format::Duration),
];

impl Format {
    pub(super) fn named(name: &str) -> Option<Self> {
        let mut all = CHECKED.into_iter();
        all.find_map(|(known, format)| (known == name).then_some(format))
    }

    /// The format in words, with an example.
    pub(super) const fn describe(self) -> &'static str {
        match self {
            Self::Date => "a date such as 2025-01-31",
            Self::Time => "a time with its offset such as 13:45:00Z",
            Self::DateTime => "a date and time with its offset such as 2025-01-31T13:45:00Z",
            Self::Uuid => "a UUID such as 123e4567-e89b-12d3-a456-426614174000",
            Self::Ipv4 => "an IPv4 address such as 192.0.2.1",
            Self::Ipv6 => "an IPv6 address such as 2001:db8::1",
            Self::Email => "an email address such as ada@example.com",
            Self::Hostname => "a host name such as www.example.com",
            Self::Uri => "a URI with its scheme such as https://example.com/a?b=c",
            Self::Duration => "a duration such as P3DT4H30M",
        }
    }

    pub(super) fn holds(self, text: &str) -> bool {
        match self {
            Self::Date => date(text).is_some(),
            Self::Time => time(text).is_some(),
            // RFC 3339 allows either case of the `T`.
            Self::DateTime => text
                .split_once(['T', 't'])
                .is_some_and(|(day, hour)| date(day).is_some() && time(hour).is_some()),
            Self::Uuid => {
                text.len() == 36
                    && text.bytes().enumerate().all(|(at, byte)| match at {
                        8 | 13 | 18 | 23 => byte == b'-',
                        _ => byte.is_ascii_hexdigit(),
                    })
            }
            Self::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Self::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Self::Email => email(text),
            Self::Hostname => hostname(text),
            Self::Uri => uri(text).is_some(),
            Self::Duration => duration(text).is_some(),
        }
    }
}

fn digits(text: &str, length: usize) -> Option<u32> {
    let fits = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.parse().ok()).flatten()
}

fn date(text: &str) -> Option<()> {
    let mut parts = text.split('-');
    let year = digits(parts.next()?, 4)?;
    let month = digits(parts.next()?, 2)?;
    let day = digits(parts.next()?, 2)?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return None,
    };
    (parts.next().is_none() && (1..=days).contains(&day)).then_some(())
}

fn time(text: &str) -> Option<()> {
    let at = text.rfind(['Z', 'z', '+', '-'])?;
    let (clock, offset) = (text.get(..at)?, text.get(at..)?);
    let (sign, shift) = match offset {
        "Z" | "z" => (1, 0),
        other => {
            let (hours, minutes) = other.get(1..)?.split_once(':')?;
            let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            (
                if other.starts_with('+') { 1 } else { -1 },
                i64::from(hours * 60 + minutes),
            )
        }
    };
    let (clock, fraction) = clock
        .split_once('.')
        .map_or((clock, "0"), |(clock, fraction)| (clock, fraction));
    let mut parts = clock.split(':');
    let hour = digits(parts.next()?, 2)?;
    let minute = digits(parts.next()?, 2)?;
    let second = digits(parts.next()?, 2)?;
    // A leap second is the last one of a day in UTC.
    let in_utc = (i64::from(hour * 60 + minute) - sign * shift).rem_euclid(24 * 60);
    let last = second < 60 || (second == 60 && in_utc == 24 * 60 - 1);
    let whole = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    (parts.next().is_none() && hour < 24 && minute < 60 && last && whole).then_some(())
}

/// RFC 1123.
fn hostname(text: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    text.len() <= 253 && text.split('.').all(label)
}

/// RFC 5321, section 4.1.2.
fn email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let atom = |atom: &str| {
        !atom.is_empty()
            && atom
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte))
    };
    let quoted = |text: &str| {
        let mut escaped = false;
        let plain = text.bytes().all(|byte| {
            let is_plain = matches!(byte, b' '..=b'~') && (escaped || byte != b'"');
            escaped = !escaped && byte == b'\\';
            is_plain
        });
        plain && !escaped
    };
    let local_holds = match local
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    {
        Some(inner) => quoted(inner),
        None => local.split('.').all(atom),
    };
    let literal = domain
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let domain_holds = match literal {
        None => hostname(domain),
        Some(address) => match address.strip_prefix("IPv6:") {
            Some(address) => address.parse::<Ipv6Addr>().is_ok(),
            None => address.parse::<Ipv4Addr>().is_ok(),
        },
    };
    local.len() <= 64 && local_holds && domain_holds
}

/// RFC 3986, a URI with its scheme.
fn uri(text: &str) -> Option<()> {
    let (scheme, rest) = text.split_once(':')?;
    let scheme_holds = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (hierarchy, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = match hierarchy.strip_prefix("//") {
        None => hierarchy,
        Some(rest) => {
            let end = rest.find('/').unwrap_or(rest.len());
            let (authority, path) = rest.split_at_checked(end)?;
            authority_of_uri(authority)?;
            path
        }
    };
    (scheme_holds
        && uri_characters(path, b":@/")
        && uri_characters(query, b":@/?")
        && uri_characters(fragment, b":@/?"))
    .then_some(())
}

fn authority_of_uri(text: &str) -> Option<()> {
    let (user, place) = text.rsplit_once('@').unwrap_or(("", text));
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            address.parse::<Ipv6Addr>().ok()?;
            (
                "",
                port.strip_prefix(':').or(port.is_empty().then_some(""))?,
            )
        }
        None => place.split_once(':').unwrap_or((place, "")),
    };
    (uri_characters(user, b":")
        && uri_characters(host, b"")
        && port.bytes().all(|byte| byte.is_ascii_digit()))
    .then_some(())
}

/// Whether there is nothing but what may stand in every part of a URI, and these.
fn uri_characters(text: &str, and: &[u8]) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let holds = match byte {
            b'%' => {
                let digits = [bytes.next(), bytes.next()];
                digits
                    .iter()
                    .all(|digit| digit.is_some_and(|digit| digit.is_ascii_hexdigit()))
            }
            other => {
                other.is_ascii_alphanumeric()
                    || b"-._~!$&'()*+,;=".contains(&other)
                    || and.contains(&other)
            }
        };
        if !holds {
            return false;
        }
    }
    true
}

/// RFC 3339, appendix A: weeks alone, or units that follow each other without a gap.
fn duration(text: &str) -> Option<()> {
    let rest = text.strip_prefix('P')?;
    if let Some(weeks) = rest.strip_suffix('W') {
        return is_number(weeks).then_some(());
    }
    let (date, time) = match rest.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (rest, None),
    };
    let days = units(date, "YMD")?;
    match time {
        None => (days > 0).then_some(()),
        Some(time) => (units(time, "HMS")? > 0).then_some(()),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// How many numbers there are, each with its unit.
fn units(text: &str, letters: &str) -> Option<usize> {
    let (mut count, mut next) = (0, None);
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit())?;
        let (number, behind) = rest.split_at_checked(end)?;
        let letter = behind.chars().next()?;
        let at = letters.find(letter)?;
        if !is_number(number) || next.is_some_and(|next| next != at) {
            return None;
        }
        (count, next) = (count + 1, Some(at + 1));
        rest = behind.strip_prefix(letter)?;
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_hold_for_what_they_name() {
        for (format, text, holds) in [
            (Format::Date, "2024-02-29", true),
            (Format::Date, "2023-02-29", false),
            (Format::Date, "2024-2-29", false),
            (Format::Time, "13:45:00Z", true),
            (Format::Time, "13:45:00.25+01:30", true),
            (Format::Time, "13:45:00", false),
            (Format::Time, "23:59:60Z", true),
            (Format::Time, "12:59:60Z", false),
            (Format::DateTime, "2025-01-31T13:45:00Z", true),
            (Format::DateTime, "2025-01-31 13:45:00Z", false),
            (Format::Uuid, "123e4567-e89b-12d3-a456-426614174000", true),
            (Format::Uuid, "123e4567e89b12d3a456426614174000", false),
            (Format::Ipv4, "192.0.2.1", true),
            (Format::Ipv4, "192.0.2.256", false),
            (Format::Ipv6, "2001:db8::1", true),
            (Format::Ipv6, "2001:db8", false),
            (Format::Email, "ada.l+x@example.com", true),
            (Format::Email, r#""a b\"c"@example.com"#, true),
            (Format::Email, "ada@[192.0.2.1]", true),
            (Format::Email, "ada@[IPv6:2001:db8::1]", true),
            (Format::Email, "a b@c.de", false),
            (Format::Email, "a..b@c.de", false),
            (Format::Email, "ada@", false),
            (Format::Email, "ada", false),
            (Format::Email, "ada@-x.de", false),
            (Format::Hostname, "www.example.com", true),
            (Format::Hostname, "a-1", true),
            (Format::Hostname, "a..b", false),
            (Format::Hostname, "a_b", false),
            (Format::Hostname, "", false),
            (
                Format::Uri,
                "https://ada:x@example.com:8080/a%20b?c=d#e",
                true,
            ),
            (Format::Uri, "http://[2001:db8::1]:80/", true),
            (Format::Uri, "mailto:ada@example.com", true),
            (Format::Uri, "urn:isbn:0451450523", true),
            (Format::Uri, "example.com/a", false),
            (Format::Uri, "//example.com/a", false),
            (Format::Uri, "https://example.com/a b", false),
            (Format::Uri, "https://example.com/%2", false),
            (Format::Uri, "https://example.com:port/", false),
            (Format::Duration, "P1Y2M3DT4H5M6S", true),
            (Format::Duration, "P3W", true),
            (Format::Duration, "PT36H", true),
            (Format::Duration, "P", false),
            (Format::Duration, "PT", false),
            (Format::Duration, "P1DT", false),
            (Format::Duration, "P1Y3D", false),
            (Format::Duration, "P1M1Y", false),
            (Format::Duration, "1D", false),
        ] {
            assert_eq!(format.holds(text), holds, "{format:?} {text}");
        }
    }
}
