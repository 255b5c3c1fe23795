//! What a program chooses about a heap: texts of options, and callbacks.

use crate::callback::{Calls, Data, callback};
use crate::error::{Code, Failure, al_error, check_size, in_names_of_c, text};
use crate::heap::c_string;
use crate::observe::{al_record, with_record};
use allotment::Heap;
use allotment::heap::HeapBuilder;
use allotment::raw::{FrameName, FrameSink, MAX_FRAMES, StackWalker};
use std::ffi::{CStr, c_char, c_void};
use std::io::Write;
use std::time::Duration;

// Functions of the program's return a `bool` of C as a byte: a byte other than 0 and 1 would be
// undefined as a `bool` of Rust.

/// `walk_stack`.
type WalkStack = unsafe extern "C-unwind" fn(*mut c_void, *mut usize, usize) -> usize;

/// `name_frame`.
type NameFrame = unsafe extern "C-unwind" fn(*mut c_void, usize, *mut c_char, usize) -> u8;

/// `al_options`.
#[repr(C)]
pub(crate) struct al_options {
    size: usize,
    name: *const c_char,
    defaults: *const c_char,
    options: *const c_char,
    on_heap_limit: Option<unsafe extern "C-unwind" fn(*mut c_void, *const al_error) -> u8>,
    on_collection: Option<unsafe extern "C-unwind" fn(*mut c_void, *const al_record)>,
    on_late_thread: Option<unsafe extern "C-unwind" fn(*mut c_void, *const c_char)>,
    walk_stack: Option<WalkStack>,
    name_frame: Option<NameFrame>,
    clock_ns: Option<unsafe extern "C-unwind" fn(*mut c_void) -> u64>,
    data: *mut c_void,
}

/// The builder for these options.
///
/// # Safety
/// - `options` is null, or leads to what the header describes. Its callbacks and their data may be
///   used on any thread, and live as long as the heap.
pub(crate) unsafe fn builder(options: *const al_options) -> Result<HeapBuilder, Failure> {
    let mut builder = Heap::builder();
    if options.is_null() {
        return Ok(builder);
    }
    // SAFETY: the caller's predicates, here and for the texts.
    let options = unsafe {
        check_size(options.cast(), "al_options", size_of::<al_options>())?;
        &*options
    };
    // SAFETY: as above.
    let texts = unsafe {
        [
            text(options.name, "name", Code::Option)?,
            text(options.defaults, "defaults", Code::Option)?,
            text(options.options, "options", Code::Option)?,
        ]
    };
    let [name, defaults, strong] = texts;
    if let Some(name) = name {
        builder = builder.name(name);
    }
    if let Some(defaults) = defaults {
        builder = builder.defaults(defaults)?;
    }
    if let Some(strong) = strong {
        builder = builder.options(strong)?;
    }
    Ok(with_hooks(builder, options))
}

fn with_hooks(mut builder: HeapBuilder, options: &al_options) -> HeapBuilder {
    let data = Data(options.data);
    if let Some(hook) = options.on_heap_limit {
        builder = builder.on_heap_limit(move |error| {
            let failure = Failure::from(error.clone());
            failure.with_error(|error| {
                // SAFETY: a function of the program's, with its data.
                callback("on_heap_limit", Calls::AnyThread, || unsafe { hook(data.get(), error) }) != 0
            })
        });
    }
    if let Some(hook) = options.on_collection {
        builder = builder.on_collection(move |record| {
            with_record(record, |record| {
                // SAFETY: as above.
                callback("on_collection", Calls::AnyThread, || unsafe { hook(data.get(), record) })
            });
        });
    }
    let late_hook = options.on_late_thread;
    builder = builder.on_late_thread(move |late| {
        let text = in_names_of_c(&late.to_string());
        match late_hook {
            Some(hook) => {
                let text = c_string(&text);
                // SAFETY: as above.
                callback("on_late_thread", Calls::AnyThread, || unsafe { hook(data.get(), text.as_ptr()) });
            }
            // If standard error cannot be written, there is nobody to tell.
            None => _ = writeln!(std::io::stderr(), "allotment: {text}"),
        }
    });
    if let Some(hook) = options.clock_ns {
        // SAFETY: as above.
        let clock = move || callback("clock_ns", Calls::Nothing, || unsafe { hook(data.get()) });
        builder = builder.clock(move || Duration::from_nanos(clock()));
    }
    if let Some(walk) = options.walk_stack {
        builder = builder.stack_walker(Walker { walk, name: options.name_frame, data });
    }
    builder
}

/// The program's `walk_stack` and `name_frame`.
struct Walker {
    walk: WalkStack,
    name: Option<NameFrame>,
    data: Data,
}

impl StackWalker for Walker {
    fn walk(&self, frames: &mut FrameSink<'_>) {
        let mut numbers = [0; MAX_FRAMES + 1];
        // SAFETY: a function of the program's, with its data and a place for its numbers.
        let count = callback("walk_stack", Calls::Nothing, || unsafe {
            (self.walk)(self.data.get(), numbers.as_mut_ptr(), numbers.len())
        });
        for number in numbers.into_iter().take(count) {
            frames.push(number as u64);
        }
    }

    fn name(&self, frame: u64) -> FrameName {
        let mut name = [0; 256];
        let named = self.name.is_some_and(|named| {
            // SAFETY: as above.
            callback("name_frame", Calls::Nothing, || unsafe {
                named(self.data.get(), frame as usize, name.as_mut_ptr().cast(), name.len())
            }) != 0
        });
        let text = CStr::from_bytes_until_nul(&name).ok().filter(|_| named);
        let function = text.map_or_else(|| format!("{frame:#x}"), |text| text.to_string_lossy().into_owned());
        FrameName { function, ..FrameName::default() }
    }
}
