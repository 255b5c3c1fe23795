//! Shapes: their registration, and what an object says about its own.

use crate::alloc::MAX_LENGTH;
use crate::border::{Wrong, al_mutator, runs, with};
use crate::callback::{Calls, Data, callback, outside_of_callbacks};
use crate::error::{Code, Failure, al_error, answer, check_size, given, place_for, text};
use crate::heap::al_heap;
use allotment::raw::{Element, Header, Kind, LENGTH_OFFSET, Shape, ShapeRef, SlotKind, SlotVisitor};
use std::ffi::{c_char, c_int, c_void};
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

/// `al_shape`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct al_shape {
    pub(crate) header: u64,
    pub(crate) fixed: usize,
    pub(crate) element: usize,
}

impl From<ShapeRef> for al_shape {
    fn from(shape: ShapeRef) -> al_shape {
        al_shape { header: shape.header().bits(), fixed: shape.fixed_bytes(), element: shape.element_bytes() }
    }
}

/// `al_slot_desc`.
#[repr(C)]
struct al_slot_desc {
    name: *const c_char,
    offset: usize,
    kind: c_int,
}

/// `al_shape_desc`.
#[repr(C)]
struct al_shape_desc {
    size: usize,
    name: *const c_char,
    fixed: usize,
    slots: *const al_slot_desc,
    slot_count: usize,
    tail: c_int,
    trace: Option<TraceFunction>,
    trace_data: *mut c_void,
    /// A `bool` of C. The memory may hold any byte.
    trace_lasts: u8,
}

/// `al_trace_function`.
type TraceFunction = unsafe extern "C-unwind" fn(*mut c_void, *mut al_tracer, *mut c_void);

/// A trace function of the program's, with what it takes to find an object's end. Its heap keeps it:
/// shapes have its address.
pub(crate) struct Tracing {
    /// The name of the shape.
    name: String,
    function: TraceFunction,
    data: Data,
    fixed: usize,
    /// Bytes of an element of the tail; 0 without one.
    element: usize,
}

/// `al_tracer`: the visitor of an object's slots, and where they may lie. C code gets its address
/// during a call.
struct al_tracer {
    /// A [`SlotVisitor`], whose lifetime a type of C code cannot have.
    visitor: *mut c_void,
    object: usize,
    /// The offsets at which a slot may begin.
    slots: Range<usize>,
    /// The function that is called.
    tracing: *const Tracing,
}

/// Calls the trace function at `tracing` as a callback.
///
/// # Safety
/// - `tracing` is the [`Tracing`] of a heap that lives.
unsafe extern "C-unwind" fn trace_object(
    object: *mut u8,
    visitor: *mut SlotVisitor<'_>,
    tracing: *mut c_void,
) {
    // SAFETY: the caller's predicate.
    let tracing = unsafe { &*tracing.cast::<Tracing>() };
    let (first, bytes) = match tracing.element {
        0 => (LENGTH_OFFSET, tracing.fixed),
        element => {
            // SAFETY: with a tail the length is the word after the header.
            let length = unsafe { al_length(object.cast()) };
            (LENGTH_OFFSET + size_of::<u64>(), tracing.fixed + element * length)
        }
    };
    let slots = first..(bytes + 1).saturating_sub(size_of::<u64>());
    let mut tracer = al_tracer { visitor: visitor.cast(), object: object.addr(), slots, tracing };
    // SAFETY: a function of the program's, with its data.
    let call = || unsafe { (tracing.function)(object.cast(), &raw mut tracer, tracing.data.get()) };
    callback("a trace function", Calls::Nothing, call);
}

impl al_tracer {
    /// The visitor, if the slot lies in the object.
    fn visitor(&mut self, function: &str, slot: *mut u64) -> &mut SlotVisitor<'_> {
        let offset = slot.addr().wrapping_sub(self.object);
        if !self.slots.contains(&offset) || !offset.is_multiple_of(size_of::<u64>()) {
            // SAFETY: the heap whose object is traced keeps it.
            let Tracing { name, .. } = unsafe { &*self.tracing };
            Wrong(function).end(format_args!(
                "the trace function of the shape `{name}` shows {slot:p}, which is no slot of the object at {:#x}: \
                 a slot is a word of the object, after the header and the length",
                self.object
            ));
        }
        // SAFETY: `trace_object` has got it for the call that this is in.
        unsafe { &mut *self.visitor.cast() }
    }
}

