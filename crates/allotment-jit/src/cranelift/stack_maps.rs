//! The places of the references of a thread in generated code: stack maps, and the walk over its
//! frames.
//!
//! Around each call, Cranelift spills the values that were declared to need a stack map. For the
//! return address of the call it gives the distance of each spilled value above the stack pointer.
//! This module turns that into a distance below the frame pointer, because a walk has frame
//! pointers. A [`GeneratedFrame`] names the frame that called the heap. The two words at a frame
//! pointer are the caller's frame pointer and the return address. The walk goes on as long as
//! return addresses lie in known functions. A call without references has no map of Cranelift's,
//! but the walk must still pass over its frame. So functions are known by their range.
//!
//! Refused: a walk with unwind tables. It would run an interpreter of DWARF within the pause, to
//! save two instructions per function, which Cranelift for x86-64 emits in any case.

use crate::Sequence;
use allotment::raw::{GeneratedFrame, RootProvider, RootVisitor};
use cranelift_codegen::CompiledCode;
use cranelift_codegen::ir::Type;
use cranelift_codegen::ir::types::I64;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::ptr;
use std::sync::{Arc, PoisonError, RwLock};

/// The reason why there is no stack map.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StackMapError {
    /// A value that is not as wide as a slot.
    #[error("a value of type {0} was declared to need a stack map: references are of type i64")]
    NoReference(Type),
    /// A value outside of its function's frame.
    #[error("{offset} bytes above the stack pointer is outside of a frame of {frame_bytes} bytes")]
    OutsideFrame {
        /// The stated place of the value.
        offset: u32,
        /// The distance from the stack pointer to the frame pointer.
        frame_bytes: u32,
    },
}
crate::debug::debug_is_display!(StackMapError);

/// The stack maps of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionMaps {
    bytes: usize,
    /// For each call with references, in order: bytes from the function's start to the return
    /// address, and the distance of each slot below the frame pointer.
    calls: Vec<(usize, Vec<usize>)>,
    /// For each call in a stub, which has no frame of its own: bytes from the part's start to the
    /// return address, and the distance of the stub's own return address above the stack pointer.
    stub_calls: Vec<(usize, usize)>,
}

impl FunctionMaps {
    /// The stack maps of a function that Cranelift compiled.
    ///
    /// # Errors
    /// [`StackMapError`].
    pub fn new(code: &CompiledCode) -> Result<FunctionMaps, StackMapError> {
        let mut calls = Vec::new();
        for (return_offset, frame_bytes, map) in code.buffer.user_stack_maps() {
            let mut slots = Vec::new();
            for (kind, offset) in map.entries() {
                if kind != I64 {
                    return Err(StackMapError::NoReference(kind));
                }
                let below = frame_bytes.checked_sub(offset).filter(|below| *below >= I64.bytes());
                let outside = StackMapError::OutsideFrame { offset, frame_bytes: *frame_bytes };
                slots.push(below.ok_or(outside)? as usize);
            }
            calls.push((*return_offset as usize, slots));
        }
        Ok(FunctionMaps { bytes: code.code_buffer().len(), calls, stub_calls: Vec::new() })
    }

    /// The stack maps of a [`stub`](crate::Emitter::stub) that compiled functions call, for the
    /// address of its cold part. The stub holds no reference, and the walk goes on with its caller.
    pub fn of_stub(stub: &Sequence) -> FunctionMaps {
        let stub_calls =
            stub.safepoints().iter().filter_map(|call| Some((call.return_offset, call.stub_return?)));
        FunctionMaps { bytes: stub.cold().len(), calls: Vec::new(), stub_calls: stub_calls.collect() }
    }

    /// Bytes of the function.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The calls with references alive across them, in order: bytes from the function's start to
    /// the call's return address, and the distance of each reference's slot below the frame
    /// pointer.
    pub fn calls(&self) -> impl Iterator<Item = (usize, &[usize])> {
        self.calls.iter().map(|(offset, slots)| (*offset, slots.as_slice()))
    }

    /// The slots of the call with that return address.
    fn slots(&self, return_offset: usize) -> &[usize] {
        let call = self.calls.binary_search_by_key(&return_offset, |call| call.0);
        call.map_or(&[], |call| &self.calls[call].1)
    }

    /// The distance of a stub's return address above the stack pointer.
    fn above_stack_pointer(&self, return_offset: usize) -> Option<usize> {
        self.stub_calls.iter().find(|call| call.0 == return_offset).map(|call| call.1)
    }
}

/// The stack maps of all functions that threads of a heap may run: a [`RootProvider`]. A clone
/// shares them.
#[derive(Clone, Debug, Default)]
pub struct StackMaps {
    /// By the address of the function. The lock is held only for a look-up, in which no thread
    /// stops.
    functions: Arc<RwLock<BTreeMap<usize, FunctionMaps>>>,
}

