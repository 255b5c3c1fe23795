//! What an instruction of an allocation is for: the steps that both sequences go through, in the order they share.
//!
//! It is what aligns two columns. Ours are told by the emitter's notes; what a note does not tell belongs to the step before.

use allotment_jit::Line;

/// A step of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Is the array too long to be in line?
    Check,
    /// Load the top.
    Load,
    /// Add the size.
    Add,
    /// Compare with the end.
    Compare,
    /// Prefetch.
    Prefetch,
    /// Store the top.
    Store,
    /// Header, length, body.
    Object,
}

impl Stage {
    /// All, in order.
    pub(super) const ALL: [Stage; 7] =
        [Stage::Check, Stage::Load, Stage::Add, Stage::Compare, Stage::Prefetch, Stage::Store, Stage::Object];
}

/// The stages of the hot part's lines.
pub(super) fn stages(lines: &[Line]) -> Vec<Stage> {
    let mut at = Stage::Check;
    lines
        .iter()
        .map(|line| {
            let told = match line.note {
                "too long to be in line?" | "too large to be in line?" => Stage::Check,
                "the old top: the object's address" => Stage::Load,
                "the new top" if at < Stage::Compare => Stage::Add,
                "the new top" => Stage::Store,
                "beyond the limit?" => Stage::Compare,
                "lines ahead of the new top"
                | "has the top come to the watermark?"
                | "whole lines ahead of the object" => Stage::Prefetch,
                _ if at >= Stage::Store => Stage::Object,
                _ => at,
            };
            at = told;
            told
        })
        .collect()
}
