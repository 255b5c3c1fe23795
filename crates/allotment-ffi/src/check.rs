//! What `-DAL_CHECK` asks of the library: `allotment/check.h`.
//!
//! Values carry the number of their thread's calls that may reach a safepoint. The header counts and
//! compares. Here is what it cannot know: whether an address is an object of the heap, which handles
//! and pins there are, and the lines that end the process.

use crate::border::{Wrong, al_mutator, is_blocked, runs};
use crate::frames::{al_frame, is_linked, ranges};
use crate::shape::al_shape;
use allotment::raw::{Header, Kind};
use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

/// `al_check_thread`.
#[repr(C)]
struct al_check_thread {
    calls: usize,
    spans: usize,
}

thread_local! {
    static THREAD: UnsafeCell<al_check_thread> =
        const { UnsafeCell::new(al_check_thread { calls: 1, spans: 0 }) };
}

/// `al_check_current`.
#[unsafe(no_mangle)]
extern "C" fn al_check_current() -> *mut al_check_thread {
    THREAD.with(UnsafeCell::get)
}

/// `al_place`: a constant of the program.
#[repr(C)]
struct al_place {
    file: *const c_char,
    line: usize,
}

/// A place as text: `file.c:12`.
#[derive(Clone, Debug)]
struct SourcePlace(String);

impl SourcePlace {
    /// # Safety
    /// - `place` is null or a constant of the program.
    unsafe fn at(place: *const al_place) -> SourcePlace {
        // SAFETY: the caller's predicate.
        let Some(place) = (unsafe { place.as_ref() }) else {
            return SourcePlace("an unknown place".to_owned());
        };
        // SAFETY: the file's name is a constant, too.
        let file = unsafe { CStr::from_ptr(place.file) };
        SourcePlace(format!("{}:{}", file.to_string_lossy(), place.line))
    }

    fn end(&self, reason: fmt::Arguments<'_>) -> ! {
        Wrong(&self.0).end(reason)
    }
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A constant text of the header.
///
/// # Safety
/// - `text` is a constant of the program.
unsafe fn constant<'t>(text: *const c_char) -> &'t str {
    // SAFETY: the caller's predicate.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("a call")
}

/// `al_check_stale`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_check_stale(call: *const c_char, read: *const al_place, here: *const al_place) -> ! {
    // SAFETY: the header passes constants.
    let (call, read, here) = unsafe { (constant(call), SourcePlace::at(read), SourcePlace::at(here)) };
    here.end(format_args!(
        "{call} uses a reference from before an [S] call, read at {read}: read it again, from a frame, a handle or a slot"
    ));
}

/// `al_check_span`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_check_span(call: *const c_char, here: *const al_place) -> ! {
    // SAFETY: the header passes constants.
    let (call, here) = unsafe { (constant(call), SourcePlace::at(here)) };
    here.end(format_args!("{call} may reach a safepoint within AL_SPAN: call it before or after the span"));
}

/// `al_check_unchecked`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_check_unchecked(here: *const al_place) -> ! {
    // SAFETY: the header passes constants.
    unsafe { SourcePlace::at(here) }.end(format_args!(
        "a file without AL_CHECK has linked a frame of this thread: compile all files with it, or none"
    ));
}

/// `al_check_object`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_check_object(mu: *mut al_mutator, object: *const c_void, here: *const al_place) {
    let thread = runs("al_ref", mu);
    // SAFETY: the header passes constants.
    let place = || unsafe { SourcePlace::at(here) };
    let heap = thread.attachment.heap();
    let bounds = heap.base()..heap.base() + heap.geometry().heap_bytes();
    if !bounds.contains(&object.addr()) || !object.addr().is_multiple_of(size_of::<u64>()) {
        place().end(format_args!(
            "{object:p} is no address of an object of this heap: static, stack and malloc memory go into plain fields"
        ));
    }
    // SAFETY: memory of the heap is mapped; the program says that it is an object's header. If it is
    // memory that went back to the system, the fault is the check's answer.
    let header = unsafe { AtomicU64::from_ptr(object.cast_mut().cast()) }.load(Ordering::Relaxed);
    let known = match Header::from_bits(header).kind() {
        Kind::Object(id) => heap.shapes().get(id).is_some(),
        _ => false,
    };
    if !known {
        place().end(format_args!(
            "there is no object at {object:p}: it moved or died, or this is the address of a field; read it again after [S]"
        ));
    }
}