fn kind(kind: c_int, name: &str) -> Result<SlotKind, Failure> {
    match kind {
        0 => Ok(SlotKind::Strong),
        1 => Ok(SlotKind::Weak),
        _ => Err(Failure::new(
            Code::Shape,
            format_args!("slot `{name}` has the kind {kind}; AL_STRONG or AL_WEAK works"),
        )),
    }
}

/// The shape that C code describes.
///
/// # Safety
/// - `desc` is null, or leads to what the header describes.
unsafe fn described(desc: *const al_shape_desc) -> Result<(Shape, Option<Box<Tracing>>), Failure> {
    // SAFETY: the caller's predicate, here and for texts and slots.
    let desc = unsafe { given(desc, "desc")? };
    // SAFETY: as above.
    let name = unsafe {
        check_size((&raw const *desc).cast(), "al_shape_desc", size_of::<al_shape_desc>())?;
        text(desc.name, "name", Code::Shape)?
    };
    let name = name.filter(|name| !name.is_empty()).ok_or_else(|| {
        Failure::new(Code::Shape, "a shape has no name; any text works, and messages and snapshots have it")
    })?;
    let element = match desc.tail {
        0 => None,
        bytes @ (1 | 2 | 4 | 8) => Some(Element::Plain { bytes: bytes as usize }),
        16 => Some(Element::Reference(SlotKind::Strong)),
        17 => Some(Element::Reference(SlotKind::Weak)),
        other => {
            return Err(Failure::new(
                Code::Shape,
                format_args!("shape `{name}` has the tail {other}; a value of al_tail works"),
            ));
        }
    };
    let mut shape = match element {
        Some(element) => Shape::array(name.to_owned(), desc.fixed, element),
        None => Shape::fixed(name.to_owned(), desc.fixed),
    };
    if desc.slot_count > 0 && desc.slots.is_null() {
        return Err(Failure::null("slots"));
    }
    if desc.slot_count > desc.fixed / size_of::<u64>() {
        return Err(Failure::new(
            Code::Shape,
            format_args!("shape `{name}` has {} slots in {} bytes", desc.slot_count, desc.fixed),
        ));
    }
    for index in 0..desc.slot_count {
        // SAFETY: the caller's predicate: there are so many.
        let slot = unsafe { &*desc.slots.add(index) };
        // SAFETY: as above.
        let name = unsafe { text(slot.name, "name of a slot", Code::Shape)? }.unwrap_or("");
        shape = shape.slot(name.to_owned(), slot.offset, kind(slot.kind, name)?);
    }
    let tracing = desc.trace.map(|function| {
        Box::new(Tracing {
            name: name.to_owned(),
            function,
            data: Data(desc.trace_data),
            fixed: shape.fixed_bytes(),
            element: shape.tail().map_or(0, Element::bytes),
        })
    });
    if let Some(tracing) = &tracing {
        shape = shape.traced_by_c(trace_object, ptr::from_ref(&**tracing).cast_mut().cast());
        if desc.trace_lasts != 0 {
            shape = shape.slots_never_change();
        }
    }
    Ok((shape, tracing))
}

/// `al_shape_register`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_shape_register(
    heap: *mut al_heap,
    desc: *const al_shape_desc,
    shape: *mut al_shape,
    error: *mut al_error,
) -> Code {
    let register = || {
        // SAFETY: the header's rules, for all three pointers.
        let (heap, (described, tracing), place) =
            unsafe { (given(heap, "heap")?, described(desc)?, place_for(shape, "shape")?) };
        outside_of_callbacks()?;
        let registered = heap.heap.register(described)?;
        heap.keep(tracing);
        place.set(registered.into());
        Ok(())
    };
    // SAFETY: the header's rules: null, or an error with its size.
    unsafe { answer(error, register) }
}

