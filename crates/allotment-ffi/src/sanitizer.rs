//! What ThreadSanitizer is told, in a program that runs under it.
//!
//! The sanitizer sees the accesses of the program, and not what the library does between them. It
//! would report each handover of memory from one thread to another: a thread gives a buffer up, and
//! another thread gets it; a collector moves the objects of a stopped thread. So a thread
//! [gives](give) all that it wrote before each call in which it may lose memory or stand still, and
//! [takes](take) all that was given before it goes on. A callback takes and gives, too. A region is
//! reused only after a stop to which every thread came, so these edges are enough.
//!
//! The library's copies of objects go through `memcpy`, which the sanitizer sees: the suppression
//! `called_from_lib:liballotment` takes them out.
//!
//! All heaps share one place, so a race between threads of two heaps may stay unseen.
//!
//! The functions of the sanitizer are looked up once: weak symbols are unstable in Rust.
//! Refused:
//! - Inlines in the header: a file that is compiled without the sanitizer would give nothing, and each
//!   call would need a second name.
//! - Poison of free regions for AddressSanitizer: with `ZealProtect` an access there faults, and the
//!   sanitizer names the line.

use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::OnceLock;

/// `__tsan_release` or `__tsan_acquire`.
type Edge = unsafe extern "C" fn(*mut c_void);

struct Edges {
    release: Edge,
    acquire: Edge,
}

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The sanitizer's functions. `None`: the program runs without it.
fn edges() -> Option<&'static Edges> {
    static EDGES: OnceLock<Option<Edges>> = OnceLock::new();
    let find = |name: &'static std::ffi::CStr| {
        // SAFETY: null is `RTLD_DEFAULT` on Linux. A function of that name has this type.
        unsafe {
            let address = dlsym(ptr::null_mut(), name.as_ptr());
            std::mem::transmute::<*mut c_void, Option<Edge>>(address)
        }
    };
    let edges = EDGES
        .get_or_init(|| Some(Edges { release: find(c"__tsan_release")?, acquire: find(c"__tsan_acquire")? }));
    edges.as_ref()
}

/// The place at which threads meet: only its address is used.
static PLACE: u8 = 0;

fn place() -> *mut c_void {
    (&raw const PLACE).cast_mut().cast()
}

/// What the thread did so far comes before what other threads do after they [`take`].
pub(crate) fn give() {
    if let Some(edges) = edges() {
        // SAFETY: the sanitizer takes any address.
        unsafe { (edges.release)(place()) };
    }
}

/// What other threads did before they [gave](give) comes before what this thread does next.
pub(crate) fn take() {
    if let Some(edges) = edges() {
        // SAFETY: the sanitizer takes any address.
        unsafe { (edges.acquire)(place()) };
    }
}

/// A call in which memory may change hands: gives at its begin, and takes when it is dropped.
#[must_use = "the call ends when it is dropped"]
pub(crate) struct Handover(());

impl Handover {
    pub(crate) fn begin() -> Handover {
        give();
        Handover(())
    }
}

impl Drop for Handover {
    fn drop(&mut self) {
        take();
    }
}
