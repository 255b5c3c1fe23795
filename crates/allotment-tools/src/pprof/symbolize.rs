//! Names for the addresses of a profile: functions, files and lines, written into it.
//!
//! The file is written anew field by field. Fields stay as they are, those that are not known here
//! too, but for locations that get names and mappings that say so. New functions and strings follow the
//! old ones, so all numbers in the file stay what they are.
//!
//! A location keeps its names if it has lines of source, or if nothing better is found. Addresses are
//! looked up as they are: whoever writes a profile takes 1 off a return address, as the format wants.

use super::code::numbers;
use super::file::File;
use super::wire::Field;
use super::writer::Out;
use super::{PprofError, unpacked};
use allotment::internals::pprof_field::{function, line, location, mapping, profile};
use allotment_symbols::{Frame, Mapped, Symbols};
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
    /// What was found for each mapped file that has addresses of the profile.
    pub mappings: Vec<SymbolizedMapping>,
    /// Addresses without names that lie in no mapping.
    pub elsewhere: u64,
}

/// What was found for a mapped file.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// What is known of a mapping.
struct Mapping<'b> {
    field: Field<'b>,
    id: u64,
    start: u64,
    limit: u64,
    offset: u64,
    told: SymbolizedMapping,
    /// Whether it has addresses without names, and whether some have lines.
    is_incomplete: bool,
    has_lines: bool,
}

/// A location of the file.
struct Location {
    mapping: Option<usize>,
    address: u64,
    has_names: bool,
    has_lines: bool,
}

/// Names the addresses of a profile that is not packed.
///
/// # Errors
/// [`PprofError`].
pub fn symbolize(file: impl Read, symbols: &mut Symbols) -> Result<Symbolized, PprofError> {
    let bytes = unpacked(file)?;
    let file = File::read(&bytes)?;
    let mut mappings = mappings(&file)?;
    let (mut out, mut new) = (Out::default(), New::of(&file)?);
    let mut elsewhere = 0;
    file.whole.each(|field| {
        match field.number {
            profile::MAPPING => {}
            profile::LOCATION => {
                let found = location_of(&field, &mappings)?;
                let Some(mapping) = found.mapping.map(|index| &mut mappings[index]) else {
                    elsewhere += u64::from(!found.has_names);
                    out.push(field.raw);
                    return Ok(());
                };
                let frames =
                    if found.has_lines { Vec::new() } else { mapping.frames(symbols, found.address) };
                let has_lines = frames.iter().any(|frame| frame.line != 0);
                let is_better = !frames.is_empty() && (has_lines || !found.has_names);
                mapping.told.addresses += 1;
                mapping.told.named += u64::from(is_better);
                mapping.told.named_before += u64::from(found.has_names && !is_better);
                mapping.is_incomplete |= !found.has_names && !is_better;
                mapping.has_lines |= found.has_lines || has_lines;
                let inner = if is_better { new.location(&field, &frames)? } else { None };
                match inner {
                    Some(inner) => out.push(&Out::default().message(profile::LOCATION, inner).0),
                    None => out.push(field.raw),
                }
            }
            _ => out.push(field.raw),
        }
        Ok(())
    })?;
    for mapping in &mappings {
        match mapping.told.named {
            0 => out.push(mapping.field.raw),
            _ => out.push(&Out::default().message(profile::MAPPING, mapping.rewritten()?).0),
        }
    }
    out.push(&new.functions_out.0);
    out.push(&new.strings_out.0);
    let bytes = out.0;
    let mappings =
        mappings.into_iter().map(|mapping| mapping.told).filter(|told| told.addresses > 0).collect();
    Ok(Symbolized { bytes, mappings, elsewhere })
}

fn mappings<'b>(file: &File<'b>) -> Result<Vec<Mapping<'b>>, PprofError> {
    let mut found = Vec::new();
    file.whole.each(|field| {
        if field.number != profile::MAPPING {
            return Ok(());
        }
        let wanted = [
            mapping::ID,
            mapping::MEMORY_START,
            mapping::MEMORY_LIMIT,
            mapping::FILE_OFFSET,
            mapping::FILENAME,
            mapping::BUILD_ID,
        ];
        let [id, start, limit, offset, name, build_id] = numbers(&field, wanted)?;
        let name = file.strings.bytes(file.strings.check(&field, name)?);
        let build_id = file.strings.check(&field, build_id)?;
        let told = SymbolizedMapping {
            path: Path::new(OsStr::from_bytes(name)).to_owned(),
            build_id: file.strings.cut(build_id).to_lowercase(),
            is_found: false,
            addresses: 0,
            named_before: 0,
            named: 0,
        };
        found.push(Mapping { field, id, start, limit, offset, told, is_incomplete: false, has_lines: false });
        Ok(())
    })?;
    Ok(found)
}

