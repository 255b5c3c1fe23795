//! Durations as JMH's options and files spell them: `300 ms`, `1 s`.
//!
//! A number without a unit means seconds, as in JMH's own options. The units are JMH's. Days are
//! read only from files, since no iteration of the lab lasts a day.

use std::time::Duration;

type Unit = (&'static str, u64);

const UNITS: [Unit; 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("hr", 3_600_000_000_000),
];

const DAY: Unit = ("day", 86_400_000_000_000);

/// The duration in the largest unit that divides it: `1 s`, `300 ms`. Zero is JMH's `single-shot`.
pub fn iteration_time(time: Duration) -> String {
    let nanoseconds = time.as_nanos();
    if nanoseconds == 0 {
        return "single-shot".into();
    }
    let (unit, length) = UNITS
        .iter()
        .rev()
        .find(|(_, length)| nanoseconds.is_multiple_of(u128::from(*length)))
        .unwrap_or(&UNITS[0]);
    format!("{} {unit}", nanoseconds / u128::from(*length))
}

/// A duration for reading, to two units: `4.2 s`, `3 min 20 s`, `2 h 5 min`.
pub fn rough(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match seconds {
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Reads `300ms`, `300 ms`, `1.5s`, `2min` or plain seconds.
///
/// # Errors
/// Describes the form of a time, or says that it is zero or beyond a day.
pub fn parse(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    up_to_a_day(text, nanoseconds(text, &UNITS)?)
}

/// Reads a time as [`parse`] does, or zero: `0` or `0ms`.
///
/// # Errors
/// Describes the form of a time, or says that it is beyond a day.
pub fn parse_or_zero(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    match nanoseconds(text, &UNITS)? {
        0.0 => Ok(Duration::ZERO),
        nanoseconds => up_to_a_day(text, nanoseconds),
    }
}

/// Reads a time of a file that another program wrote. Such a time may be longer than a day, and may
/// be in days.
///
/// # Errors
/// Describes the form of a time, or says that it is zero or beyond what 64 bits hold.
pub fn parse_of_file(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    duration(text, nanoseconds(text, &[&UNITS[..], &[DAY]].concat())?)
}

fn nanoseconds(text: &str, units: &[Unit]) -> Result<f64, String> {
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = (&text[..split], text[split..].trim());
    let wrong =
        || format!("`{text}` is not a time; write a number and ns, us, ms, s, min or hr, such as 300ms");
    let length = match unit {
        "" => 1_000_000_000,
        unit => units.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?.1,
    };
    Ok(number.parse::<f64>().map_err(|_| wrong())? * length as f64)
}

fn up_to_a_day(text: &str, nanoseconds: f64) -> Result<Duration, String> {
    let time = duration(text, nanoseconds)?;
    if time > Duration::from_nanos(DAY.1) {
        return Err(format!("`{text}` is longer than a day"));
    }
    Ok(time)
}

/// The duration of a number of nanoseconds, which `text` means.
fn duration(text: &str, nanoseconds: f64) -> Result<Duration, String> {
    if nanoseconds < 1.0 {
        return Err(format!("`{text}` is too short; write 1ns or more"));
    }
    if nanoseconds >= u64::MAX as f64 {
        return Err(format!("`{text}` is longer than five hundred years"));
    }
    Ok(Duration::from_nanos(nanoseconds.round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn jmh_spelling() {
        assert_eq!(iteration_time(Duration::from_millis(300)), "300 ms");
        assert_eq!(iteration_time(Duration::from_millis(10_000)), "10 s");
        assert_eq!(iteration_time(Duration::from_secs(120)), "2 min");
        assert_eq!(iteration_time(Duration::ZERO), "single-shot");
    }

    #[test]
    fn reading() {
        assert_eq!(parse("300 ms"), Ok(Duration::from_millis(300)));
        assert_eq!(parse("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse("2"), Ok(Duration::from_secs(2)));
        for wrong in
            ["", "ms", "1.2.3s", "-1s", "5 weeks", "é", "0", "0ms", "25hr", "9999999999999999999999s"]
        {
            assert!(parse(wrong).is_err(), "{wrong}");
            let is_zero = ["0", "0ms"].contains(&wrong);
            assert_eq!(parse_or_zero(wrong).ok(), is_zero.then_some(Duration::ZERO), "{wrong}");
        }
        assert_eq!(parse_or_zero("300 ms"), Ok(Duration::from_millis(300)));
    }

    #[test]
    fn a_file_may_tell_of_days_and_what_is_written_of_them_is_read() {
        for (text, hours) in [("1 day", 24), ("2 day", 48), ("25 hr", 25), ("200000 day", 4_800_000)] {
            let time = Duration::from_secs(hours * 3600);
            assert_eq!(parse_of_file(text), Ok(time), "{text}");
            assert_eq!(parse_of_file(&iteration_time(time)), Ok(time), "{text}");
        }
        for wrong in ["day", "0 day", "-1 day", "300000 day", "9999999999999999999999 s"] {
            assert!(parse_of_file(wrong).is_err(), "{wrong}");
        }
        assert!(parse("1 day").is_err());
    }

    #[test]
    fn rough_times() {
        assert_eq!(rough(Duration::from_millis(4240)), "4.2 s");
        assert_eq!(rough(Duration::from_secs(42)), "42 s");
        assert_eq!(rough(Duration::from_secs(200)), "3 min 20 s");
        assert_eq!(rough(Duration::from_secs(7500)), "2 h 5 min");
    }

    proptest! {
        #[test]
        fn a_printed_time_reads_back(nanoseconds in 1u64..86_400_000_000_000) {
            let time = Duration::from_nanos(nanoseconds);
            prop_assert_eq!(parse(&iteration_time(time)), Ok(time));
        }
    }
}
