//! Safepoint polls: a word of the hot part says whether a stop is requested.
//!
//! Refused: HotSpot's protected page. A fault costs the stop more than the compare costs the
//! loop, and a library owns no signal.

use super::slow::{Call, SlowCall, back_to};
use super::{Emitter, general};
use crate::EmitError;
use crate::assembly::Assembly;
use crate::registers::check_general;
use crate::sequence::{Part, Sequence, Target};
use allotment::raw::Hot;
use iced_x86::Register;
use iced_x86::code_asm::dword_ptr;

/// A check whether the thread should come to a safepoint, for example in a loop that allocates
/// nothing.
#[derive(Clone, Copy, Debug)]
pub struct Poll<'a> {
    /// The mutator. The sequence keeps it.
    pub mutator: Register,
    /// The obligations of the slow path.
    pub slow: SlowCall<'a>,
}

impl Emitter {
    /// Checks whether a stop is requested, and then comes to a safepoint.
    ///
    /// # Errors
    /// [`EmitError`] if a register has two roles.
    pub fn poll(&self, poll: &Poll<'_>) -> Result<Sequence, EmitError> {
        check_general(&[("the mutator", poll.mutator)])?;
        poll.slow.check(&[])?;
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
        poll.slow.emit(&mut assembly, &call)?;
        back_to(&mut assembly, done)?;
        assembly.finish(None, Vec::new())
    }
}
