//! An error with its causes on one line, each said once.
//!
//! Many errors contain their cause in their own words and also have it as their source. So `{:#}`
//! of such a chain repeats the cause: `cannot write r.json: No space left: No space left`. Here a
//! cause that the text already contains is left out.

/// The error and its causes: `what failed: why: why that`.
pub fn told(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !cause.trim().is_empty() && !text.contains(cause.trim()) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot write `r.json`: {source}")]
    struct Doubling {
        source: std::io::Error,
    }

    #[test]
    fn a_cause_is_said_once() {
        let full = || std::io::Error::from_raw_os_error(libc::ENOSPC);
        let doubled = anyhow::Error::from(Doubling { source: full() });
        assert_eq!(told(&doubled), "cannot write `r.json`: No space left on device (os error 28)");
        let around = doubled.context("the run failed");
        assert!(told(&around).starts_with("the run failed: cannot write"), "{}", told(&around));
        assert_eq!(told(&around).matches("No space left").count(), 1);
    }

    #[test]
    fn different_causes_are_all_said() {
        let error = anyhow!("inner").context("middle").context("outer");
        assert_eq!(told(&error), "outer: middle: inner");
    }
}
