//! The files of the process whose code is mapped, with their build ids: the data by which a reader
//! can name addresses. A build id is the note `GNU` of kind 3, in hexadecimal digits.

use super::elf::{Note, for_each_file};
use crate::platform::page_size;
use std::ffi::OsStr;
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
    let (mut files, page) = (Vec::new(), page_size());
    for_each_file(|file| {
        let path = match file.name.to_bytes() {
            b"" => std::env::current_exe().unwrap_or_default(),
            name => PathBuf::from(OsStr::from_bytes(name)),
        };
        let build_id = build_id(file.notes()).unwrap_or_default();
        let has_code = |segment: &&libc::Elf64_Phdr| {
            segment.p_type == libc::PT_LOAD && segment.p_flags & libc::PF_X != 0
        };
        files.extend(file.segments.iter().filter(has_code).map(|segment| {
            let range = file.range(segment);
            // Whole pages are mapped.
            CodeFile {
                start: (range.start & !(page - 1)) as u64,
                end: range.end.next_multiple_of(page) as u64,
                offset: segment.p_offset & !(page as u64 - 1),
                path: path.clone(),
                build_id: build_id.clone(),
            }
        }));
        true
    });
    files
}

/// The build id among notes.
fn build_id<'n>(mut notes: impl Iterator<Item = Note<'n>>) -> Option<String> {
    /// The kind of the note with the build id.
    const BUILD_ID: u32 = 3;
    let note = notes.find(|note| note.kind == BUILD_ID && note.name == b"GNU\0")?;
    Some(note.description.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::super::elf::parse_notes;
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
    fn a_build_id_is_found_after_other_notes_and_no_truncated_note_is_read() {
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
        assert_eq!(build_id(parse_notes(&all, 4)).as_deref(), Some("ab07"));
        for length in 0..all.len() - 2 {
            assert_eq!(build_id(parse_notes(&all[..length], 4)), None, "{length}");
        }
    }
}
