//! The purpose of an allocation's instruction: the steps that both sequences share, in their common
//! order.
//!
//! The stages align the two columns. The emitter's notes give the stages of this project's
//! instructions. An instruction without a telling note belongs to the step before.

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

/// The stages of a sequence's lines, the hot part's first. The cold part has the stages that left
/// the hot part: prefetch at the watermark, or else the slow path, which ends in making the object.
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
