//! Checks of the number of threads and of shots.

use crate::harness::{Case, JmhMode};
use anyhow::ensure;

/// Checks that a case is a single shot if and only if its mode `is_shot`.
///
/// # Errors
/// It is not. `why` follows the name of the JMH mode.
pub(super) fn check_shots(case: &Case, is_shot: bool, why: &str) -> anyhow::Result<()> {
    ensure!(is_shot == (case.jmh_mode == JmhMode::SingleShot), "{}: {why}", case.jmh_mode);
    Ok(())
}

/// Checks that a case has one measuring thread.
///
/// # Errors
/// It has more. `why` follows their number.
pub(super) fn check_one_thread(case: &Case, why: &str) -> anyhow::Result<()> {
    ensure!(case.threads == 1, "{} threads: {why}", case.threads);
    Ok(())
}

/// Checks that each thread has a part of a shot's work: of the axis `work`.
///
/// # Errors
/// There are fewer parts than threads.
pub(super) fn check_parts(case: &Case, work: &str) -> anyhow::Result<()> {
    let parts = case.count(work)?;
    ensure!(parts >= case.threads as u64, "{parts} {work}: every thread has one at least");
    Ok(())
}
