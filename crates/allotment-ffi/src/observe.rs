//! What a program sees of a heap: the checker, snapshots, figures, records, profiles, options.
//!
//! Lists come by a callback for each row, whose texts are valid during the call. So nothing has to
//! be freed, and a row may grow.

use crate::border::{current, runs_in, with};
use crate::callback::{Calls, callback, outside_of_callbacks, refuse_under_locks};
use crate::error::{Code, Failure, al_error, answer, demanded, demanded_callback, given};
use crate::heap::{al_heap, c_string, constant};
use crate::sanitizer::Handover;
use allotment::options::{OptionSet, manual};
use allotment::stats::{
    Census, CollectionRecord, MetricValue, SnapshotError, SnapshotFormat, SnapshotSettings,
};
use std::ffi::{CString, c_char, c_int, c_void};
use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::ptr;
use std::sync::OnceLock;
use std::time::Duration;

/// A callback for each row.
type Each<Row> = Option<unsafe extern "C-unwind" fn(*mut c_void, *const Row)>;

/// `al_verify`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_verify(heap: *mut al_heap, error: *mut al_error) -> Code {
    let verify = || {
        outside_of_callbacks()?;
        // SAFETY: the header's rules: a heap.
        Ok(unsafe { given(heap, "heap")? }.heap.verify().map(drop)?)
    };
    // SAFETY: the header's rules: null, or an error with its size.
    unsafe { answer(error, verify) }
}

/// A file of the program's, which stays open.
fn borrowed(fd: c_int) -> Result<ManuallyDrop<File>, Failure> {
    if fd < 0 {
        return Err(Failure::new(
            Code::Argument,
            format_args!("`fd` is {fd}; an open file descriptor works"),
        ));
    }
    // SAFETY: the header's rules: the program keeps the descriptor open, and it is not closed here.
    Ok(ManuallyDrop::new(unsafe { File::from_raw_fd(fd) }))
}

/// `al_snapshot`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_snapshot(heap: *mut al_heap, fd: c_int, format: c_int, error: *mut al_error) -> Code {
    let write = || {
        // SAFETY: the header's rules: a heap.
        let heap = &unsafe { given(heap, "heap")? }.heap;
        let format = match format {
            0 => SnapshotFormat::HeapSnapshot,
            1 => SnapshotFormat::Hprof,
            other => {
                return Err(Failure::new(
                    Code::Argument,
                    format_args!("`format` is {other}; AL_HEAPSNAPSHOT or AL_HPROF works"),
                ));
            }
        };
        let (mut file, settings) = (borrowed(fd)?, SnapshotSettings::default().format(format));
        outside_of_callbacks()?;
        let _handover = Handover::begin();
        if runs_in(heap) {
            with("al_snapshot", current(), |raw| raw.snapshot(&mut *file, &settings))?;
        } else {
            heap.snapshot(&mut *file, &settings)?;
        }
        Ok(())
    };
    // SAFETY: the header's rules: null, or an error with its size.
    unsafe { answer(error, write) }
}

/// `al_census_row`.
#[repr(C)]
pub(crate) struct al_census_row {
    name: *const c_char,
    shape: u32,
    objects: u64,
    bytes: u64,
    retained: u64,
}

/// `al_census`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_census(
    heap: *mut al_heap,
    retained: bool,
    each: Each<al_census_row>,
    data: *mut c_void,
    error: *mut al_error,
) -> Code {
    let count = || {
        // SAFETY: the header's rules: a heap.
        let heap = &unsafe { given(heap, "heap")? }.heap;
        let each = each.ok_or_else(|| Failure::null("each"))?;
        outside_of_callbacks()?;
        let _handover = Handover::begin();
        let census: Result<Census, SnapshotError> = if runs_in(heap) {
            with("al_census", current(), |raw| raw.census(retained))
        } else {
            heap.census(retained)
        };
        for shape in census?.shapes {
            let name = c_string(&shape.name);
            let row = al_census_row {
                name: name.as_ptr(),
                shape: shape.id.get(),
                objects: shape.objects,
                bytes: shape.bytes,
                retained: shape.retained.unwrap_or(0),
            };
            // SAFETY: a function of the program's, with its data.
            callback("al_census", Calls::AnyThread, || unsafe { each(data, &raw const row) });
        }
        Ok(())
    };
    // SAFETY: the header's rules: null, or an error with its size.
    unsafe { answer(error, count) }
}

/// `al_metric`.
#[repr(C)]
pub(crate) struct al_metric {
    name: *const c_char,
    description: *const c_char,
    unit: *const c_char,
    attribute: *const c_char,
    attribute_value: *const c_char,
    kind: c_int,
    value: u64,
    sum_ns: u64,
}

fn nanoseconds(time: Duration) -> u64 {
    time.as_nanos().try_into().unwrap_or(u64::MAX)
}

