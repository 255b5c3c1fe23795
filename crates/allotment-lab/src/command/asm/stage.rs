//! What an instruction of an allocation is for: the steps that both sequences go through, in the order they share.
//!
//! It is what aligns two columns. Ours are told by the emitter's notes; what a note does not tell belongs to the step before.

use allotment_jit::{Line, Part};

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

/// The stages of a sequence's lines, the hot part's first. In the cold part they are those that left the hot one: prefetch
/// at the watermark, or else the slow path, which ends in making the object.
pub(super) fn stages(lines: &[Line]) -> Vec<Stage> {
    let (mut hot, mut cold) = (Stage::Check, Stage::Object);
    let stage = |line: &Line| match line.part {
        Part::Hot => {
            hot = in_line(line.note, hot);
            hot
        }
        Part::Cold => {
            cold = match line.note {
                "the watermark goes on by the distance" | "lines from the watermark on" => Stage::Prefetch,
                "back in line" => {
                    let ends = cold;
                    cold = Stage::Object;
                    return ends;
                }
                _ => Stage::Object,
            };
            cold
        }
    };
    lines.iter().map(stage).collect()
}

fn in_line(note: &str, before: Stage) -> Stage {
    match note {
        "too long to be in line?" | "too large to be in line?" => Stage::Check,
        "the old top: the object's address" => Stage::Load,
        "the new top" if before < Stage::Compare => Stage::Add,
        "the new top" => Stage::Store,
        "beyond the limit?" => Stage::Compare,
        "lines ahead of the new top"
        | "has the top come to the watermark?"
        | "whole lines ahead of the object" => Stage::Prefetch,
        _ if before >= Stage::Store => Stage::Object,
        _ => before,
    }
}
