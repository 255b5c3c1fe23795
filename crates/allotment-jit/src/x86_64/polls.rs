//! Safepoint polls: a word of the hot part says whether a stop is requested.
//!
//! Refused: HotSpot's protected page. A fault costs the stop more than the compare costs the
//! loop, and a library owns no signal.

use super::assembly::Assembly;
use super::general;
use super::slow::{Call, back_to};
use crate::EmitError;
use crate::relocation::{Part, Target};
use crate::sequence::Sequence;
use crate::site::Poll;
use allotment::raw::Hot;
use iced_x86::code_asm::dword_ptr;

/// A poll.
pub(crate) fn poll(poll: &Poll<'_>) -> Result<Sequence, EmitError> {
    let mut assembly = Assembly::new()?;
    let (set, done) = (assembly.mark(), assembly.mark());
    let to = assembly.refer_to(set);
    let hot = assembly.hot("is a stop requested?");
    hot.cmp(dword_ptr(general(poll.mutator)? + Hot::REQUESTED_OFFSET), 0_i32)?;
    hot.jne(to)?;
    assembly.set(Part::Hot, done);
    assembly.set(Part::Cold, set);
    let call = Call {
        target: Target::Safepoint,
        arguments: &[poll.mutator],
        displacement: 0,
        constants: &[],
        inputs: &[poll.mutator],
        result: None,
        is_safepoint: true,
    };
    call.emit(&mut assembly, &poll.slow)?;
    back_to(&mut assembly, done)?;
    assembly.finish(None, Vec::new())
}
