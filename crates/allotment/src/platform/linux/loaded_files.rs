//! The object types in the files of the process: the program, its libraries, and files that
//! `dlopen` loaded.
//!
//! [`type_shape!`](crate::type_shape) leaves an ELF note in the file for each type. The loader maps
//! the notes with the file. `dl_iterate_phdr` tells where the notes are, even before any code of
//! the file has run. A note gives the distance from itself to two words that the loader relocates:
//! the address of the type's static, and the address of the mark of the copy of this library that
//! the type belongs to.
//!
//! Refused:
//!
//! - `__start_` and `__stop_` symbols of a section. They describe one file, and a library that
//!   several files share would not see those of the others.
//! - The addresses in the note itself. A relocated note must be writable, and an old linker then
//!   makes everything beside it writable.
//! - An initialiser that announces its file. Other initialisers run before it.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The name in our notes, with its terminating zero.
const NAME: [u8; 10] = *b"allotment\0";

/// Bytes of a note of a type: sizes and kind, the name and its padding, and the distance to the
/// words.
const NOTE_BYTES: usize = 12 + 12 + 8;

/// The kind of a note that describes a type.
const TYPE_NOTE: u32 = 1;

/// No loader places a relocatable file below this address. A smaller value is not relocated yet.
const LEAST_ADDRESS: usize = 1 << 32;

/// The two words that a note leads to.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pointers {
    /// Address of the type's static.
    pub(crate) shape: usize,
    /// Address of the library's mark.
    copy: usize,
}

struct Search<'f> {
    /// The search is skipped if no more files were loaded than this number.
    seen: u64,
    copy: usize,
    loads: u64,
    complete: bool,
    found: &'f mut Vec<Pointers>,
}

/// Puts into `found` the words that the notes of this copy's types lead to, unless no file was
/// loaded since the count was `seen`. Returns the number of files loaded so far, and whether the
/// loader had relocated all of them.
pub(crate) fn for_each_loaded(seen: u64, copy: usize, found: &mut Vec<Pointers>) -> (u64, bool) {
    // Miri has no loader to ask. It runs the initialisers.
    if cfg!(miri) {
        return (seen, true);
    }
    let mut search = Search { seen, copy, loads: seen, complete: true, found };
    // SAFETY: the callback gets the arguments it expects: entries of the loader's list, and the
    // search, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(look_at), (&raw mut search).cast()) };
    (search.loads, search.complete)
}

