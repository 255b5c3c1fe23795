//! The sequence in a loop that runs.
//!
//! A pasted sequence stands in a loop of machine code, so the bytes that run are the bytes that are
//! printed. A stub is called. The loop begins at a multiple of 32 bytes; otherwise its alignment
//! would decide the result.

use crate::command::asm::arguments::Form;
use crate::command::asm::ours::Ours;
use crate::experiments::assembled;
use allotment::raw::Hot;
use allotment_jit::{Code, CodeBuffer, FunctionId, Jump, Part, Target};
use iced_x86::code_asm::registers::gpr64::{rax, rbx, rdx, rsi};
use std::mem;

/// The alignment of the loop in its function, in bytes.
const ALIGNMENT: usize = 32;

/// Arguments: hot part, turns, length of arrays. Returns the turns that are left: 0 unless the heap
/// had no room.
type Loop = unsafe extern "C" fn(*const Hot, usize, usize) -> usize;

/// Arguments: hot part, length of arrays. Returns the object.
type Stub = unsafe extern "C" fn(*const Hot, usize) -> *mut u8;

/// The code that runs.
pub(super) struct Running {
    code: Code,
    function: FunctionId,
    /// The offset of the sequence in the function's hot part, in bytes.
    pub(super) at: usize,
    form: Form,
}

impl Running {
    /// Makes a sequence executable.
    ///
    /// # Errors
    /// The loop cannot be assembled, or the code gets no memory.
    pub(super) fn new(ours: &Ours, form: Form) -> anyhow::Result<Running> {
        let mut buffer = CodeBuffer::default();
        if form == Form::Stub {
            let function = buffer.add("allocate", ours.sequence.clone());
            return Ok(Running { code: buffer.finish(|_| None)?, function, at: 0, form });
        }
        let mut whole = assembled(|code| {
            code.push(rbx)?;
            code.mov(rbx, rsi)?;
            code.mov(rsi, rdx)
        })?;
        let padding = ALIGNMENT - whole.hot().len();
        whole.append(&assembled(|code| code.nops_with_size(padding))?)?;
        let at = whole.hot().len();
        whole.append(&ours.sequence)?;
        whole.append(&assembled(|code| code.dec(rbx))?)?;
        whole.jump(Jump::IfNotEqual, Target::Inside(Part::Hot, at));
        whole.bind(Target::OutOfMemory, whole.hot().len());
        whole.append(&assembled(|code| {
            code.mov(rax, rbx)?;
            code.pop(rbx)?;
            code.ret()
        })?)?;
        let function = buffer.add("loop", whole);
        let code = buffer.finish(|_| None)?;
        Ok(Running { code, function, at, form })
    }

    /// The address and the bytes of each part.
    pub(super) fn parts(&self) -> [(usize, usize); 2] {
        let (hot, cold) = self.code.bytes(self.function);
        [(hot.as_ptr().addr(), hot.len()), (cold.as_ptr().addr(), cold.len())]
    }

    /// Allocates `turns` times, or until there is no room. Returns the number of allocations.
    ///
    /// # Safety
    /// - `hot` is [`hot`](allotment::raw::RawMutator::hot) of the calling thread, which is
    ///   attached. No `&mut Mutator` of this thread is used meanwhile.
    /// - The heap of that thread never collects, since these objects are not reported to it.
    pub(super) unsafe fn run(&self, hot: *const Hot, turns: usize, length: usize) -> usize {
        let entry = self.code.entry(self.function);
        if turns == 0 {
            return 0;
        }
        match self.form {
            Form::Pasted => {
                // SAFETY: `new` assembled a function of that type at this address.
                let run = unsafe { mem::transmute::<*const u8, Loop>(entry) };
                // SAFETY: as the caller promises; there is at least one turn.
                turns - unsafe { run(hot, turns, length) }
            }
            Form::Stub => {
                // SAFETY: a stub is a function of that type; a stub without a length reads no
                // second argument.
                let stub = unsafe { mem::transmute::<*const u8, Stub>(entry) };
                // SAFETY: as the caller promises.
                (0..turns).take_while(|_| !unsafe { stub(hot, length) }.is_null()).count()
            }
        }
    }
}