/// `al_check_slot`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_check_slot(
    mu: *mut al_mutator,
    slot: *const u64,
    count: usize,
    here: *const al_place,
) {
    // SAFETY: the header passes constants.
    let place = || unsafe { SourcePlace::at(here) };
    if is_blocked("a slot's access", mu) {
        place().end(format_args!("the thread is blocked and uses a slot: call al_block_leave first"));
    }
    let heap = runs("a slot's access", mu).attachment.heap();
    let (first, end) = (heap.base(), heap.base() + heap.geometry().heap_bytes());
    let last = slot.addr().checked_add(count.saturating_mul(size_of::<u64>()));
    let inside = slot.addr() >= first && last.is_some_and(|last| last <= end);
    if count > 0 && !(inside && slot.addr().is_multiple_of(size_of::<u64>())) {
        place().end(format_args!(
            "{slot:p} is no slot of an object of this heap: slots elsewhere are AL_LOCALS, AL_WORDS or handles"
        ));
    }
}

/// `al_check_frame`: a frame with these words is about to be linked; null: the list is about to
/// change.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_check_frame(
    mu: *mut al_mutator,
    frame: *const al_frame,
    words: *const u64,
    count: usize,
    here: *const al_place,
) {
    // SAFETY: the caller's predicates.
    unsafe { check_words(mu, frame, words, count, here) };
    // SAFETY: the calling thread's mutator, which is not blocked; frames on its list are alive.
    if !frame.is_null() && unsafe { is_linked(mu, frame) } {
        // SAFETY: the header passes constants.
        unsafe { SourcePlace::at(here) }
            .end(format_args!("{frame:p} is on the thread's list of frames already: call al_unlink first"));
    }
}

/// `al_check_words`: a frame that is linked is about to get these words.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_check_words(
    mu: *mut al_mutator,
    frame: *const al_frame,
    words: *const u64,
    count: usize,
    here: *const al_place,
) {
    // SAFETY: the caller's predicates.
    unsafe { check_words(mu, frame, words, count, here) };
}

/// Checks that the thread is not blocked, and that no linked frame but `frame` has one of these
/// words.
///
/// # Safety
/// - `mu` is a mutator; frames on the calling thread's list are alive; `here` is a constant of the
///   header.
unsafe fn check_words(
    mu: *mut al_mutator,
    frame: *const al_frame,
    words: *const u64,
    count: usize,
    here: *const al_place,
) {
    // SAFETY: the caller's predicate.
    let place = || unsafe { SourcePlace::at(here) };
    if is_blocked("al_link", mu) {
        place().end(format_args!(
            "the thread is blocked and changes its list of frames: call al_block_leave first"
        ));
    }
    let end = words.wrapping_add(count);
    // SAFETY: the caller's predicates, and the thread is not blocked.
    for other in unsafe { ranges(mu) } {
        let others_end = other.words.wrapping_add(other.count);
        let both = count > 0 && other.count > 0;
        if both && !ptr::eq(other, frame) && words < others_end && other.words.cast_const() < end {
            place().end(format_args!(
                "words of this frame are roots already, of another frame: a word is a root once; a stack has one \
                 AL_WORDS, and al_words_set says how far it reaches"
            ));
        }
    }
}

