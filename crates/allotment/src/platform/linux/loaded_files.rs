//! The object types in the files of the process: the program, its libraries, and files that
//! `dlopen` loaded.
//!
//! [`type_shape!`](crate::type_shape) leaves an ELF note in the file for each type. The loader maps
//! the notes with the file, and tells where they are even before any code of the file has run. A
//! note gives the distance from itself to two words that the loader relocates: the address of the
//! type's static, and the address of the mark of the copy of this library that the type belongs to.
//!
//! Refused:
//!
//! - `__start_` and `__stop_` symbols of a section. They describe one file, and a library that
//!   several files share would not see those of the others.
//! - The addresses in the note itself. A relocated note must be writable, and an old linker then
//!   makes everything beside it writable.
//! - An initialiser that announces its file. Other initialisers run before it.

use super::elf::{Note, for_each_file};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The name in our notes, with its terminating zero.
const NAME: [u8; 10] = *b"allotment\0";

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

/// Puts into `found` the words that the notes of this copy's types lead to, unless no file was
/// loaded since the count was `seen`. Returns the number of files loaded so far, and whether the
/// loader had relocated all of them.
pub(crate) fn find_loaded_types(seen: u64, copy: usize, found: &mut Vec<Pointers>) -> (u64, bool) {
    let (mut loads, mut complete) = (seen, true);
    for_each_file(|file| {
        // A loader that does not count its files is searched each time.
        loads = file.loads.unwrap_or(loads);
        if file.loads == Some(seen) {
            return false;
        }
        for words in file.notes().filter_map(|note| words_of(&note)) {
            if !file.is_loaded(words, size_of::<Pointers>()) || !words.is_multiple_of(8) {
                continue;
            }
            let word = |index: usize| {
                let word = std::ptr::with_exposed_provenance::<AtomicUsize>(words + 8 * index);
                // SAFETY: an aligned word of the file's data. The load is atomic, for the loader
                // may be about to relocate the word.
                unsafe { &*word }.load(Ordering::Relaxed)
            };
            let pointers = Pointers { shape: word(0), copy: word(1) };
            if file.base != 0 && (pointers.shape < LEAST_ADDRESS || pointers.copy < LEAST_ADDRESS) {
                complete = false;
            } else if pointers.copy == copy {
                found.push(pointers);
            }
        }
        true
    });
    (loads, complete)
}

/// The address of the words that a note of a type leads to; `None` for another note.
fn words_of(note: &Note<'_>) -> Option<usize> {
    let far = isize::from_ne_bytes(note.description.try_into().ok()?);
    let is_type = note.name == NAME && note.kind == TYPE_NOTE;
    is_type.then(|| note.description.as_ptr().addr().wrapping_add_signed(far))
}

#[cfg(test)]
mod tests {
    use super::super::elf::parse_notes;
    use super::*;

    fn type_notes(notes: &[u8], align: usize) -> impl Iterator<Item = usize> {
        parse_notes(notes, align).filter_map(|note| words_of(&note))
    }

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
