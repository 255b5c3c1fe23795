//! A loop with known counts.
//!
//! An unknown code is not an error: the processor counts another event, or nothing.
//! Virtual machines that pass on only cycles and instructions report 0 for all other events. So an
//! event by code is first tried on a million locked additions. Each addition is one locked load,
//! one load and one store, takes some cycles, and shares its line with no other thread. An event
//! with a count that this loop cannot cause is not used. An event that the loop hardly causes can
//! only be found absurd, not proven.

use super::{Event, Group, Reading, Refusal};
use serde::Deserialize;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

/// Locked additions of a trial.
const ADDITIONS: u64 = 1_000_000;

/// The count of an event per locked addition that is plausible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expected {
    /// Once each.
    Each,
    /// Once or a few times: the rest of the loop differs with its compilation.
    Many,
    /// Hardly ever: the line is the thread's own.
    Seldom,
    /// At most as often as there are cycles.
    Cycles,
    /// Some cycles: a locked addition waits for the one before it.
    SomeCycles,
    /// No expectation.
    Any,
}

impl Expected {
    /// The least and the largest plausible count.
    fn range(self) -> (f64, f64) {
        match self {
            Expected::Each => (0.9, 2.5),
            Expected::Many => (0.5, 30.0),
            Expected::Seldom => (0.0, 1.2),
            Expected::Cycles => (0.0, 1000.0),
            Expected::SomeCycles => (0.5, 1000.0),
            Expected::Any => (0.0, f64::INFINITY),
        }
    }

    /// Checks that a trial's count is plausible.
    ///
    /// # Errors
    /// The count is not plausible: the text has the count, and the expected range.
    pub fn judge(&self, reading: &Reading) -> Result<(), String> {
        let Some(count) = reading.scaled() else { return Err("it never got a counter".into()) };
        let (each, (least, most)) = (count / ADDITIONS as f64, self.range());
        let told = || format!("it counted {each:.2} per locked addition, where {least} to {most} are due");
        if (least..=most).contains(&each) { Ok(()) } else { Err(told()) }
    }
}

/// Counts the events of a group in the known loop, on the calling thread.
///
/// # Errors
/// [`Refusal`]; [`Refusal::Invalid`] also for a group that opens but never gets counters.
pub fn trial(events: &[Event]) -> Result<Vec<Reading>, Refusal> {
    let attributes: Vec<_> = events.iter().map(|event| event.attribute).collect();
    let mut group = Group::open(&attributes)?;
    group.start()?;
    locked_additions();
    let readings = group.stop()?;
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
        let of = |count| Expected::Each.judge(&Reading::whole(count));
        assert_eq!(of(1_000_003), Ok(()));
        assert!(of(0).unwrap_err().contains("0.00 per locked addition, where 0.9 to 2.5"));
        assert!(of(5_000_000).is_err());
        assert!(of(u64::MAX).is_err());
        let never = Reading { count: 0, enabled: 1, running: 0 };
        assert_eq!(Expected::Any.judge(&never).unwrap_err(), "it never got a counter");
        assert_eq!(Expected::Any.judge(&Reading::whole(u64::MAX)), Ok(()));
    }

    #[test]
    fn a_scaled_count_is_judged_as_scaled() {
        let shared = Reading { count: 250_000, enabled: 100, running: 25 };
        assert_eq!(Expected::Each.judge(&shared), Ok(()));
    }
}
