//! When to ask again, as both official SDKs do.

use crate::model::{ModelError, ModelErrorKind};
use reqwest::header::HeaderMap;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, SystemTime};

/// The longest that we wait because a server says so, as OpenAI's client does. Beyond it the caller is told, and decides.
/// (Anthropic's does so up to a minute, and asks sooner than it was told to if it was told to wait longer.)
const LONGEST: Duration = Duration::from_mins(2);

/// What the headers of an error answer say of asking again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Advice {
    pub(super) should_retry: Option<bool>,
    pub(super) after: Option<Duration>,
}

impl Advice {
    pub(super) fn read(headers: &HeaderMap, now: SystemTime) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        Self {
            should_retry: match text("x-should-retry") {
                Some("true") => Some(true),
                Some("false") => Some(false),
                _ => None,
            },
            after: text("retry-after-ms")
                .and_then(|value| seconds(value, 1e-3))
                .or_else(|| text("retry-after").and_then(|value| after(value, now))),
        }
    }
}

fn after(value: &str, now: SystemTime) -> Option<Duration> {
    seconds(value, 1.0).or_else(|| {
        let date = httpdate::parse_http_date(value.trim()).ok()?;
        Some(date.duration_since(now).unwrap_or_default())
    })
}

fn seconds(value: &str, unit: f64) -> Option<Duration> {
    let count: f64 = value.trim().parse().ok()?;
    Duration::try_from_secs_f64(count * unit).ok()
}

/// How long to wait before asking again after this error; nothing if it is not to be done. `attempt` counts from 0.
pub(super) fn delay(error: &ModelError, advice: Advice, attempt: u32) -> Option<Duration> {
    // Whatever a server says of it, nothing is earned by asking an account that is used up.
    let is_hopeless = error.kind() == ModelErrorKind::Quota;
    if is_hopeless || !advice.should_retry.unwrap_or_else(|| error.is_retryable()) {
        return None;
    }
    let backoff = Duration::from_millis(500)
        .saturating_mul(2_u32.saturating_pow(attempt))
        .min(Duration::from_secs(8));
    // Jitter takes away up to a quarter, so that clients that failed together do not come back together.
    let taken = RandomState::new().hash_one(attempt) % 256;
    let taken = backoff / 4 * u32::try_from(taken).unwrap_or_default() / 256;
    let backoff = backoff.saturating_sub(taken);
    match advice.after {
        Some(after) if after > LONGEST => None,
        Some(after) => Some(after.max(backoff)),
        None => Some(backoff),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn advice(name: &'static str, value: &str) -> Advice {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        Advice::read(&headers, now)
    }

    #[test]
    fn retry_after_is_read_as_milliseconds_seconds_and_date() {
        let table = [
            ("retry-after-ms", "1500", Some(1500)),
            ("retry-after", "2", Some(2000)),
            ("retry-after", "0.5", Some(500)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT", Some(10_000)),
            ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("retry-after", "-1", None),
            ("retry-after", "NaN", None),
            ("retry-after", "soon", None),
        ];
        for (name, value, expected) in table {
            let after = advice(name, value).after;
            assert_eq!(
                after,
                expected.map(Duration::from_millis),
                "{name}: {value}"
            );
        }
    }

    #[test]
    fn only_what_may_succeed_later_is_asked_again_unless_the_server_says() {
        let error = |kind| ModelError::new(kind, "x");
        let plain = Advice::default();
        for (kind, asked) in [
            (ModelErrorKind::RateLimit, true),
            (ModelErrorKind::Server, true),
            (ModelErrorKind::Connection, true),
            (ModelErrorKind::Timeout, true),
            (ModelErrorKind::Quota, false),
            (ModelErrorKind::Auth, false),
            (ModelErrorKind::Rejected, false),
        ] {
            assert_eq!(delay(&error(kind), plain, 0).is_some(), asked, "{kind:?}");
        }
        let yes = advice("x-should-retry", "true");
        assert!(delay(&error(ModelErrorKind::Rejected), yes, 0).is_some());
        assert!(delay(&error(ModelErrorKind::Quota), yes, 0).is_none());
        let no = advice("x-should-retry", "false");
        assert!(delay(&error(ModelErrorKind::Server), no, 0).is_none());
    }

    #[test]
    fn waits_double_up_to_eight_seconds_and_lose_a_quarter_at_most() {
        let error = ModelError::new(ModelErrorKind::Server, "x");
        for (attempt, full) in [(0, 500), (1, 1000), (2, 2000), (4, 8000), (40, 8000)] {
            let wait = delay(&error, Advice::default(), attempt).unwrap();
            let full = Duration::from_millis(full);
            assert!(wait <= full && wait >= full * 3 / 4, "{attempt}: {wait:?}");
        }
    }

    #[test]
    fn what_the_server_asks_for_is_a_floor_and_too_much_is_left_to_the_caller() {
        let error = ModelError::new(ModelErrorKind::RateLimit, "x");
        let wait = delay(&error, advice("retry-after", "7"), 0);
        assert_eq!(wait, Some(Duration::from_secs(7)));
        let wait = delay(&error, advice("retry-after", "120"), 0);
        assert_eq!(wait, Some(Duration::from_mins(2)));
        assert_eq!(delay(&error, advice("retry-after", "121"), 0), None);
    }
}
