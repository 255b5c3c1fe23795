//! Safepoint polls: a word of the hot part says whether a stop is requested.

use super::assembler::{General, Width};
use super::assembly::{Assembly, SCRATCH};
use super::slow::{Call, back_to};
use crate::EmitError;
use crate::relocation::{Part, Target};
use crate::sequence::Sequence;
use crate::site::Poll;
use allotment::raw::Hot;

/// Checks whether a stop is requested, and then comes to a safepoint.
pub(crate) fn poll(poll: &Poll<'_>) -> Result<Sequence, EmitError> {
    let mut assembly = Assembly::default();
    let (set, done) = (assembly.label(), assembly.label());
    let hot = assembly.hot("is a stop requested?");
    hot.ldr_32(SCRATCH, General::of(poll.mutator)?, Hot::REQUESTED_OFFSET as i64)?;
    hot.cbnz(Width::Bits32, SCRATCH, set);
    assembly.set(Part::Hot, done);
    assembly.set(Part::Cold, set);
    let call = Call {
        target: Target::Safepoint,
        arguments: &[poll.mutator],
        displacement: 0,
        constants: &[],
        inputs: &[poll.mutator],
        preserve: poll.slow.preserve,
        result: None,
        is_safepoint: true,
        is_stub: false,
    };
    call.emit(&mut assembly)?;
    back_to(&mut assembly, done);
    assembly.finish(None, Vec::new())
}