/// `al_check_shape`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_check_shape(
    mu: *mut al_mutator,
    shape: *const al_shape,
    tail: bool,
    here: *const al_place,
) {
    // SAFETY: the header passes constants, and the shape of its caller.
    let (shape, place) = unsafe { (&*shape, || SourcePlace::at(here)) };
    let heap = runs("al_alloc", mu).attachment.heap();
    let known = match Header::from_bits(shape.header).kind() {
        Kind::Object(id) => heap.shapes().get(id),
        _ => None,
    };
    let Some(known) = known else {
        place().end(format_args!("the shape is not registered with this heap: al_shape_register"));
    };
    let element = known.tail().map_or(0, allotment::raw::Element::bytes);
    if (known.fixed_bytes(), element) != (shape.fixed, shape.element) {
        place().end(format_args!(
            "the shape `{}` has other sizes than its registration gave: pass it unchanged",
            known.name()
        ));
    }
    if tail != (element != 0) {
        place().end(format_args!(
            "objects of `{}` {}",
            known.name(),
            if tail { "have no tail: al_alloc" } else { "have a tail: al_alloc_array" }
        ));
    }
}

/// A handle or pin, by its address.
#[derive(Clone, Debug)]
struct Thing {
    what: &'static str,
    made: SourcePlace,
    freed: Option<SourcePlace>,
}

static THINGS: Mutex<Option<HashMap<usize, Thing>>> = Mutex::new(None);

fn things() -> MutexGuard<'static, Option<HashMap<usize, Thing>>> {
    THINGS.lock().unwrap_or_else(|error| error.into_inner())
}

/// The kind of a thing, as the header says it.
///
/// # Safety
/// - As for [`constant`].
unsafe fn kind(what: *const c_char) -> &'static str {
    // SAFETY: the caller's predicate.
    if unsafe { constant(what) } == "pin" { "pin" } else { "handle" }
}

/// `al_check_made`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_check_made(thing: *const c_void, what: *const c_char, here: *const al_place) {
    // SAFETY: the header passes constants.
    let thing_made = unsafe { Thing { what: kind(what), made: SourcePlace::at(here), freed: None } };
    things().get_or_insert_default().insert(thing.addr(), thing_made);
}

/// Looks a handle or pin up, which must not be freed.
fn look_up(thing: *const c_void, what: &str, here: &SourcePlace, found: impl FnOnce(&mut Thing)) {
    let mut things = things();
    match things.get_or_insert_default().get_mut(&thing.addr()) {
        Some(Thing { what: own, made, freed: None }) if *own != what => {
            here.end(format_args!("{thing:p} is a {own}, made at {made}, and is used as a {what}"))
        }
        Some(thing @ Thing { freed: None, .. }) => found(thing),
        Some(Thing { made, freed: Some(freed), .. }) => here.end(format_args!(
            "the {what} {thing:p}, made at {made}, was freed at {freed}: free and use it before that"
        )),
        None => here.end(format_args!("{thing:p} is no {what}: pass one of al_{what}_new")),
    }
}

/// `al_check_freed`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_check_freed(thing: *const c_void, what: *const c_char, here: *const al_place) {
    // SAFETY: the header passes constants.
    let (what, here) = unsafe { (kind(what), SourcePlace::at(here)) };
    look_up(thing, what, &here, |thing| thing.freed = Some(here.clone()));
}

/// `al_check_used`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_check_used(thing: *const c_void, what: *const c_char, here: *const al_place) {
    // SAFETY: the header passes constants.
    let (what, here) = unsafe { (kind(what), SourcePlace::at(here)) };
    look_up(thing, what, &here, |_| ());
}

/// `al_check_left`: names the handles and pins that were not freed.
#[unsafe(no_mangle)]
extern "C" fn al_check_left() {
    let things = things();
    let mut left: Vec<String> = things
        .iter()
        .flatten()
        .filter(|(_, thing)| thing.freed.is_none())
        .map(|(_, Thing { what, made, .. })| format!("allotment: {made}: this {what} was not freed"))
        .collect();
    left.sort();
    left.iter().for_each(|line| eprintln!("{line}"));
}
