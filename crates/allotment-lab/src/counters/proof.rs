//! A loop with known counts.
//!
//! A code that the processor does not know is no error: it counts something else, or nothing.
//! Virtual machines that pass on only cycles and instructions answer 0 for everything else. So an
//! event by code is first tried on a million locked additions. Each addition is one locked load,
//! one load and one store, takes some cycles, and shares its line with no other thread. An event
//! with a count that this loop cannot cause is not used. An event that the loop hardly causes can
//! only be found absurd, not proven.

use super::{Event, Group, Reading, Refusal};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

/// Locked additions of a trial.
const ADDITIONS: u64 = 1_000_000;

/// The least and the largest count of an event per locked addition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    least: f64,
    most: f64,
}

impl Expected {
    /// Once each.
    pub const EACH: Expected = Expected { least: 0.9, most: 2.5 };
    /// Once or a few times: the rest of the loop differs with its compilation.
    pub const MANY: Expected = Expected { least: 0.5, most: 30.0 };
    /// Hardly ever: the line is the thread's own.
    pub const SELDOM: Expected = Expected { least: 0.0, most: 1.2 };
    /// At most as often as there are cycles.
    pub const CYCLES: Expected = Expected { least: 0.0, most: 1000.0 };
    /// Some cycles: a locked addition waits for the one before it.
    pub const SOME_CYCLES: Expected = Expected { least: 0.5, most: 1000.0 };
    /// No expectation.
    pub const ANY: Expected = Expected { least: 0.0, most: f64::INFINITY };

    /// Whether a trial's count is plausible; if not, why.
    ///
    /// # Errors
    /// The count, and the expected count.
    pub fn judge(&self, reading: &Reading) -> Result<(), String> {
        let Some(count) = reading.scaled() else { return Err("it never got a counter".into()) };
        let each = count / ADDITIONS as f64;
        if (self.least..=self.most).contains(&each) {
            Ok(())
        } else {
            Err(format!(
                "it counted {each:.2} per locked addition, where {} to {} are due",
                self.least, self.most
            ))
        }
    }
}

/// Counts the events of a group in the known loop, on the calling thread.
///
/// # Errors
/// [`Refusal`]; [`Refusal::Invalid`] also for a group that opens but never gets counters.
pub fn trial(events: &[Event]) -> Result<Vec<Reading>, Refusal> {
    let attributes: Vec<_> = events.iter().map(|event| event.attribute).collect();
    let mut group = Group::open(&attributes)?;
    let failed = |error: std::io::Error| Refusal::of(error.raw_os_error().unwrap_or(0));
    group.start().map_err(failed)?;
    locked_additions();
    let readings = group.stop().map_err(failed)?;
    if readings.iter().all(|reading| reading.running == 0) {
        return Err(Refusal::Invalid(libc::EINVAL));
    }
    Ok(readings)
}

fn locked_additions() {
    let sum = AtomicU64::new(0);
    let sum = black_box(&sum);
    for _ in 0..ADDITIONS {
        sum.fetch_add(1, Ordering::Relaxed);
    }
    black_box(sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_locks_are_a_million_locked_loads() {
        let of = |count| Expected::EACH.judge(&Reading::whole(count));
        assert_eq!(of(1_000_003), Ok(()));
        assert!(of(0).unwrap_err().contains("0.00 per locked addition, where 0.9 to 2.5"));
        assert!(of(5_000_000).is_err());
        assert!(of(u64::MAX).is_err());
        let never = Reading { count: 0, enabled: 1, running: 0 };
        assert_eq!(Expected::ANY.judge(&never).unwrap_err(), "it never got a counter");
        assert_eq!(Expected::ANY.judge(&Reading::whole(u64::MAX)), Ok(()));
    }

    #[test]
    fn a_scaled_count_is_judged_as_scaled() {
        let shared = Reading { count: 250_000, enabled: 100, running: 25 };
        assert_eq!(Expected::EACH.judge(&shared), Ok(()));
    }
}
