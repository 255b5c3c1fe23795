//! Functions that can run. Their memory is first written and then executed, never both at once.
//!
//! Functions are collected in ordinary memory, laid out, linked and copied to pages of their own.
//! The protection of these pages is changed before any caller has an address in them. Finished code
//! does not change; another [`Code`] adds a function. On AArch64, code is also made visible to
//! instruction fetch (`caches.rs`).
//!
//! Refused: a second, writable mapping of the pages. An attacker who finds it writes code that
//! runs.

use crate::caches;
use crate::register::Machine;
use crate::relocation::Target;
use crate::sequence::Sequence;
use crate::{EmitError, PerfMap};
use allotment::raw::GeneratedCalls;
use rustix::io::Errno;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use std::ptr::{self, NonNull};

/// The alignment of a function's start, which suits caches and branch predictors.
const ALIGNMENT: usize = 32;

/// The most bytes of a group of functions, whose hot parts come first and then their cold parts.
/// The jumps from hot to cold parts reach that far.
const GROUP_BYTES: usize = match Machine::HOST {
    Machine::X86_64 => 1 << 31,
    Machine::AArch64 => 1 << 20,
};

/// Functions that will become code.
#[derive(Debug, Default)]
pub struct CodeBuffer {
    functions: Vec<(String, Sequence)>,
}

/// Names a function of a [`CodeBuffer`] and of the [`Code`] that it becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FunctionId(usize);

/// The reason why there is no code.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum CodeError {
    /// A function cannot be linked.
    #[error("`{name}`: {error}")]
    Link {
        /// The function.
        name: String,
        /// The linker's error.
        error: EmitError,
    },
    /// A function is for another machine than this process runs on.
    #[error(
        "`{name}` is code for {machine}, and this process runs on {}: `Sequence::link` makes bytes for another process",
        Machine::HOST
    )]
    Machine {
        /// The function.
        name: String,
        /// The machine of the function's code.
        machine: Machine,
    },
    /// The system refuses the memory, or the right to execute it.
    #[error("the system refused {bytes} bytes of memory for code: {error}")]
    System {
        /// The bytes requested.
        bytes: usize,
        /// The system's error.
        error: Errno,
    },
}
crate::debug::debug_is_display!(CodeError);

/// A function that can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name, also used in a [`PerfMap`].
    pub name: String,
    /// Its address.
    pub address: usize,
    /// Bytes of its hot part, which begins at `address`.
    pub hot_bytes: usize,
    /// The address of its cold part.
    pub cold_address: usize,
    /// Bytes of its cold part.
    pub cold_bytes: usize,
}

/// Functions that can run until this value is dropped.
#[derive(Debug)]
pub struct Code {
    start: NonNull<u8>,
    bytes: usize,
    functions: Vec<Function>,
    is_synchronised: bool,
}

// SAFETY: no code writes to the pages, and they exist until the drop.
unsafe impl Send for Code {}
// SAFETY: no code writes to the pages, and they exist until the drop.
unsafe impl Sync for Code {}

impl CodeBuffer {
    /// Adds a function. It must end by itself: a stub does, but a sequence to paste falls through.
    pub fn add(&mut self, name: impl Into<String>, function: Sequence) -> FunctionId {
        self.functions.push((name.into(), function));
        FunctionId(self.functions.len() - 1)
    }

    /// Makes the functions executable. Slow paths are the library's; `resolve` gives the addresses
    /// of the embedder's own targets.
    ///
    /// # Errors
    /// [`CodeError`].
    pub fn finish(self, resolve: impl Fn(Target) -> Option<u64>) -> Result<Code, CodeError> {
        if let Some((name, foreign)) = self.functions.iter().find(|(_, one)| one.machine() != Machine::HOST) {
            return Err(CodeError::Machine { name: name.clone(), machine: foreign.machine() });
        }
        let (places, bytes) = self.layout();
        let mut code = Code::map(bytes.max(1))?;
        let start = code.start.addr().get();
        for ((name, sequence), Place { hot, cold }) in self.functions.into_iter().zip(places) {
            let linked = sequence.link((start + hot) as u64, (start + cold) as u64, |target| {
                library(target).or_else(|| resolve(target))
            });
            let (hot_code, cold_code) =
                linked.map_err(|error| CodeError::Link { name: name.clone(), error })?;
            code.write(hot, &hot_code);
            code.write(cold, &cold_code);
            code.functions.push(Function {
                name,
                address: start + hot,
                hot_bytes: hot_code.len(),
                cold_address: start + cold,
                cold_bytes: cold_code.len(),
            });
        }
        code.protect()?;
        Ok(code)
    }
}

/// The offsets of a function's parts in the pages.
struct Place {
    hot: usize,
    cold: usize,
}

