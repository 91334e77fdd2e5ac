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

impl Format {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "date" => Self::Date,
            "time" => Self::Time,
            "date-time" => Self::DateTime,
            "uuid" => Self::Uuid,
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            _ => return None,
        })
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
        ] {
            assert_eq!(format.holds(text), holds, "{format:?} {text}");
        }
    }
}
