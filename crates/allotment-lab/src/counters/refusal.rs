//! Why the kernel gives no counter: its error numbers in words, with a remedy.

use std::io;

/// Why there is no counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// `ENOENT`, `ENODEV`, `EOPNOTSUPP`: there is no such counter.
    #[error("the processor offers none, as in many virtual machines ({})", text(*.0))]
    Absent(i32),
    /// `EACCES`, `EPERM`: the counter may exist.
    #[error(
        "not permitted ({}): set kernel.perf_event_paranoid to 2, or to 1 for what is counted in the kernel, or give \
         CAP_PERFMON; in containers also allow perf_event_open in the seccomp profile",
        text(*.0)
    )]
    Forbidden(i32),
    /// `ENOSYS`: the kernel has no perf events.
    #[error("the kernel is built without perf events, or a sandbox hides them ({})", text(*.0))]
    Unbuilt(i32),
    /// `EINVAL`, `ENOSPC`: this event is invalid, or does not fit beside the others.
    #[error("the processor cannot count this event, or not together with the others ({})", text(*.0))]
    Invalid(i32),
    /// `EBUSY`: another user has the counter.
    #[error("another program holds the counters ({})", text(*.0))]
    Busy(i32),
    /// `EMFILE`, `ENFILE`, `ENOMEM`.
    #[error("too many counters are open ({}): count less, raise the limit on open files, or run fewer threads", text(*.0))]
    Exhausted(i32),
    /// Anything else.
    #[error("unexpected: {}", text(*.0))]
    Other(i32),
}

fn text(number: i32) -> io::Error {
    io::Error::from_raw_os_error(number)
}

impl From<io::Error> for Refusal {
    /// The meaning of an error of a call. One without a number comes from a kernel that is too old
    /// for what is asked.
    fn from(error: io::Error) -> Refusal {
        Refusal::of(error.raw_os_error().unwrap_or(libc::E2BIG))
    }
}

impl Refusal {
    /// The meaning of an error number here.
    pub fn of(number: i32) -> Refusal {
        match number {
            libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP => Refusal::Absent(number),
            libc::EACCES | libc::EPERM => Refusal::Forbidden(number),
            libc::ENOSYS => Refusal::Unbuilt(number),
            libc::EINVAL | libc::ENOSPC => Refusal::Invalid(number),
            libc::EBUSY => Refusal::Busy(number),
            libc::EMFILE | libc::ENFILE | libc::ENOMEM => Refusal::Exhausted(number),
            _ => Refusal::Other(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_says_what_would_help() {
        for (number, hint) in [
            (libc::ENOENT, "virtual machines"),
            (libc::EOPNOTSUPP, "virtual machines"),
            (libc::EACCES, "perf_event_paranoid"),
            (libc::EPERM, "CAP_PERFMON"),
            (libc::ENOSYS, "without perf events"),
            (libc::EINVAL, "cannot count this event"),
            (libc::EBUSY, "another program"),
            (libc::EMFILE, "open files"),
            (libc::EIO, "unexpected"),
        ] {
            let text = Refusal::of(number).to_string();
            assert!(text.contains(hint) && text.contains(&format!("os error {number}")), "{text}");
            assert!(!text.contains('\n'));
        }
    }
}