fn location_of(field: &Field<'_>, mappings: &[Mapping<'_>]) -> Result<Location, PprofError> {
    let [mapping, address] = numbers(field, [location::MAPPING_ID, location::ADDRESS])?;
    let (mut has_names, mut has_lines) = (false, false);
    field.message()?.each(|part| {
        if part.number == location::LINE {
            let [function, line] = numbers(&part, [line::FUNCTION_ID, line::LINE])?;
            has_names |= function != 0;
            has_lines |= line != 0;
        }
        Ok(())
    })?;
    let holds = |one: &Mapping<'_>| (one.start..one.limit).contains(&address);
    let mapping = match mapping {
        _ if address == 0 => None,
        // Some writers leave it to the reader to find the mapping.
        0 => mappings.iter().position(holds),
        id => mappings.iter().position(|one| one.id == id),
    };
    Ok(Location { mapping, address, has_names, has_lines })
}

impl Mapping<'_> {
    fn frames(&mut self, symbols: &mut Symbols, address: u64) -> Vec<Frame> {
        let SymbolizedMapping { path, build_id, is_found, .. } = &mut self.told;
        let mapped = Mapped { path, build_id, start: self.start, offset: self.offset };
        *is_found = symbols.binary(mapped).is_some();
        symbols.frames(mapped, address)
    }

    /// The mapping's field, which says what is named now.
    fn rewritten(&self) -> Result<Out, PprofError> {
        const FLAGS: [u64; 4] = [
            mapping::HAS_FUNCTIONS,
            mapping::HAS_FILENAMES,
            mapping::HAS_LINE_NUMBERS,
            mapping::HAS_INLINE_FRAMES,
        ];
        let mut out = Out::default();
        self.field.message()?.each(|part| {
            if !FLAGS.contains(&part.number) {
                out.push(part.raw);
            }
            Ok(())
        })?;
        // A tool that knows more may name the rest, if the file does not say that all is named.
        if !self.is_incomplete {
            let flags = if self.has_lines { &FLAGS[..] } else { &FLAGS[..1] };
            out = flags.iter().fold(out, |out, flag| out.number(*flag, 1));
        }
        Ok(out)
    }
}

/// The functions and strings that a profile gets.
struct New {
    strings: HashMap<String, u64>,
    next_string: u64,
    functions: HashMap<[u64; 3], u64>,
    next_function: u64,
    strings_out: Out,
    functions_out: Out,
}

impl New {
    fn of(file: &File<'_>) -> Result<New, PprofError> {
        let mut largest = 0;
        file.whole.each(|field| {
            if field.number == profile::FUNCTION {
                largest = numbers(&field, [function::ID])?[0].max(largest);
            }
            Ok(())
        })?;
        let count = file.strings.count();
        // The first string has to be empty, even if the file has none.
        let strings_out =
            if count == 0 { Out::default().bytes(profile::STRING_TABLE, b"") } else { Out::default() };
        Ok(New {
            strings: HashMap::from([(String::new(), 0)]),
            next_string: count.max(1),
            functions: HashMap::new(),
            next_function: largest.saturating_add(1),
            strings_out,
            functions_out: Out::default(),
        })
    }

    /// A location with these frames; `None` if there are no more numbers for functions.
    fn location(&mut self, field: &Field<'_>, frames: &[Frame]) -> Result<Option<Out>, PprofError> {
        let mut out = Out::default();
        field.message()?.each(|part| {
            if part.number != location::LINE {
                out.push(part.raw);
            }
            Ok(())
        })?;
        for frame in frames {
            let Some(id) = self.function(frame) else { return Ok(None) };
            let inner = Out::default().number(line::FUNCTION_ID, id).number(line::LINE, frame.line.into());
            out = out.message(location::LINE, inner);
        }
        Ok(Some(out))
    }

    fn function(&mut self, frame: &Frame) -> Option<u64> {
        let key = [&frame.function, &frame.system_name, &frame.file].map(|text| self.string(text));
        if let Some(id) = self.functions.get(&key) {
            return Some(*id);
        }
        let id = self.next_function;
        self.next_function = id.checked_add(1)?;
        let [name, system_name, file] = key;
        let inner = Out::default()
            .number(function::ID, id)
            .number(function::NAME, name)
            .number(function::SYSTEM_NAME, system_name)
            .number(function::FILENAME, file);
        self.functions_out.push(&Out::default().message(profile::FUNCTION, inner).0);
        self.functions.insert(key, id);
        Some(id)
    }

    fn string(&mut self, text: &str) -> u64 {
        if let Some(index) = self.strings.get(text) {
            return *index;
        }
        let index = self.next_string;
        self.next_string += 1;
        self.strings_out.push(&Out::default().bytes(profile::STRING_TABLE, text.as_bytes()).0);
        self.strings.insert(text.to_owned(), index);
        index
    }
}
