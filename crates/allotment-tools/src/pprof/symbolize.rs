//! Names for the addresses of a profile: functions, files and lines, written into it.
//!
//! The file is written again field by field. Fields stay as they are, even those that are not known
//! here. Locations that get names, and mappings that say so, are the exception. Added functions
//! and strings follow the old ones, so all numbers in the file stay what they are.
//!
//! A location keeps its names if it has lines of source, or if nothing better is found. Addresses
//! are looked up as they are: the writer of a profile has taken 1 off a return address, as the format
//! demands.

use super::file::ProfileFile;
use super::message::{self, profile};
use super::unpacked;
use super::wire::{Field, push};
use crate::FileError;
use allotment_symbols::{Frame, Mapped, Symbols};
use prost::Message as _;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A profile with names.
#[derive(Clone, Debug)]
pub struct Symbolized {
    /// The file, not packed.
    pub bytes: Vec<u8>,
    /// The result for each mapped file that has addresses of the profile.
    pub mappings: Vec<SymbolizedMapping>,
    /// Addresses without names that lie in no mapping.
    pub elsewhere: u64,
}

/// The result for a mapped file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SymbolizedMapping {
    /// Its path in the profile.
    pub path: PathBuf,
    /// Its build id; empty if the profile has none.
    pub build_id: String,
    /// Whether the file, or one with its debug information, was found.
    pub is_found: bool,
    /// Addresses of the profile in it.
    pub addresses: u64,
    /// Those that had names before and keep them.
    pub named_before: u64,
    /// Those that have got names.
    pub named: u64,
}

/// A mapping, while it is symbolized.
struct MappingNames<'b> {
    field: Field<'b>,
    read: message::Mapping,
    told: SymbolizedMapping,
    /// Whether it has addresses without names, and whether some have lines.
    is_incomplete: bool,
    has_lines: bool,
}

/// Names the addresses of a profile that is not packed.
///
/// # Errors
/// [`FileError`].
pub fn symbolize(file: impl Read, symbols: &mut Symbols) -> Result<Symbolized, FileError> {
    let bytes = unpacked(file)?;
    let file = ProfileFile::read(&bytes)?;
    let mut mappings = mappings(&file)?;
    let (mut out, mut additions) = (Vec::new(), Additions::of(&file)?);
    let mut elsewhere = 0;
    file.whole.each(|field| {
        match field.number {
            profile::MAPPING => {}
            profile::LOCATION => {
                let location: message::Location = field.message()?;
                let named_before = location.lines.iter().any(|line| line.function != 0);
                let lined_before = location.lines.iter().any(|line| line.line != 0);
                let Some(mapping) = mapping_of(&location, &mappings).map(|index| &mut mappings[index]) else {
                    elsewhere += u64::from(!named_before);
                    out.extend_from_slice(field.raw);
                    return Ok(());
                };
                let frames =
                    if lined_before { Vec::new() } else { mapping.frames(symbols, location.address) };
                let has_lines = frames.iter().any(|frame| frame.line != 0);
                let is_better = !frames.is_empty() && (has_lines || !named_before);
                mapping.told.addresses += 1;
                mapping.told.named += u64::from(is_better);
                mapping.told.named_before += u64::from(named_before && !is_better);
                mapping.is_incomplete |= !named_before && !is_better;
                mapping.has_lines |= lined_before || has_lines;
                let lines = if is_better { additions.lines(&frames) } else { None };
                match lines {
                    Some(lines) => {
                        let named = message::Location { lines, ..location };
                        push(&mut out, profile::LOCATION, &named.encode_to_vec());
                    }
                    None => out.extend_from_slice(field.raw),
                }
            }
            _ => out.extend_from_slice(field.raw),
        }
        Ok(())
    })?;
    for mapping in &mappings {
        match mapping.told.named {
            0 => out.extend_from_slice(mapping.field.raw),
            _ => push(&mut out, profile::MAPPING, &mapping.rewritten().encode_to_vec()),
        }
    }
    out.extend_from_slice(&additions.fields);
    let bytes = out;
    let mappings =
        mappings.into_iter().map(|mapping| mapping.told).filter(|told| told.addresses > 0).collect();
    Ok(Symbolized { bytes, mappings, elsewhere })
}

