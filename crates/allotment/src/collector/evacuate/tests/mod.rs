//! Young collections against a naive model of the object graph, and each rare path by name.

mod cards;
mod failure;
mod groups;
mod humongous;
mod program;
mod scenarios;
mod to_space;
mod worker;
mod young;

use super::*;
use crate::Heap;
use crate::collector::full::tests::WORKERS;
use crate::collector::full::tests::graph::{ARRAY, BYTES};
use crate::collector::full::tests::model::Value;
use crate::collector::work::StackLimits;
use crate::object::SlotKind;
use young::Young;

/// Bytes of a region in most tests.
const REGION: usize = 4096;

/// The kind of 40 bytes with strong slots 0 and 1 and the weak slot 2.
const PAIR: usize = 0;
/// The kind of 16 bytes without slots. Its first object makes the header of all others known.
const LEAF: usize = 5;
/// The kind of 32 bytes with two strong slots. Its first object makes the header of all others
/// known.
const NODE: usize = 6;

/// Stacks on which everything fits.
const DEEP: StackLimits = StackLimits { piece: 256, pieces: 64 };

/// Stacks on which almost nothing fits.
const TINY: StackLimits = StackLimits { piece: 2, pieces: 1 };

/// The limits of most tests: no object becomes old because of its age.
fn limits() -> Limits {
    Limits {
        tenuring_threshold: 15,
        survivor_bytes: usize::MAX,
        young_plab_bytes: 1024,
        old_plab_bytes: 1024,
        stack: DEEP,
    }
}

/// A heap without objects, and its collector.
fn young(workers: usize, regions: usize, limits: Limits) -> Young {
    Young::new((REGION, regions), "", workers, limits)
}
