//! `allotment simulate`: the models, with the latencies of this machine where the user asks for them.

use super::Failure;
use crate::machine::{first_two, ping_pong, require_x86_64};
use allotment::raw::Processor;
use allotment_models::command::{HandOver, Simulation};

/// Simulates and prints a table.
///
/// # Errors
/// [`Failure::Usage`] for numbers that cannot be simulated; [`Failure::Failed`] if threads cannot
/// be bound for calibration, or a file cannot be written; standard output is closed or full.
pub fn simulate(simulation: &Simulation) -> Result<(), Failure> {
    allotment_models::command::simulate(simulation, || hand_over(Processor::detect()))
}

/// The cost of handing over a cache line on this machine, whose processor is `here`.
fn hand_over(here: Processor) -> Result<HandOver, Failure> {
    // The counter of AArch64 ticks at a rate that has nothing to do with cycles.
    if let Err(why) = require_x86_64(here, "a counter of cycles") {
        return Ok(HandOver { cycles: None, told: format!(", not calibrated: {why}") });
    }
    let Some([first, second]) = first_two() else {
        let told = ", not calibrated: there is only one CPU here".into();
        return Ok(HandOver { cycles: None, told });
    };
    let measured = ping_pong([first, second], 9, 20_000).map_err(|error| {
        Failure::Failed(format!("cannot bind threads to CPU {first} and {second}: {error}"))
    })?;
    let told = format!(
        ", scaled to a hand-over between CPU {first} and {second}: {:.1} ns or {:.0} cycles of the time stamp \
         counter at least, {:.1} ns or {:.0} in the median of 9 rounds",
        measured.min_nanoseconds, measured.min_ticks, measured.median_nanoseconds, measured.median_ticks
    );
    Ok(HandOver { cycles: Some(measured.min_ticks), told })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::processors::NEOVERSE;

    #[test]
    fn another_machine_is_not_calibrated() {
        let HandOver { cycles, told } = hand_over(NEOVERSE).unwrap();
        let expected = ", not calibrated: a counter of cycles needs x86-64, and this machine is AArch64";
        assert_eq!((cycles, told.as_str()), (None, expected));
    }
}
