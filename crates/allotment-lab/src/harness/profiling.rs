//! `--profile`: one more fork of each case, whose measuring threads are sampled.
//!
//! Its figures are not kept: samples disturb, if only by a few in a thousand, and every figure of a
//! table is to be measured alike.

use super::fork_process::End;
use super::runner::{case_name, own_fork};
use super::{Neighbours, Run, Watch};

/// Where the time of a case went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profiled {
    /// The case with all its coordinates.
    pub case: String,
    /// The hottest code, lines with ends; or why there is none.
    pub text: Result<String, String>,
}

/// Profiles the cases of a run, a fork each, without neighbours. Those that an interrupt comes
/// before are left out.
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
