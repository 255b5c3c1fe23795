//! The files of the process whose code is mapped, with their build ids: the data by which a reader
//! can name addresses.
//!
//! The list comes from the loader (`dl_iterate_phdr`), not from `/proc/self/maps`: the loader knows
//! where each file's notes are. A build id is the note `GNU` of kind 3, in hexadecimal digits.

use crate::platform::page_size;
use std::ffi::{CStr, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// A mapped part of a file that holds code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CodeFile {
    /// Address of its first byte.
    pub(crate) start: u64,
    /// Address after its last byte.
    pub(crate) end: u64,
    /// The place of its first byte in the file, in bytes.
    pub(crate) offset: u64,
    /// The file, as the loader names it.
    pub(crate) path: PathBuf,
    /// Hexadecimal digits; empty if the file has none.
    pub(crate) build_id: String,
}

/// The code that is mapped now. Takes the loader's lock.
pub(crate) fn code_files() -> Vec<CodeFile> {
    let mut files = Vec::new();
    // Miri has no loader to ask.
    if !cfg!(miri) {
        // SAFETY: the callback gets the arguments it expects: entries of the loader's list, and the
        // vector, which outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(look_at), (&raw mut files).cast()) };
    }
    files
}

/// # Safety
/// - For `dl_iterate_phdr`, whose `data` is a vector of [`CodeFile`]s.
unsafe extern "C" fn look_at(info: *mut libc::dl_phdr_info, _bytes: usize, data: *mut c_void) -> c_int {
    // SAFETY: the caller's predicate; the loader keeps the entry for this call.
    let (info, files) = unsafe { (&*info, &mut *data.cast::<Vec<CodeFile>>()) };
    // SAFETY: the loader's own table of the file's segments, and its name.
    let (segments, name) = unsafe {
        let segments = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
        (segments, if info.dlpi_name.is_null() { c"" } else { CStr::from_ptr(info.dlpi_name) })
    };
    let path = match name.to_bytes() {
        b"" => std::env::current_exe().unwrap_or_default(),
        name => PathBuf::from(OsStr::from_bytes(name)),
    };
    let loaded = |from: u64, bytes: u64| {
        segments.iter().filter(|segment| segment.p_type == libc::PT_LOAD).any(|segment| {
            let start = segment.p_vaddr;
            start <= from && from + bytes <= start + segment.p_memsz
        })
    };
    let notes = segments.iter().filter(|segment| segment.p_type == libc::PT_NOTE);
    let build_id = notes
        .filter(|notes| loaded(notes.p_vaddr, notes.p_memsz))
        .find_map(|notes| {
            let start =
                std::ptr::with_exposed_provenance(info.dlpi_addr.wrapping_add(notes.p_vaddr) as usize);
            // SAFETY: the bytes lie in a mapped segment, and notes are readable and never written.
            build_id(unsafe { std::slice::from_raw_parts(start, notes.p_memsz as usize) })
        })
        .unwrap_or_default();
    let page = page_size() as u64;
    for segment in segments {
        if segment.p_type != libc::PT_LOAD || segment.p_flags & libc::PF_X == 0 {
            continue;
        }
        // Whole pages are mapped.
        let start = info.dlpi_addr.wrapping_add(segment.p_vaddr);
        files.push(CodeFile {
            start: start & !(page - 1),
            end: start.saturating_add(segment.p_memsz).next_multiple_of(page),
            offset: segment.p_offset & !(page - 1),
            path: path.clone(),
            build_id: build_id.clone(),
        });
    }
    0
}

/// The build id among notes. Stops at a truncated note.
fn build_id(mut notes: &[u8]) -> Option<String> {
    /// The kind of the note with the build id.
    const BUILD_ID: u32 = 3;
    loop {
        let (head, rest) = notes.split_at_checked(12)?;
        let word = |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (name_bytes, bytes, kind) = (word(0) as usize, word(4) as usize, word(8));
        let name = rest.get(..name_bytes)?;
        let content = rest.get(name_bytes.next_multiple_of(4)..)?.get(..bytes)?;
        if kind == BUILD_ID && name == b"GNU\0" {
            return Some(content.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        notes = rest.get(name_bytes.next_multiple_of(4) + bytes.next_multiple_of(4)..)?;
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn this_code_lies_in_the_file_of_this_program() {
        let here = code_files as fn() -> Vec<CodeFile> as usize as u64;
        let files = code_files();
        let own: Vec<_> = files.iter().filter(|file| (file.start..file.end).contains(&here)).collect();
        assert_eq!(own.len(), 1, "{here:#x}: {files:?}");
        assert_eq!(own[0].path, std::env::current_exe().unwrap());
        assert!(files.len() > 1, "there is a C library: {files:?}");
    }

    #[test]
    fn a_build_id_is_found_behind_other_notes_and_no_truncated_note_is_read() {
        let note = |name: &[u8], kind: u32, content: &[u8]| {
            let mut note = Vec::new();
            for number in [name.len() as u32, content.len() as u32, kind] {
                note.extend(number.to_ne_bytes());
            }
            for part in [name, content] {
                note.extend(part);
                note.resize(note.len().next_multiple_of(4), 0);
            }
            note
        };
        let all = [note(b"allotment\0", 3, &[1]), note(b"GNU\0", 1, &[2; 6]), note(b"GNU\0", 3, &[0xAB, 7])];
        let all = all.concat();
        assert_eq!(build_id(&all).as_deref(), Some("ab07"));
        for length in 0..all.len() - 2 {
            assert_eq!(build_id(&all[..length]), None, "{length}");
        }
    }
}
