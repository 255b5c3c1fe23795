//! Providers: functions of the program that show the roots it keeps in its own way.

use crate::border::Wrong;
use crate::callback::{Calls, Data, callback, outside_of_callbacks};
use crate::error::{Code, Failure, al_error, answer, demanded, given, place_for};
use crate::frames::for_each_word;
use crate::heap::al_heap;
use allotment::raw::{ProviderId, RootProvider, RootVisitor};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

/// `al_visitor`: a [`RootVisitor`], which C code gets as an address during a call.
type al_visitor = c_void;

/// `al_provider_function`.
type Visit = unsafe extern "C-unwind" fn(*mut al_visitor, *mut c_void);

/// `al_provider`.
pub(crate) struct al_provider {
    id: ProviderId,
    /// The address of its heap's memory: ids are numbers of one heap.
    base: usize,
}

thread_local! {
    /// What the thread's provider got, while it runs.
    static VISITOR: Cell<*mut al_visitor> = const { Cell::new(ptr::null_mut()) };
}

/// A provider of the program's.
struct Provider {
    visit: Visit,
    data: Data,
}

// SAFETY: the header's rules for an `al_provider_function` are those of the trait; a mutator, and so
// the heap, is refused while it runs, and so is an exception.
unsafe impl RootProvider for Provider {
    fn visit_roots(&self, roots: &mut RootVisitor<'_, '_>) {
        let visitor = ptr::from_mut(roots).cast();
        VISITOR.set(visitor);
        // SAFETY: a function of the program's, with its data.
        callback("a provider", Calls::Nothing, || unsafe { (self.visit)(visitor, self.data.get()) });
        VISITOR.set(ptr::null_mut());
    }
}

/// `al_provider_add`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_provider_add(
    heap: *mut al_heap,
    visit: Option<Visit>,
    data: *mut c_void,
    provider: *mut *mut al_provider,
    error: *mut al_error,
) -> Code {
    let add = || {
        // SAFETY: the header's rules, for both pointers.
        let (heap, place) = unsafe { (given(heap, "heap")?, place_for(provider, "provider")?) };
        let visit = visit.ok_or_else(|| Failure::null("visit"))?;
        outside_of_callbacks()?;
        heap.heap.check_fork()?;
        let id = heap.heap.add_root_provider(Box::new(Provider { visit, data: Data(data) }));
        place.set(Box::into_raw(Box::new(al_provider { id, base: heap.heap.base() })));
        Ok(())
    };
    // SAFETY: the header's rules: null, or an error with its size.
    unsafe { answer(error, add) }
}

/// `al_provider_remove`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_provider_remove(heap: *mut al_heap, provider: *mut al_provider) {
    const NAME: &str = "al_provider_remove";
    // SAFETY: the header's rules: a heap.
    let heap = unsafe { demanded(heap, NAME, "heap") };
    if !provider.is_null() {
        // SAFETY: the header's rules: the box of `al_provider_add`, which the caller gives up.
        let provider = unsafe { Box::from_raw(provider) };
        if provider.base != heap.heap.base() {
            Wrong(NAME).end(format_args!("the provider was added to another heap: pass that heap"));
        }
        heap.heap.remove_root_provider(provider.id);
    }
}

/// What the running provider got. Ends the process if this is something else.
fn visitor<'v>(function: &str, visitor: *mut al_visitor) -> &'v mut RootVisitor<'v, 'v> {
    if visitor.is_null() || visitor != VISITOR.get() {
        Wrong(function).end(format_args!(
            "{visitor:p} is not the visitor of a provider that runs on this thread: pass what the provider got, during \
             its call"
        ));
    }
    // SAFETY: the provider is in its call, which has lent the visitor to it.
    unsafe { &mut *visitor.cast() }
}

/// `al_visit`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_visit(to: *mut al_visitor, word: *mut u64) {
    visitor("al_visit", to).slot(word);
}

/// `al_visit_weak`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_visit_weak(to: *mut al_visitor, word: *mut u64) {
    visitor("al_visit_weak", to).weak_slot(word);
}

/// `al_visit_pinned`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_visit_pinned(to: *mut al_visitor, word: u64) {
    visitor("al_visit_pinned", to).pinned(word);
}

/// `al_visit_frames`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_visit_frames(to: *mut al_visitor, mark: usize) {
    let visitor = visitor("al_visit_frames", to);
    // SAFETY: the header's rules: the mark is that of frames that are alive.
    unsafe { for_each_word(mark, |word| visitor.slot(word)) };
}