impl CodeBuffer {
    /// The places of all functions, and the bytes that they take together.
    fn layout(&self) -> (Vec<Place>, usize) {
        let aligned = |bytes: usize| bytes.next_multiple_of(ALIGNMENT);
        let (mut places, mut start): (Vec<Place>, usize) = (Vec::new(), 0);
        let mut rest = &self.functions[..];
        while !rest.is_empty() {
            // At least one function, however long: linking says what its jumps do not reach.
            let mut bytes = 0;
            let fits = rest.iter().take_while(|(_, one)| {
                bytes += aligned(one.hot.len()) + aligned(one.cold.len());
                bytes <= GROUP_BYTES
            });
            let (group, after) = rest.split_at(fits.count().max(1));
            let mut cold = start + group.iter().map(|(_, one)| aligned(one.hot.len())).sum::<usize>();
            for (_, one) in group {
                places.push(Place { hot: start, cold });
                start += aligned(one.hot.len());
                cold += aligned(one.cold.len());
            }
            (start, rest) = (cold, after);
        }
        (places, start)
    }
}

/// The library's own targets.
fn library(target: Target) -> Option<u64> {
    let calls = GeneratedCalls::new();
    let address = match target {
        Target::Allocate => calls.allocate as usize,
        Target::AllocateZeroed => calls.allocate_zeroed as usize,
        Target::AllocateArray => calls.allocate_array as usize,
        Target::AllocateArrayZeroed => calls.allocate_array_zeroed as usize,
        Target::Safepoint => calls.safepoint as usize,
        Target::Inside(..) | Target::LoadHook | Target::OutOfMemory => return None,
    };
    Some(address as u64)
}

impl Code {
    /// Pages that can be written.
    fn map(bytes: usize) -> Result<Code, CodeError> {
        let bytes = bytes.next_multiple_of(rustix::param::page_size());
        // SAFETY: the system chooses an unused address.
        let start = unsafe {
            mmap_anonymous(ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        };
        let start = start.map_err(|error| CodeError::System { bytes, error })?;
        let start = NonNull::new(start.cast()).ok_or(CodeError::System { bytes, error: Errno::NOMEM })?;
        Ok(Code { start, bytes, functions: Vec::new(), is_synchronised: false })
    }

    fn write(&mut self, offset: usize, code: &[u8]) {
        assert!(offset + code.len() <= self.bytes, "all was placed within the pages");
        // SAFETY: inside the pages, which can be written until `protect`, and are this value's
        // alone.
        unsafe { ptr::copy_nonoverlapping(code.as_ptr(), self.start.as_ptr().add(offset), code.len()) };
    }

    /// Makes the pages executable and read-only, and their code visible to instruction fetch.
    fn protect(&mut self) -> Result<(), CodeError> {
        // SAFETY: the pages are this value's, and can be read.
        unsafe { caches::clean(self.start, self.bytes) };
        // SAFETY: the pages are this value's alone, and no reference into them exists.
        let outcome = unsafe {
            mprotect(self.start.as_ptr().cast(), self.bytes, MprotectFlags::READ | MprotectFlags::EXEC)
        };
        outcome.map_err(|error| CodeError::System { bytes: self.bytes, error })?;
        self.is_synchronised = caches::synchronise_threads();
        Ok(())
    }

    /// The start of a function. To call it, cast it to a pointer to an `unsafe extern "C" fn` of
    /// its signature, and call it only while this value exists.
    ///
    /// The function must belong to the buffer that became this code. A name from another buffer
    /// names some other function here, or none.
    ///
    /// # Panics
    /// If it names none.
    pub fn entry(&self, function: FunctionId) -> *const u8 {
        let offset = self.functions[function.0].address - self.start.addr().get();
        // SAFETY: the function lies in the pages.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// Whether each thread may call the functions as soon as it learns their addresses.
    ///
    /// This is always so on x86-64, and for the thread that made the code. On AArch64 it takes a
    /// `membarrier` of the kernel (`PRIVATE_EXPEDITED_SYNC_CORE`, since Linux 4.16), which a sandbox
    /// may forbid. If the answer is `false`, another thread loads the address of a function with
    /// Acquire, and executes an `isb` before the first call.
    pub fn is_synchronised(&self) -> bool {
        self.is_synchronised
    }

    /// The functions, in the order in which they were added.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The bytes of a function's hot part and of its cold part, in their final form.
    ///
    /// The function must belong to the buffer that became this code. A name from another buffer
    /// names some other function here, or none.
    ///
    /// # Panics
    /// If it names none.
    pub fn bytes(&self, function: FunctionId) -> (&[u8], &[u8]) {
        let place = &self.functions[function.0];
        let part = |address: usize, bytes| {
            let offset = address - self.start.addr().get();
            // SAFETY: the part lies in the pages, which do not change.
            unsafe { std::slice::from_raw_parts(self.start.as_ptr().add(offset), bytes) }
        };
        (part(place.address, place.hot_bytes), part(place.cold_address, place.cold_bytes))
    }

    /// Tells profilers the names of the functions.
    ///
    /// # Errors
    /// The error of writing to the file.
    pub fn publish(&self, map: &mut PerfMap) -> std::io::Result<()> {
        for function in &self.functions {
            map.add(function.address, function.hot_bytes, &function.name)?;
            if function.cold_bytes > 0 {
                map.add(function.cold_address, function.cold_bytes, &format!("{}_slow", function.name))?;
            }
        }
        Ok(())
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the pages are this value's, and a caller runs a function only while this value
        // exists. An error would leave them mapped, which does no harm.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
