//! `%p` and `%t` in paths, as in HotSpot.
//!
//! With `%p` in the name each of many processes gets its own file. Only paths in options are
//! expanded. All other paths come from a shell or the program, and a `%` there may be part of a
//! name.

use std::ffi::OsString;
use std::mem::MaybeUninit;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Replaces `%p` by the number of this process, `%t` by `now` in local time, as
/// `2026-03-01_14-05-09`, and `%%` by `%`. Any other `%` stays.
///
/// ```
/// use std::path::Path;
/// use std::time::SystemTime;
///
/// let path = allotment_output::expand(Path::new("100%%-%p.log"), SystemTime::now());
/// assert_eq!(path, Path::new(&format!("100%-{}.log", std::process::id())));
/// ```
pub fn expand(path: &Path, now: SystemTime) -> PathBuf {
    let mut expanded = Vec::new();
    let mut rest = path.as_os_str().as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let (text, after) = match (first, after.split_first()) {
            (b'%', Some((b'p', after))) => (std::process::id().to_string(), after),
            (b'%', Some((b't', after))) => (local_time(now), after),
            (b'%', Some((b'%', after))) => ("%".to_owned(), after),
            _ => {
                expanded.push(first);
                rest = after;
                continue;
            }
        };
        expanded.extend(text.bytes());
        rest = after;
    }
    OsString::from_vec(expanded).into()
}

/// The time as `YYYY-MM-DD_HH-MM-SS`.
fn local_time(now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as libc::time_t);
    let mut fields = MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: `tm` is a struct of numbers and a pointer, all of which may be zero. The call writes
    // to it alone.
    let fields = unsafe {
        libc::localtime_r(&raw const seconds, fields.as_mut_ptr());
        fields.assume_init()
    };
    format!(
        "{:04}-{:02}-{:02}_{:02}-{:02}-{:02}",
        fields.tm_year + 1900,
        fields.tm_mon + 1,
        fields.tm_mday,
        fields.tm_hour,
        fields.tm_min,
        fields.tm_sec
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn expanded(path: &str) -> String {
        let now = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        expand(Path::new(path), now).into_os_string().into_string().unwrap()
    }

    #[test]
    fn process_and_time_stand_where_the_path_names_them() {
        let process = std::process::id().to_string();
        assert_eq!(expanded("a/%p/b-%p.log"), format!("a/{process}/b-{process}.log"));
        let time = expanded("%t");
        // The hour depends on the zone, and so may the day.
        let (date, clock) = time.split_once('_').unwrap();
        assert!(["2001-09-08", "2001-09-09"].contains(&date), "{time}");
        assert_eq!((clock.len(), &clock[5..]), (8, "-40"), "{time}");
    }

    #[test]
    fn other_percent_signs_stay() {
        for (path, plain) in
            [("%%", "%"), ("%%p", "%p"), ("100%", "100%"), ("%x%", "%x%"), ("%%%", "%%"), ("", "")]
        {
            assert_eq!(expanded(path), plain);
        }
    }

    #[test]
    fn bytes_that_are_no_text_stay() {
        let path = PathBuf::from(OsString::from_vec(vec![0xff, b'%', b'%', 0xfe]));
        let plain = PathBuf::from(OsString::from_vec(vec![0xff, b'%', 0xfe]));
        assert_eq!(expand(&path, SystemTime::now()), plain);
    }
}