fn mappings<'b>(file: &ProfileFile<'b>) -> Result<Vec<MappingNames<'b>>, FileError> {
    let mut found = Vec::new();
    file.whole.each_message(profile::MAPPING, |field, read: message::Mapping| {
        let name = file.strings.bytes(file.strings.check(&field, read.file)?);
        let build_id = file.strings.check(&field, read.build_id)?;
        let told = SymbolizedMapping {
            path: Path::new(OsStr::from_bytes(name)).to_owned(),
            build_id: file.strings.cut(build_id).to_lowercase(),
            ..SymbolizedMapping::default()
        };
        found.push(MappingNames { field, read, told, is_incomplete: false, has_lines: false });
        Ok(())
    })?;
    Ok(found)
}

/// The index of the mapping that a location lies in.
fn mapping_of(location: &message::Location, mappings: &[MappingNames<'_>]) -> Option<usize> {
    let holds = |one: &MappingNames<'_>| (one.read.start..one.read.limit).contains(&location.address);
    match location.mapping {
        _ if location.address == 0 => None,
        // Some writers leave it to the reader to find the mapping.
        0 => mappings.iter().position(holds),
        id => mappings.iter().position(|one| one.read.id == id),
    }
}

impl MappingNames<'_> {
    fn frames(&mut self, symbols: &mut Symbols, address: u64) -> Vec<Frame> {
        let SymbolizedMapping { path, build_id, is_found, .. } = &mut self.told;
        let mapped = Mapped { path, build_id, start: self.read.start, offset: self.read.offset };
        *is_found = symbols.binary(mapped).is_some();
        symbols.frames(mapped, address)
    }

    /// The mapping, which says what is named now.
    fn rewritten(&self) -> message::Mapping {
        // A tool that knows more may name the rest, if the file does not say that all is named.
        let (has_functions, has_more) = (!self.is_incomplete, !self.is_incomplete && self.has_lines);
        message::Mapping {
            has_functions,
            has_filenames: has_more,
            has_line_numbers: has_more,
            has_inline_frames: has_more,
            ..self.read.clone()
        }
    }
}

/// The functions and strings that a profile gets.
struct Additions {
    strings: HashMap<String, u64>,
    next_string: u64,
    functions: HashMap<[u64; 3], u64>,
    next_function: u64,
    /// Fields of the file, as they are written.
    fields: Vec<u8>,
}

impl Additions {
    fn of(file: &ProfileFile<'_>) -> Result<Additions, FileError> {
        let mut largest = 0;
        file.whole.each_message(profile::FUNCTION, |_, function: message::Function| {
            largest = function.id.max(largest);
            Ok(())
        })?;
        let count = file.strings.count();
        // The first string has to be empty, even if the file has none.
        let mut fields = Vec::new();
        if count == 0 {
            push(&mut fields, profile::STRING_TABLE, b"");
        }
        Ok(Additions {
            strings: HashMap::from([(String::new(), 0)]),
            next_string: count.max(1),
            functions: HashMap::new(),
            next_function: largest.saturating_add(1),
            fields,
        })
    }

    /// The lines of these frames; `None` if there are no more numbers for functions.
    fn lines(&mut self, frames: &[Frame]) -> Option<Vec<message::Line>> {
        let line = |frame: &Frame| {
            Some(message::Line { function: self.function(frame)?, line: frame.line.into(), column: 0 })
        };
        frames.iter().map(line).collect()
    }

    fn function(&mut self, frame: &Frame) -> Option<u64> {
        let key = [&frame.function, &frame.system_name, &frame.file].map(|text| self.string(text));
        if let Some(id) = self.functions.get(&key) {
            return Some(*id);
        }
        let id = self.next_function;
        self.next_function = id.checked_add(1)?;
        let [name, system_name, file] = key;
        let function = message::Function { id, name, system_name, file, start_line: 0 };
        push(&mut self.fields, profile::FUNCTION, &function.encode_to_vec());
        self.functions.insert(key, id);
        Some(id)
    }

    fn string(&mut self, text: &str) -> u64 {
        if let Some(index) = self.strings.get(text) {
            return *index;
        }
        let index = self.next_string;
        self.next_string += 1;
        push(&mut self.fields, profile::STRING_TABLE, text.as_bytes());
        self.strings.insert(text.to_owned(), index);
        index
    }
}