/// # Safety
/// - For `dl_iterate_phdr`, whose `data` is a [`Search`].
unsafe extern "C" fn look_at(info: *mut libc::dl_phdr_info, bytes: usize, data: *mut c_void) -> c_int {
    // SAFETY: the caller's predicate; the loader keeps the entry for this call.
    let (info, search) = unsafe { (&*info, &mut *data.cast::<Search<'_>>()) };
    // A loader that does not count its files is searched each time.
    if bytes >= std::mem::offset_of!(libc::dl_phdr_info, dlpi_adds) + 8 {
        search.loads = info.dlpi_adds;
        if info.dlpi_adds == search.seen {
            return 1;
        }
    }
    // SAFETY: as above.
    unsafe { search.look_at_file(info) };
    0
}

impl Search<'_> {
    /// # Safety
    /// - The file is loaded and stays loaded.
    unsafe fn look_at_file(&mut self, info: &libc::dl_phdr_info) {
        let base = info.dlpi_addr as usize;
        // SAFETY: the loader's own table of the file's segments.
        let segments = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        let range = |segment: &libc::Elf64_Phdr| {
            let start = base.wrapping_add(segment.p_vaddr as usize);
            start..start.saturating_add(segment.p_memsz as usize)
        };
        let is_loaded = |from: usize, bytes: usize| {
            let loaded = segments.iter().filter(|segment| segment.p_type == libc::PT_LOAD).map(range);
            loaded.into_iter().any(|part| part.contains(&from) && part.end - from >= bytes)
        };
        for segment in segments.iter().filter(|segment| segment.p_type == libc::PT_NOTE) {
            let notes = range(segment);
            if !is_loaded(notes.start, notes.len()) {
                continue;
            }
            // SAFETY: the bytes lie in a mapped segment, and notes are readable and never written.
            let notes = unsafe { std::slice::from_raw_parts(notes.start as *const u8, notes.len()) };
            for words in type_notes(notes, segment.p_align as usize) {
                if !is_loaded(words, size_of::<Pointers>()) || !words.is_multiple_of(8) {
                    continue;
                }
                let word = |index: usize| {
                    let word = std::ptr::with_exposed_provenance::<AtomicUsize>(words + 8 * index);
                    // SAFETY: an aligned word of the file's data. The load is atomic, for the
                    // loader may be about to relocate the word.
                    unsafe { &*word }.load(Ordering::Relaxed)
                };
                let pointers = Pointers { shape: word(0), copy: word(1) };
                if base != 0 && (pointers.shape < LEAST_ADDRESS || pointers.copy < LEAST_ADDRESS) {
                    self.complete = false;
                } else if pointers.copy == self.copy {
                    self.found.push(pointers);
                }
            }
        }
    }
}

/// The addresses of the words that the type notes among `notes` lead to. Stops at a truncated note.
fn type_notes(notes: &[u8], align: usize) -> impl Iterator<Item = usize> {
    let align = if align == 8 { 8 } else { 4 };
    let mut rest = notes;
    std::iter::from_fn(move || {
        loop {
            let word = |at: usize| Some(u32::from_ne_bytes(*rest.get(at..)?.first_chunk()?));
            let (name, description, kind) = (word(0)? as usize, word(4)? as usize, word(8)?);
            let place = 12_usize.checked_add(name)?.checked_next_multiple_of(align)?;
            let next = place.checked_add(description)?.checked_next_multiple_of(align)?;
            let note = rest;
            rest = rest.get(next.min(rest.len())..)?;
            if (name, description, kind) == (NAME.len(), 8, TYPE_NOTE) && note.get(12..)?.starts_with(&NAME) {
                let far = isize::from_ne_bytes(*note.get(NOTE_BYTES - 8..)?.first_chunk()?);
                return Some(note.as_ptr().addr().wrapping_add(NOTE_BYTES - 8).wrapping_add_signed(far));
            }
            if next == 0 || note.is_empty() {
                return None;
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(name: &[u8], kind: u32, description: &[u8], align: usize) -> Vec<u8> {
        let mut note = Vec::new();
        for word in [name.len() as u32, description.len() as u32, kind] {
            note.extend(word.to_ne_bytes());
        }
        for part in [name, description] {
            note.extend(part);
            note.resize(note.len().next_multiple_of(align), 0);
        }
        note
    }

    #[test]
    fn notes_of_types_are_found_among_others() {
        for align in [4, 8] {
            let mut notes = note(b"GNU\0", 3, &[7; 20], align);
            notes.extend(note(&NAME, TYPE_NOTE, &40_isize.to_ne_bytes(), align));
            notes.extend(note(&NAME, TYPE_NOTE + 1, &40_isize.to_ne_bytes(), align));
            notes.extend(note(b"other name", TYPE_NOTE, &40_isize.to_ne_bytes(), align));
            notes.extend(note(b"", 0, &[], align));
            notes.extend(note(&NAME, TYPE_NOTE, &(-8_isize).to_ne_bytes(), align));
            let start = notes.as_ptr().addr();
            let first = note(b"GNU\0", 3, &[7; 20], align).len() + 24 + 40;
            let found: Vec<_> = type_notes(&notes, align).map(|words| words.wrapping_sub(start)).collect();
            assert_eq!(found, [first, notes.len() - 16]);
            // Cut anywhere, the walk ends and finds no more.
            for cut in 0..notes.len() {
                assert!(type_notes(&notes[..cut], align).count() <= 2, "{cut}");
            }
        }
    }

    #[test]
    fn sizes_out_of_range_end_a_walk() {
        for (name, description) in [(u32::MAX, 0), (0, u32::MAX), (u32::MAX, u32::MAX), (10, 8)] {
            let words = [name, description, TYPE_NOTE];
            let notes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            assert_eq!(type_notes(&notes, 4).count(), 0);
        }
    }
}
