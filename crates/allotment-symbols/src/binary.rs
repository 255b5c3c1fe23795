//! A file of code, and the names of its functions.
//!
//! A profile knows the place of an address in its file: the address less the start of the mapping,
//! plus the mapping's offset. The place does not depend on where the kernel loaded the file. The
//! program headers give the place's address in the debug information. A file of debug information
//! only has no such places, but its segment of code begins where the mapping does.
//!
//! Names come from DWARF first, with inlined functions, and from the symbol table where DWARF says
//! nothing. A symbol names only the bytes of its size, so that a stripped file does not name a
//! function after its neighbour.

use crate::{Frame, debug_files, readable};
use addr2line::Loader;
use object::read::ReadCache;
use object::{Object, ObjectSection, ObjectSegment, SegmentFlags, elf};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The reason why a file names no code.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// The file cannot be read.
    #[error("{0}")]
    Read(#[from] io::Error),
    /// The file is not an ELF file, or a damaged one.
    #[error("it is not an ELF program or library, or it is damaged: {0}")]
    NoBinary(String),
}

/// A segment of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    /// Its place in the file.
    offset: u64,
    /// The bytes that the file has of it; 0 in a file of debug information only.
    bytes: u64,
    /// The address that the linker gave it.
    address: u64,
}

/// A file of code that names the functions at its places.
pub struct Binary {
    path: PathBuf,
    build_id: String,
    segments: Vec<Segment>,
    /// The debug file if there is one, else the file itself.
    loader: Loader,
}

/// The parts of a file that are read before its debug information.
struct Header {
    build_id: String,
    segments: Vec<Segment>,
    has_lines: bool,
    debug_link: Option<Vec<u8>>,
    /// Name and build id of the file that `.gnu_debugaltlink` names.
    shared: Option<(Vec<u8>, Vec<u8>)>,
}

impl Header {
    fn read(path: &Path) -> Result<Header, BinaryError> {
        // A pipe would wait for its writer, and some files of the kernel, which have no length, for
        // events.
        let found = std::fs::metadata(path)?;
        if found.is_file() && found.len() == 0 {
            return Err(BinaryError::NoBinary("it is empty".into()));
        }
        if !found.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not an ordinary file").into());
        }
        let cache = ReadCache::new(File::open(path)?);
        let broken = |error: object::Error| BinaryError::NoBinary(error.to_string());
        let file = object::File::parse(&cache).map_err(broken)?;
        let is_code = |flags: SegmentFlags| match flags {
            SegmentFlags::Elf { p_flags, .. } => p_flags.0 & elf::PF_X.0 != 0,
            _ => false,
        };
        let segments = file.segments().filter(|segment| is_code(segment.flags())).map(|segment| {
            let (offset, bytes) = segment.file_range();
            Segment { offset, bytes, address: segment.address() }
        });
        let build_id = file.build_id().map_err(broken)?.unwrap_or_default();
        let section = |name| file.section_by_name(name).is_some_and(|section| section.size() > 0);
        let owned = |(name, id): (&[u8], &[u8])| (name.to_vec(), id.to_vec());
        Ok(Header {
            build_id: debug_files::hexadecimal(build_id),
            segments: segments.collect(),
            has_lines: section(".debug_line"),
            debug_link: file.gnu_debuglink().ok().flatten().map(|(name, _)| name.to_vec()),
            shared: file.gnu_debugaltlink().ok().flatten().map(owned),
        })
    }
}

