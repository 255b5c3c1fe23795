//! The files that the loader has mapped, and the ELF notes in them.
//!
//! The list comes from `dl_iterate_phdr`, not from `/proc/self/maps`: the loader knows where each
//! file's notes are.

use std::ffi::{CStr, c_int, c_void};
use std::mem::offset_of;
use std::ops::Range;
use std::{iter, ptr, slice};

/// A file that the loader has mapped.
pub(super) struct LoadedFile<'l> {
    /// The number that is added to addresses in the file.
    pub(super) base: usize,
    pub(super) segments: &'l [libc::Elf64_Phdr],
    /// The file, as the loader names it. Empty for the program.
    pub(super) name: &'l CStr,
    /// Number of files loaded so far; `None` if the loader does not count them.
    pub(super) loads: Option<u64>,
}

/// A note of a file.
pub(super) struct Note<'n> {
    pub(super) name: &'n [u8],
    pub(super) kind: u32,
    pub(super) description: &'n [u8],
}

/// Calls `visit` with each loaded file until it returns `false`. Takes the loader's lock.
pub(super) fn for_each_file<F: FnMut(&LoadedFile<'_>) -> bool>(mut visit: F) {
    // Miri has no loader to ask.
    if !cfg!(miri) {
        // SAFETY: the callback gets the arguments it expects: entries of the loader's list, and the
        // closure, which outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(look_at::<F>), (&raw mut visit).cast()) };
    }
}

/// # Safety
/// - For `dl_iterate_phdr`, whose `data` is an `F`.
unsafe extern "C" fn look_at<F: FnMut(&LoadedFile<'_>) -> bool>(
    info: *mut libc::dl_phdr_info,
    bytes: usize,
    data: *mut c_void,
) -> c_int {
    // SAFETY: the caller's predicate; the loader keeps the entry for this call.
    let (info, visit) = unsafe { (&*info, &mut *data.cast::<F>()) };
    // SAFETY: the loader's own table of the file's segments, and its name.
    let (segments, name) = unsafe {
        let segments = slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
        (segments, if info.dlpi_name.is_null() { c"" } else { CStr::from_ptr(info.dlpi_name) })
    };
    let counts = bytes >= offset_of!(libc::dl_phdr_info, dlpi_adds) + 8;
    let loads = if counts { Some(info.dlpi_adds) } else { None };
    c_int::from(!visit(&LoadedFile { base: info.dlpi_addr as usize, segments, name, loads }))
}

impl LoadedFile<'_> {
    /// The addresses of a segment.
    pub(super) fn range(&self, segment: &libc::Elf64_Phdr) -> Range<usize> {
        let start = self.base.wrapping_add(segment.p_vaddr as usize);
        start..start.saturating_add(segment.p_memsz as usize)
    }

    /// Whether `bytes` from that address on lie in a mapped segment.
    pub(super) fn is_loaded(&self, from: usize, bytes: usize) -> bool {
        let loaded = self.segments.iter().filter(|segment| segment.p_type == libc::PT_LOAD);
        loaded.map(|segment| self.range(segment)).any(|part| part.contains(&from) && part.end - from >= bytes)
    }

    /// The notes of the file.
    pub(super) fn notes(&self) -> impl Iterator<Item = Note<'_>> {
        self.segments.iter().filter(|segment| segment.p_type == libc::PT_NOTE).flat_map(|segment| {
            let range = self.range(segment);
            let bytes = if self.is_loaded(range.start, range.len()) {
                // SAFETY: the bytes lie in a mapped segment, and notes are readable and never
                // written.
                unsafe { slice::from_raw_parts(ptr::with_exposed_provenance(range.start), range.len()) }
            } else {
                &[]
            };
            parse_notes(bytes, segment.p_align as usize)
        })
    }
}

/// The notes in `bytes`. Stops at a truncated note.
pub(super) fn parse_notes(bytes: &[u8], align: usize) -> impl Iterator<Item = Note<'_>> {
    let (mut rest, align) = (bytes, if align == 8 { 8 } else { 4 });
    iter::from_fn(move || {
        let word = |at: usize| Some(u32::from_ne_bytes(*rest.get(at..)?.first_chunk()?));
        let (name, description, kind) = (word(0)? as usize, word(4)? as usize, word(8)?);
        let place = (12 + name).next_multiple_of(align);
        let end = place + description;
        let note = Note { name: rest.get(12..12 + name)?, kind, description: rest.get(place..end)? };
        // The last note may lack its padding.
        rest = &rest[end.next_multiple_of(align).min(rest.len())..];
        Some(note)
    })
}