/// `al_metrics`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_metrics(heap: *mut al_heap, each: Each<al_metric>, data: *mut c_void) {
    const NAME: &str = "al_metrics";
    // SAFETY: the header's rules: a heap.
    let metrics = unsafe { demanded(heap, NAME, "heap") }.heap.metrics();
    let each = demanded_callback(each, NAME);
    for metric in metrics.named() {
        let (kind, value, sum_ns) = match metric.value {
            MetricValue::Counter(count) => (0, count, 0),
            MetricValue::TimeCounter(time) => (1, nanoseconds(time), 0),
            MetricValue::Level(level) => (2, level, 0),
            MetricValue::Histogram(times) => (3, times.count(), nanoseconds(times.sum())),
            _ => continue,
        };
        let row = al_metric {
            name: constant(metric.name),
            description: constant(metric.description),
            unit: constant(metric.unit),
            attribute: metric.attribute.map_or(ptr::null(), |(key, _)| constant(key)),
            attribute_value: metric.attribute.map_or(ptr::null(), |(_, value)| constant(value)),
            kind,
            value,
            sum_ns,
        };
        // SAFETY: a function of the program's, with its data.
        callback(NAME, Calls::AnyThread, || unsafe { each(data, &raw const row) });
    }
}

/// `al_record`.
#[repr(C)]
pub(crate) struct al_record {
    number: u64,
    kind: *const c_char,
    cause: *const c_char,
    text: *const c_char,
    start_ns: u64,
    pause_ns: u64,
    time_to_safepoint_ns: u64,
    used_before: usize,
    used_after: usize,
    committed: usize,
    live_objects: usize,
    live_bytes: usize,
    moved_bytes: usize,
    weak_cleared: usize,
}

/// Calls `with` with a record in its form for C.
pub(crate) fn with_record<R>(record: &CollectionRecord, with: impl FnOnce(*const al_record) -> R) -> R {
    let texts = [record.kind().to_string(), record.cause.to_string(), record.to_string()];
    let [kind, cause, text] = texts.map(|text| c_string(&text));
    let row = al_record {
        number: record.number,
        kind: kind.as_ptr(),
        cause: cause.as_ptr(),
        text: text.as_ptr(),
        start_ns: nanoseconds(record.start),
        pause_ns: nanoseconds(record.pause),
        time_to_safepoint_ns: nanoseconds(record.time_to_safepoint),
        used_before: record.used_before,
        used_after: record.used_after,
        committed: record.committed,
        live_objects: record.live_objects,
        live_bytes: record.live_bytes,
        moved_bytes: record.moved_bytes,
        weak_cleared: record.weak_cleared,
    };
    with(&raw const row)
}

/// `al_records`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_records(heap: *mut al_heap, since: u64, each: Each<al_record>, data: *mut c_void) {
    const NAME: &str = "al_records";
    // SAFETY: the header's rules: a heap.
    let history = unsafe { demanded(heap, NAME, "heap") }.heap.collections();
    let each = demanded_callback(each, NAME);
    for record in history.recent.iter().filter(|record| record.number >= since) {
        // SAFETY: a function of the program's, with its data.
        with_record(record, |record| callback(NAME, Calls::AnyThread, || unsafe { each(data, record) }));
    }
}

/// `al_profile`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_profile(heap: *mut al_heap, fd: c_int, error: *mut al_error) -> Code {
    refuse_under_locks("al_profile");
    let write = || {
        // SAFETY: the header's rules: a heap.
        let heap = &unsafe { given(heap, "heap")? }.heap;
        heap.check_fork()?;
        let written = heap.allocation_profile().write(&mut *borrowed(fd)?);
        written.map_err(|error| {
            Failure::new(Code::Platform, format_args!("the profile cannot be written to `fd` {fd}: {error}"))
        })
    };
    // SAFETY: the header's rules: null, or an error with its size.
    unsafe { answer(error, write) }
}

/// `al_sample_interval`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_sample_interval(heap: *mut al_heap, bytes: usize) {
    // SAFETY: the header's rules: a heap.
    unsafe { demanded(heap, "al_sample_interval", "heap") }.heap.set_allocation_sample_interval(bytes);
}

/// `al_option`.
#[repr(C)]
pub(crate) struct al_option {
    name: *const c_char,
    value: *const c_char,
    text: *const c_char,
    kind: *const c_char,
    range: *const c_char,
    origin: *const c_char,
}

/// `al_option_rows`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_option_rows(heap: *mut al_heap, each: Each<al_option>, data: *mut c_void) {
    const NAME: &str = "al_option_rows";
    // SAFETY: the header's rules: a heap.
    let heap = unsafe { demanded(heap, NAME, "heap") };
    let each = demanded_callback(each, NAME);
    for row in heap.heap.options().rows() {
        let texts = [row.value.clone(), row.info.range(), row.origin.to_string()];
        let [value, range, origin] = texts.map(|text| c_string(&text));
        let option = al_option {
            name: constant(row.info.name),
            value: value.as_ptr(),
            text: constant(row.info.text),
            kind: constant(row.info.type_name()),
            range: range.as_ptr(),
            origin: origin.as_ptr(),
        };
        // SAFETY: a function of the program's, with its data.
        callback(NAME, Calls::AnyThread, || unsafe { each(data, &raw const option) });
    }
}

/// `al_manual`.
#[unsafe(no_mangle)]
extern "C" fn al_manual() -> *const c_char {
    static MANUAL: OnceLock<CString> = OnceLock::new();
    MANUAL.get_or_init(|| c_string(&manual(&OptionSet::new()))).as_ptr()
}