impl Binary {
    /// Opens a program, a library or a separate debug file. If the file has no debug information,
    /// uses that of a debug file with the same build id.
    ///
    /// # Errors
    /// [`BinaryError`].
    pub fn open(path: &Path) -> Result<Binary, BinaryError> {
        let own = Header::read(path)?;
        let debug_file = if own.has_lines { None } else { debug_file(path, &own) };
        let (named_by, header) = match &debug_file {
            Some((path, header)) => (path.as_path(), header),
            None => (path, &own),
        };
        let shared = header.shared.as_ref();
        let shared = shared.and_then(|(name, id)| debug_files::shared(named_by, name, id));
        let loader = Loader::new_with_sup(named_by, shared)
            .map_err(|error| BinaryError::NoBinary(error.to_string()))?;
        Ok(Binary { path: path.to_owned(), build_id: own.build_id, segments: own.segments, loader })
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Hexadecimal digits; empty if the file has none.
    #[must_use]
    pub fn build_id(&self) -> &str {
        &self.build_id
    }

    /// The functions at a place in the file, the innermost first: inlined functions, and last the
    /// function that contains them. Empty if the place has no name.
    #[must_use]
    pub fn frames(&self, place: u64) -> Vec<Frame> {
        self.frames_of(self.address(place, None))
    }

    /// As `frames`, for a place in a mapping of the file that begins at the place `start`. A file
    /// of debug information only needs this.
    #[must_use]
    pub fn frames_in(&self, start: u64, place: u64) -> Vec<Frame> {
        self.frames_of(self.address(place, Some(start)))
    }

    /// The linker's address of a place.
    fn address(&self, place: u64, start: Option<u64>) -> Option<u64> {
        let holds = |segment: &&Segment| place.wrapping_sub(segment.offset) < segment.bytes;
        if let Some(segment) = self.segments.iter().find(holds) {
            return Some(place - segment.offset + segment.address);
        }
        // A file without contents does not say where they were. A mapping begins with a whole page.
        let [only] = self.segments[..] else { return None };
        let page = only.address & !0xFFF;
        let start = start.filter(|_| only.bytes == 0)?;
        Some(page.wrapping_add(place.wrapping_sub(start)))
    }

    fn frames_of(&self, address: Option<u64>) -> Vec<Frame> {
        let Some(address) = address else { return Vec::new() };
        let symbol = || self.loader.find_symbol(address).map(str::to_owned);
        let mut found = self.inlined(address);
        match found.last_mut() {
            // Assembly has lines but no functions.
            Some(outermost) if outermost.system_name.is_empty() => match symbol() {
                Some(name) => *outermost = frame(name, &outermost.file, outermost.line),
                None => _ = found.pop(),
            },
            // Short debug information has names without modules; the symbol has the whole name.
            Some(outermost) if outermost.function == outermost.system_name => {
                if let Some(name) = symbol().filter(|name| readable(name) != *name) {
                    *outermost = frame(name, &outermost.file, outermost.line);
                }
            }
            Some(_) => {}
            None => found.extend(symbol().map(|name| frame(name, "", 0))),
        }
        found
    }

    /// The functions at an address by DWARF, up to the first error.
    fn inlined(&self, address: u64) -> Vec<Frame> {
        let mut found = Vec::new();
        let Ok(mut frames) = self.loader.find_frames(address) else { return found };
        while let Ok(Some(next)) = frames.next() {
            let name = next.function.as_ref().and_then(|function| function.raw_name().ok());
            let location = next.location.as_ref();
            let file = location.and_then(|location| location.file).unwrap_or_default();
            let line = location.and_then(|location| location.line).unwrap_or(0);
            found.push(frame(name.unwrap_or_default().into_owned(), file, line));
        }
        found
    }
}

fn frame(system_name: String, file: &str, line: u32) -> Frame {
    Frame { function: readable(&system_name), system_name, file: file.into(), line }
}

/// The debug file of a program without debug information.
fn debug_file(program: &Path, header: &Header) -> Option<(PathBuf, Header)> {
    // A debug file must be of the program's build.
    if header.build_id.is_empty() {
        return None;
    }
    let places = debug_files::places(program, &header.build_id, header.debug_link.as_deref());
    let read = |path: PathBuf| Some((Header::read(&path).ok()?, path));
    let found = places.into_iter().filter_map(read).find(|(found, _)| found.build_id == header.build_id);
    found.map(|(header, path)| (path, header))
}

impl std::fmt::Debug for Binary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Binary")
            .field("path", &self.path)
            .field("build_id", &self.build_id)
            .finish_non_exhaustive()
    }
}
