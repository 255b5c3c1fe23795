//! The sequence in a loop that runs.
//!
//! A pasted one in a loop of machine code around it, so that what runs are the bytes that are printed; a stub is called.
//! The loop begins at a multiple of 32 bytes: where it lies would decide otherwise.

use crate::command::asm::arguments::Form;
use crate::command::asm::ours::Ours;
use allotment::raw::Hot;
use allotment_jit::{Code, CodeBuffer, CodeError, EmitError, FunctionId, Part, Sequence, Target};
use iced_x86::code_asm::registers::gpr64::{rax, rbx, rdx, rsi};
use std::mem;

/// Where the loop begins in its function, in bytes.
const ALIGNMENT: usize = 32;

/// Hot part, turns, length of arrays; returns the turns that are left, 0 unless the heap had no room.
type Loop = unsafe extern "C" fn(*const Hot, usize, usize) -> usize;

/// Hot part, length of arrays; returns the object.
type Stub = unsafe extern "C" fn(*const Hot, usize) -> *mut u8;

/// What runs.
pub(super) struct Running {
    code: Code,
    function: FunctionId,
    /// Where the sequence begins in the function's hot part, in bytes.
    at: usize,
    form: Form,
}

/// Why there is nothing to run.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unlinked {
    /// The loop cannot be assembled.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// It gets no memory.
    #[error(transparent)]
    Code(#[from] CodeError),
}

impl Running {
    /// The sequence, made to run.
    ///
    /// # Errors
    /// [`Unlinked`].
    pub(super) fn new(ours: &Ours, form: Form) -> Result<Running, Unlinked> {
        let mut buffer = CodeBuffer::default();
        if form == Form::Stub {
            let function = buffer.add("allocate", ours.sequence.clone());
            return Ok(Running { code: buffer.finish(|_| None)?, function, at: 0, form });
        }
        let mut whole = Sequence::assembled(|code| {
            code.push(rbx)?;
            code.mov(rbx, rsi)?;
            code.mov(rsi, rdx)
        })?;
        let padding = ALIGNMENT - whole.hot().len();
        whole.append(&Sequence::assembled(|code| code.nops_with_size(padding))?);
        let at = whole.hot().len();
        whole.append(&ours.sequence);
        whole.append(&Sequence::assembled(|code| code.dec(rbx))?);
        whole.jump(iced_x86::Code::Jne_rel32_64, Target::Inside(Part::Hot, at))?;
        whole.bind(Target::OutOfMemory, whole.hot().len());
        whole.append(&Sequence::assembled(|code| {
            code.mov(rax, rbx)?;
            code.pop(rbx)?;
            code.ret()
        })?);
        let function = buffer.add("loop", whole);
        let code = buffer.finish(|_| None)?;
        Ok(Running { code, function, at, form })
    }

    /// Where its parts are, and their bytes.
    pub(super) fn parts(&self) -> [(usize, usize); 2] {
        let (hot, cold) = self.code.bytes(self.function);
        [(hot.as_ptr().addr(), hot.len()), (cold.as_ptr().addr(), cold.len())]
    }

    /// Where the sequence begins in the hot part.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Allocates so many times, or until there is no room; returns how often it did.
    ///
    /// # Safety
    /// - `hot` is [`Mutator::hot`](allotment::Mutator::hot) of the calling thread, which is attached; no `&mut
    ///   Mutator` of it is used meanwhile.
    /// - The heap of that thread never collects, since nobody tells it of these objects.
    pub(super) unsafe fn run(&self, hot: *const Hot, turns: usize, length: usize) -> usize {
        let entry = self.code.entry(self.function);
        if turns == 0 {
            return 0;
        }
        match self.form {
            Form::Pasted => {
                // SAFETY: `new` made a function of that type of it.
                let run = unsafe { mem::transmute::<*const u8, Loop>(entry) };
                // SAFETY: as the caller promises; there is at least one turn.
                turns - unsafe { run(hot, turns, length) }
            }
            Form::Stub => {
                // SAFETY: a stub is a function of that type; one without a length looks at no second argument.
                let stub = unsafe { mem::transmute::<*const u8, Stub>(entry) };
                // SAFETY: as the caller promises.
                (0..turns).take_while(|_| !unsafe { stub(hot, length) }.is_null()).count()
            }
        }
    }
}