impl StackMaps {
    /// Adds the function, or the cold part of a stub, at `address`, before it runs for the first
    /// time.
    ///
    /// # Safety
    /// - `maps` was made of the code at `address`, which stays until it is removed here.
    /// - The function keeps its frame pointer: it was compiled with `preserve_frame_pointers`. A
    ///   stub does not keep it; functions that are added here call the stub.
    /// - On AArch64 the function does not sign its return address: `sign_return_address` is off.
    /// - Each reference that is alive across a call in the function was declared to need a stack
    ///   map. Each declared value is a reference as a slot of an object holds it, or 0.
    /// - The function comes to a safepoint only in calls of
    ///   [`GeneratedCalls`](allotment::raw::GeneratedCalls) and of functions that are added here as
    ///   well. A function of another kind that it calls reaches no safepoint, or runs generated
    ///   code only from within a call of those, as a hook of the heap does.
    pub unsafe fn add(&self, address: usize, maps: FunctionMaps) {
        self.functions.write().unwrap_or_else(PoisonError::into_inner).insert(address, maps);
    }

    /// Removes the function at `address`, before its memory gets another use. Returns whether there
    /// was one.
    ///
    /// # Safety
    /// - No thread is in the function, nor will be.
    pub unsafe fn remove(&self, address: usize) -> bool {
        self.functions.write().unwrap_or_else(PoisonError::into_inner).remove(&address).is_some()
    }

    /// Visits the references of the frame that called, of its callers as long as they are known
    /// functions, and of all earlier frames of the thread. This is for an embedder's provider that
    /// has more to visit; `StackMaps` itself, as a provider, does this for all frames.
    pub fn visit(&self, frame: &GeneratedFrame, roots: &mut RootVisitor<'_, '_>) {
        let functions = self.functions.read().unwrap_or_else(PoisonError::into_inner);
        let mut next = Some(frame);
        while let Some(frame) = next {
            let (mut frame_pointer, mut return_address) = (frame.frame_pointer(), frame.return_address());
            if let Some((start, stub)) = calling(&functions, return_address)
                && let Some(above) = stub.above_stack_pointer(return_address - start)
            {
                let caller: *const usize = ptr::with_exposed_provenance(frame.stack_pointer() + above);
                // SAFETY: the stub's return address lies above the bytes that the stub has pushed
                // at the call. The frame pointer is that of the stub's caller.
                return_address = unsafe { caller.read() };
            }
            while let Some((start, function)) = calling(&functions, return_address) {
                for below in function.slots(return_address - start) {
                    roots.slot(ptr::with_exposed_provenance_mut(frame_pointer - below));
                }
                let caller: *const [usize; 2] = ptr::with_exposed_provenance(frame_pointer);
                // SAFETY: a known function keeps its frame pointer, and is in a call: its frame
                // begins with its caller's frame pointer and its return address.
                [frame_pointer, return_address] = unsafe { caller.read() };
            }
            next = frame.previous();
        }
    }
}

/// The function that a call in it returns to: its address and its maps. The call may be its last
/// instruction, and its return address may belong to another function.
fn calling(
    functions: &BTreeMap<usize, FunctionMaps>,
    return_address: usize,
) -> Option<(usize, &FunctionMaps)> {
    let in_front = (Bound::Unbounded, Bound::Excluded(return_address));
    let (start, function) = functions.range(in_front).next_back()?;
    (return_address - start <= function.bytes).then_some((*start, function))
}

// SAFETY: `add` demands of each function that its maps name every slot with a reference; slots of
// frames hold references as slots of objects do. Between two safepoints neither frames nor the
// functions in them change. The lock is held for look-ups only, in which no thread stops.
unsafe impl RootProvider for StackMaps {
    fn visit_roots(&self, roots: &mut RootVisitor<'_, '_>) {
        for frame in roots.generated_frames() {
            self.visit(frame, roots);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_belongs_to_the_function_in_front_of_where_it_returns_to() {
        let maps = |bytes| FunctionMaps { bytes, calls: Vec::new(), stub_calls: Vec::new() };
        let functions = BTreeMap::from([(100, maps(20)), (120, maps(10)), (200, maps(10))]);
        let found = |address| calling(&functions, address).map(|(start, _)| start);
        assert_eq!([100, 101, 120, 121, 130].map(found), [None, Some(100), Some(100), Some(120), Some(120)]);
        assert_eq!([0, 131, 200, 201, 211].map(found), [None, None, None, Some(200), None]);
    }

    #[test]
    fn slots_are_those_of_the_call_that_returns_there() {
        let maps = FunctionMaps {
            bytes: 50,
            calls: vec![(10, vec![8, 24]), (30, vec![16])],
            stub_calls: Vec::new(),
        };
        assert_eq!([9, 10, 20, 30, 31].map(|at| maps.slots(at).len()), [0, 2, 0, 1, 0]);
    }
}
