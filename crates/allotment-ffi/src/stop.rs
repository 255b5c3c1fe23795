//! The stopped world: objects and roots, seen while no thread runs.

use crate::border::{Wrong, current, runs_in, with};
use crate::callback::{Calls, callback, outside_of_callbacks};
use crate::error::{Code, Failure, al_error, answer, demanded_callback, given};
use crate::heap::{al_heap, c_string, constant};
use crate::sanitizer::Handover;
use allotment::raw::{ShapeId, SlotKind, World};
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_void};
use std::ptr;

/// `al_world`: a [`World`], which C code gets as an address during a call.
type al_world = c_void;

thread_local! {
    /// The world that this thread has stopped, while the function of its stop runs.
    static WORLD: Cell<*const al_world> = const { Cell::new(ptr::null()) };
}

/// `al_stop_function`.
type Stopped = unsafe extern "C-unwind" fn(*mut al_world, *mut c_void);

/// `al_object`.
#[repr(C)]
struct al_object {
    address: *mut c_void,
    bytes: usize,
    shape: u32,
    name: *const c_char,
}

/// `al_root`.
#[repr(C)]
struct al_root {
    kind: *const c_char,
    weak: bool,
    object: *mut c_void,
}

/// `al_stop`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_stop(
    heap: *mut al_heap,
    stopped: Option<Stopped>,
    data: *mut c_void,
    error: *mut al_error,
) -> Code {
    let stop = || {
        // SAFETY: the header's rules: a heap.
        let heap = unsafe { given(heap, "heap")? };
        let stopped = stopped.ok_or_else(|| Failure::null("stopped"))?;
        outside_of_callbacks()?;
        let _handover = Handover::begin();
        let run = |world: &mut World<'_>| {
            let world = ptr::from_mut(world).cast();
            WORLD.set(world);
            // SAFETY: a function of the program's, with its data.
            callback("a stop", Calls::Nothing, || unsafe { stopped(world, data) });
            WORLD.set(ptr::null());
        };
        // `None`: another thread stopped the world first, and its stop is over.
        loop {
            let done = if runs_in(&heap.heap) {
                with("al_stop", current(), |raw| raw.stop_the_world(run))
            } else {
                heap.heap.stop_the_world(run)?
            };
            if done.is_some() {
                return Ok(());
            }
        }
    };
    // SAFETY: the header's rules: null, or an error with its size.
    unsafe { answer(error, stop) }
}

/// The world of the stop whose function runs on this thread, if that is what the function passes.
fn given_world<'w>(world: *const al_world) -> Result<&'w World<'w>, Failure> {
    if world.is_null() {
        return Err(Failure::null("world"));
    }
    if world != WORLD.get() {
        return Err(Failure::new(
            Code::Argument,
            format_args!(
                "{world:p} is not the world of a stop on this thread: pass what the function of al_stop got, during its call"
            ),
        ));
    }
    // SAFETY: the function of the stop is in its call, which has lent the world to it.
    Ok(unsafe { &*world.cast() })
}

/// As [`given_world`], for a function without a code: ends the process.
fn demanded_world<'w>(function: &str, world: *const al_world) -> &'w World<'w> {
    given_world(world).unwrap_or_else(|failure| Wrong(function).end(format_args!("{failure}")))
}

/// `al_walk`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_walk(
    world: *mut al_world,
    each: Option<unsafe extern "C-unwind" fn(*mut c_void, *const al_object)>,
    data: *mut c_void,
    error: *mut al_error,
) -> Code {
    let walk = || {
        let each = each.ok_or_else(|| Failure::null("each"))?;
        let world = given_world(world)?;
        let mut names: HashMap<ShapeId, CString> = HashMap::new();
        world.for_each_object(|object| {
            let name = names.entry(object.shape).or_insert_with(|| c_string(object.description.name()));
            let object = al_object {
                address: object.address as *mut c_void,
                bytes: object.bytes,
                shape: object.shape.get(),
                name: name.as_ptr(),
            };
            // SAFETY: a function of the program's, with its data.
            callback("al_walk", Calls::Nothing, || unsafe { each(data, &raw const object) });
        })?;
        Ok(())
    };
    // SAFETY: the header's rules: null, or an error with its size.
    unsafe { answer(error, walk) }
}

/// `al_roots`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_roots(
    world: *mut al_world,
    each: Option<unsafe extern "C-unwind" fn(*mut c_void, *const al_root)>,
    data: *mut c_void,
) {
    const NAME: &str = "al_roots";
    let (each, world) = (demanded_callback(each, NAME), demanded_world(NAME, world));
    world.for_each_root(|root| {
        let root = al_root {
            kind: constant(root.kind.name()),
            weak: root.slot == SlotKind::Weak,
            object: root.address as *mut c_void,
        };
        // SAFETY: a function of the program's, with its data.
        callback(NAME, Calls::Nothing, || unsafe { each(data, &raw const root) });
    });
}

/// `al_threads`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_threads(world: *mut al_world) -> usize {
    demanded_world("al_threads", world).threads()
}