/// What a trace function got.
///
/// # Safety
/// - `tracer` is null, or what the calling trace function got, during its call.
unsafe fn tracer<'v>(function: &str, tracer: *mut al_tracer) -> &'v mut al_tracer {
    if tracer.is_null() {
        Wrong(function).end(format_args!("`tracer` is NULL: pass what the trace function got"));
    }
    // SAFETY: the caller's predicate.
    unsafe { &mut *tracer }
}

/// `al_trace`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_trace(to: *mut al_tracer, slot: *mut u64) {
    // SAFETY: the header's rules: what the trace function got, during its call.
    unsafe { tracer("al_trace", to) }.visitor("al_trace", slot).strong(slot);
}

/// `al_trace_weak`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_trace_weak(to: *mut al_tracer, slot: *mut u64) {
    // SAFETY: as for `al_trace`.
    unsafe { tracer("al_trace_weak", to) }.visitor("al_trace_weak", slot).weak(slot);
}

/// Calls `found` with the description of an object's shape and the header of its new objects.
///
/// # Safety
/// - `object` is an object of the thread's heap.
unsafe fn with_shape<R>(
    function: &str,
    mu: *mut al_mutator,
    object: *const c_void,
    found: impl FnOnce(&Shape, Header) -> R,
) -> R {
    let thread = runs(function, mu);
    if object.is_null() {
        Wrong(function).end(format_args!("`object` is NULL, and must be an object of the heap"));
    }
    // SAFETY: the header of an object is an aligned word that threads access atomically.
    let header = unsafe { AtomicU64::from_ptr(object.cast_mut().cast()) };
    let header = Header::from_bits(header.load(Ordering::Relaxed));
    let shape = match header.kind() {
        Kind::Object(id) => thread.attachment.heap().shapes().get(id).map(|shape| (shape, Header::new(id))),
        _ => None,
    };
    let Some((shape, header)) = shape else {
        Wrong(function)
            .end(format_args!("there is no object at {object:p}: pass one read since the last [S]"));
    };
    found(shape, header)
}

/// `al_shape_of`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_shape_of(mu: *mut al_mutator, object: *const c_void) -> al_shape {
    let shape = |shape: &Shape, header: Header| al_shape {
        header: header.bits(),
        fixed: shape.fixed_bytes(),
        element: shape.tail().map_or(0, Element::bytes),
    };
    // SAFETY: the header's rules: an object.
    unsafe { with_shape("al_shape_of", mu, object, shape) }
}

/// `al_size`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_size(mu: *mut al_mutator, object: *const c_void) -> usize {
    let size = |shape: &Shape, _| {
        // SAFETY: with a tail the length is the word after the header.
        let length = shape.tail().map_or(0, |_| unsafe { al_length(object) });
        shape.bytes_for(length).unwrap_or(0)
    };
    // SAFETY: the header's rules: an object.
    unsafe { with_shape("al_size", mu, object, size) }
}

/// `al_identity_hash`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_identity_hash(mu: *mut al_mutator, object: *mut c_void) -> u32 {
    const NAME: &str = "al_identity_hash";
    let Some(object) = NonNull::new(object.cast()) else {
        Wrong(NAME).end(format_args!("`object` is NULL, and must be an object of the heap"));
    };
    // SAFETY: the header's rules: an object.
    with(NAME, mu, |raw| unsafe { raw.identity_hash_raw(object) }).get()
}

/// `al_bytes` out of line.
#[unsafe(no_mangle)]
extern "C" fn al_bytes(shape: al_shape, length: usize) -> usize {
    if length > MAX_LENGTH {
        return usize::MAX / 4;
    }
    (shape.fixed + length * shape.element).next_multiple_of(size_of::<u64>())
}

/// `al_length` out of line.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_length(object: *const c_void) -> usize {
    // SAFETY: the header's rules: an object with a tail.
    unsafe { object.byte_add(LENGTH_OFFSET).cast::<usize>().read() }
}
