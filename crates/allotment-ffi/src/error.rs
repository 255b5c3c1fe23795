//! The codes of the C API, and the error that a caller passes in to be filled.

use crate::border::Wrong;
use crate::callback::refuse_under_locks;
use allotment::heap::{BuildError, ResetError};
use allotment::options::OptionError;
use allotment::raw::{ShapeError, StopError};
use allotment::stats::{SnapshotError, VerifyError, WalkError};
use allotment::{AttachError, ForkError, OutOfMemory};
use std::ffi::{CStr, c_char, c_int};
use std::fmt::{self, Display};
use std::ptr;

/// `al_code`. Numbers never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) enum Code {
    Ok = 0,
    Memory = 1,
    Limit = 2,
    Option = 3,
    Shape = 4,
    Attached = 5,
    AttachedAlready = 6,
    Stopping = 7,
    Rooted = 8,
    Forked = 9,
    Abi = 10,
    Platform = 11,
    Argument = 12,
    Ending = 13,
    Broken = 14,
}

const TEXT_BYTES: usize = 232;

/// `al_error`.
#[repr(C)]
pub(crate) struct al_error {
    size: usize,
    code: Code,
    bytes: usize,
    heap_bytes: usize,
    text: [u8; TEXT_BYTES],
}

/// What texts of the library say with names of Rust, and with those of the header.
const NAMES: [(&str, &str); 5] = [
    ("`Shape::slots_never_change` says", "`trace_lasts` says"),
    (
        "with its mutator (`RawMutator::stop_the_world`), or from within `Mutator::blocking`",
        "of that heap, or call al_block_enter first",
    ),
    ("not in `blocking`", "not between al_block_enter and al_block_leave"),
    ("are in `blocking` or detached", "are between them or detached"),
    (
        "poll (`safepoint`), or wait within `blocking`",
        "call al_poll, or wait between al_block_enter and al_block_leave",
    ),
];

/// A text of the library with the names that a C program knows.
pub(crate) fn in_names_of_c(text: &str) -> String {
    NAMES.iter().fold(text.to_owned(), |text, (name, own)| text.replace(name, own))
}

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Failure {
    code: Code,
    text: String,
    bytes: usize,
    heap_bytes: usize,
}

impl Failure {
    pub(crate) fn new(code: Code, reason: impl Display) -> Failure {
        Failure { code, text: in_names_of_c(&reason.to_string()), bytes: 0, heap_bytes: 0 }
    }

    /// An argument that must not be null is.
    pub(crate) fn null(argument: &str) -> Failure {
        Failure::new(Code::Argument, format_args!("`{argument}` is NULL, and must point to something"))
    }

    /// The size at the start of a structure is wrong.
    pub(crate) fn size(structure: &str, size: usize, least: usize) -> Failure {
        Failure::new(
            Code::Abi,
            format_args!("{structure}.size is {size}; sizeof({structure}), at least {least}, works"),
        )
    }

    /// Fills the caller's error, if there is one.
    fn fill(&self, error: *mut al_error) {
        if error.is_null() {
            return;
        }
        let mut text = [0; TEXT_BYTES];
        let end = self.text.floor_char_boundary(TEXT_BYTES - 1);
        text[..end].copy_from_slice(&self.text.as_bytes()[..end]);
        // SAFETY: `answer` has checked that the caller's structure has at least these members.
        unsafe {
            (*error).code = self.code;
            (*error).bytes = self.bytes;
            (*error).heap_bytes = self.heap_bytes;
            (*error).text = text;
        }
    }

