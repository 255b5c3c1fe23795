//! `--profile`: one more fork of each case, whose measuring threads are sampled.
//!
//! The figures of this fork are dropped: sampling slows it down by some thousandths, and all figures
//! of a table must be measured in the same way.

use super::fork_process::End;
use super::runner::{case_name, own_fork};
use super::{Neighbours, Run, Watch};

/// The profile of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profiled {
    /// The case with all its coordinates.
    pub case: String,
    /// The hottest code, in lines with ends; or why there is no profile.
    pub text: Result<String, String>,
}

/// Profiles the cases of a run without neighbours, in a fork each. An interrupt leaves out the rest.
pub fn profile(run: &Run<'_>) -> Vec<Profiled> {
    let mut all = Vec::new();
    for case in run.cases.iter().filter(|case| Neighbours::of(case).is_none()) {
        let fork = own_fork(run, case, Watch { counters: None, profile: true });
        let text = match (fork.end, fork.profile) {
            (End::Interrupted, _) => break,
            (End::Failed(text), _) => Err(text),
            (End::Finished, Some(text)) => Ok(text),
            (End::Finished, None) => Err("it measured, and sent no profile".into()),
        };
        all.push(Profiled { case: case_name(case, run.experiments, None), text });
    }
    all
}