    /// Calls `with` with an error of this failure.
    pub(crate) fn with_error<R>(&self, with: impl FnOnce(*const al_error) -> R) -> R {
        let mut error = al_error {
            size: size_of::<al_error>(),
            code: Code::Ok,
            bytes: 0,
            heap_bytes: 0,
            text: [0; TEXT_BYTES],
        };
        self.fill(&raw mut error);
        with(&raw const error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

/// Runs the body of a function that returns a code, and fills the caller's error if the body fails.
///
/// # Safety
/// - `error` is null, or leads to a structure that begins with its size.
pub(crate) unsafe fn answer(error: *mut al_error, body: impl FnOnce() -> Result<(), Failure>) -> Code {
    // SAFETY: the caller's predicate.
    if !error.is_null() && unsafe { (*error).size } < size_of::<al_error>() {
        return Code::Abi;
    }
    match body() {
        Ok(()) => {
            if !error.is_null() {
                // SAFETY: the structure is as large as `al_error`.
                unsafe {
                    (*error).code = Code::Ok;
                    (*error).text[0] = 0;
                    (*error).bytes = 0;
                    (*error).heap_bytes = 0;
                }
            }
            Code::Ok
        }
        Err(failure) => {
            failure.fill(error);
            failure.code
        }
    }
}

/// Whether a structure of the caller's with that size has all members that this library knows and
/// no further one that says something.
///
/// # Safety
/// - `structure` leads to as many readable bytes as its first word says.
pub(crate) unsafe fn check_size(structure: *const usize, name: &str, known: usize) -> Result<(), Failure> {
    // SAFETY: the caller's predicate.
    let size = unsafe { structure.read() };
    if size < known {
        return Err(Failure::size(name, size, known));
    }
    if size > 1 << 16 {
        return Err(Failure::size(name, size, known));
    }
    // SAFETY: the caller's predicate.
    let more = unsafe { std::slice::from_raw_parts(structure.cast::<u8>().add(known), size - known) };
    if more.iter().any(|byte| *byte != 0) {
        return Err(Failure::new(
            Code::Abi,
            format_args!(
                "{name} has members that this library of version {} does not know, and they are not 0; a newer library \
                 works",
                env!("CARGO_PKG_VERSION")
            ),
        ));
    }
    Ok(())
}

/// A text of the caller's. `None`: it is null.
///
/// # Safety
/// - `text` is null or a string with a NUL, which lives for `'t`.
pub(crate) unsafe fn text<'t>(
    text: *const c_char,
    name: &str,
    code: Code,
) -> Result<Option<&'t str>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's predicate.
    let bytes = unsafe { CStr::from_ptr(text) };
    let text = bytes.to_str();
    text.map(Some).map_err(|_| Failure::new(code, format_args!("`{name}` is {bytes:?}; UTF-8 works")))
}

impl From<OutOfMemory> for Failure {
    fn from(error: OutOfMemory) -> Failure {
        let code = if error.gc_overhead().is_some() { Code::Limit } else { Code::Memory };
        Failure { bytes: error.bytes(), heap_bytes: error.heap_bytes(), ..Failure::new(code, error) }
    }
}

impl From<OptionError> for Failure {
    fn from(error: OptionError) -> Failure {
        Failure::new(Code::Option, error)
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Failure {
        let code = match error {
            BuildError::Option(_)
            | BuildError::Geometry(_)
            | BuildError::Prefetch(_)
            | BuildError::TimelineWithClock { .. } => Code::Option,
            BuildError::Memory(_) | BuildError::InitialHeap { .. } => Code::Memory,
            _ => Code::Platform,
        };
        Failure::new(code, error)
    }
}

impl From<ResetError> for Failure {
    fn from(error: ResetError) -> Failure {
        let code = match error {
            ResetError::Attached(_) => Code::Attached,
            ResetError::Rooted { .. } => Code::Rooted,
            _ => Code::Forked,
        };
        Failure::new(code, error)
    }
}

impl From<AttachError> for Failure {
    fn from(error: AttachError) -> Failure {
        let code = match error {
            AttachError::AlreadyAttached => Code::AttachedAlready,
            AttachError::WorldStopped => Code::Stopping,
            AttachError::ThreadEnds => Code::Ending,
            AttachError::Forked(_) => Code::Forked,
        };
        Failure::new(code, error)
    }
}

impl From<ForkError> for Failure {
    fn from(error: ForkError) -> Failure {
        Failure::new(Code::Forked, error)
    }
}

impl From<ShapeError> for Failure {
    fn from(error: ShapeError) -> Failure {
        Failure::new(Code::Shape, error)
    }
}

impl From<StopError> for Failure {
    fn from(error: StopError) -> Failure {
        let code = match error {
            StopError::Attached => Code::Attached,
            StopError::Stopping => Code::Stopping,
            _ => Code::Forked,
        };
        Failure::new(code, error)
    }
}

impl From<WalkError> for Failure {
    fn from(error: WalkError) -> Failure {
        Failure::new(Code::Broken, error)
    }
}

impl From<VerifyError> for Failure {
    fn from(error: VerifyError) -> Failure {
        let code = match error {
            VerifyError::Attached(_) => Code::Attached,
            VerifyError::Forked(_) => Code::Forked,
            _ => Code::Broken,
        };
        Failure::new(code, error)
    }
}

impl From<SnapshotError> for Failure {
    fn from(error: SnapshotError) -> Failure {
        match error {
            SnapshotError::Stop(error) => error.into(),
            SnapshotError::Broken { .. } => Failure::new(Code::Broken, error),
            SnapshotError::NoMemory { .. } => Failure::new(Code::Memory, error),
            _ => Failure::new(Code::Platform, error),
        }
    }
}

/// `al_code_text`.
#[unsafe(no_mangle)]
extern "C" fn al_code_text(code: c_int) -> *const c_char {
    let text = match code {
        0 => c"no error",
        1 => c"the heap, or the system, has no room",
        2 => c"collections take nearly all of the time",
        3 => c"an option is wrong, or contradicts another",
        4 => c"the description describes no object",
        5 => c"threads are attached, or this one is",
        6 => c"this thread is attached already",
        7 => c"this thread stops the world, or is in a callback",
        8 => c"handles or pins are left",
        9 => c"a child of fork() in which the heap cannot be used",
        10 => c"header and library do not fit, or a size is wrong",
        11 => c"the system refused a file, a thread or a socket",
        12 => c"an argument is wrong, such as a pointer that is NULL",
        13 => c"the thread is ending",
        14 => c"the heap is broken",
        _ => c"no code of this library",
    };
    text.as_ptr()
}

/// A reference to what the caller's pointer leads to, or the failure that names the argument.
///
/// # Safety
/// - `pointer` is null, or leads to a value that lives for `'t`.
pub(crate) unsafe fn given<'t, T>(pointer: *const T, argument: &str) -> Result<&'t T, Failure> {
    // SAFETY: the caller's predicate.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::null(argument))
}

/// As [`given`], for a function without a code: ends the process, and does so in callbacks that call
/// nothing.
///
/// # Safety
/// - As for [`given`].
pub(crate) unsafe fn demanded<'t, T>(pointer: *const T, function: &str, argument: &str) -> &'t T {
    refuse_under_locks(function);
    // SAFETY: the caller's predicate.
    unsafe { pointer.as_ref() }.unwrap_or_else(|| {
        Wrong(function).end(format_args!("`{argument}` is NULL, and must point to something"))
    })
}

/// A callback of the caller's, for a function without a code: ends the process if there is none.
pub(crate) fn demanded_callback<F>(each: Option<F>, function: &str) -> F {
    each.unwrap_or_else(|| Wrong(function).end(format_args!("`each` is NULL, and must be a function")))
}

/// A place of the caller's for a result.
///
/// # Safety
/// - `place` is null or writable.
pub(crate) unsafe fn place_for<T>(place: *mut T, argument: &str) -> Result<ResultPlace<T>, Failure> {
    if place.is_null() { Err(Failure::null(argument)) } else { Ok(ResultPlace(place)) }
}

/// A writable place, which the caller has not initialised.
pub(crate) struct ResultPlace<T>(*mut T);

impl<T> ResultPlace<T> {
    pub(crate) fn set(self, value: T) {
        // SAFETY: `place_for` got it from a caller whose place is writable.
        unsafe { ptr::write(self.0, value) };
    }
}
