//! The locations of a profile: which functions, or which addresses, each of them is.
//!
//! A location is one frame, or several where functions are inlined into each other. Functions of
//! one name are one row. A frame without a function, or whose function has no name, is an address.
//! Frames that the file asks to drop are left out of stacks here, so nobody counts them.

use super::MOST_FRAMES;
use super::drop_frames::DropFrames;
use super::file::{ProfileFile, Strings};
use super::message::{self, profile};
use super::wire::Field;
use crate::FileError;
use crate::numbers::Numbers;
use std::collections::HashMap;

/// The identity of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum CodeRow {
    /// The function with this name: a checked index of a string.
    Function(u64),
    /// A place in the mapping of this number, or an address if there is none.
    Address(Option<u32>, u64),
}

/// The frames that a location loses because the file asks to drop them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// Nothing.
    None,
    /// The frames that its outer functions call.
    Beneath,
    /// All of it, with what it calls.
    All,
}

/// The frames of a location.
#[derive(Clone, Copy, Debug)]
struct FrameRange {
    /// Its frames, as a part of all frames.
    first: u32,
    end: u32,
    cut: Cut,
}

/// The most bytes of a file's name that are shown; of a longer one these are the last. Each address
/// of the file has a copy.
const MOST_FILE_BYTES: usize = 100;

/// A mapped file.
struct MappedFile<'b> {
    start: u64,
    offset: u64,
    /// Its name without folders.
    file: &'b [u8],
}

/// The locations of a profile, as rows.
pub(super) struct Code<'b> {
    mappings: Vec<MappedFile<'b>>,
    rows: Numbers<CodeRow>,
    locations: HashMap<u64, FrameRange>,
    /// Indexes of rows, innermost frame of a location first.
    frames: Vec<u32>,
    /// Frames of the samples that were added.
    added: u64,
}

impl<'b> Code<'b> {
    /// Reads the code of a file.
    pub(super) fn of(file: &ProfileFile<'b>) -> Result<Code<'b>, FileError> {
        let (whole, strings) = (file.whole, &file.strings);
        let (mut mappings, mut mapping_ids) = (Vec::new(), HashMap::new());
        let twice =
            |field: &Field<'_>| field.broken("a mapping, function or location whose id is another's, too");
        // The name of each function, by the first of the strings that are equal to it. Each string
        // is looked at once, however many functions have it.
        let (mut functions, mut firsts, mut first_of) = (HashMap::new(), HashMap::new(), HashMap::new());
        whole.each_message(profile::MAPPING, |field, message::Mapping { id, start, offset, file, .. }| {
            let path = strings.bytes(strings.check(&field, file)?);
            let end = &path[path.len().saturating_sub(MOST_FILE_BYTES)..];
            let file = end.rsplit(|byte| *byte == b'/').next().unwrap_or(end);
            mappings.push(MappedFile { start, offset, file });
            let old = mapping_ids.insert(identity(&field, id)?, mappings.len() as u32 - 1);
            old.map_or(Ok(()), |_| Err(twice(&field)))
        })?;
        whole.each_message(profile::FUNCTION, |field, message::Function { id, name, .. }| {
            let name = strings.check(&field, name)?;
            let first = || *first_of.entry(strings.bytes(name)).or_insert(name);
            let name = *firsts.entry(name).or_insert_with(first);
            let old = functions.insert(identity(&field, id)?, name);
            old.map_or(Ok(()), |_| Err(twice(&field)))
        })?;
        // Indexes have 32 bits: there are fewer frames than bytes.
        let (rows, locations, frames) = (Numbers::default(), HashMap::new(), Vec::new());
        let mut code = Code { mappings, rows, locations, frames, added: 0 };
        whole.each_message(profile::LOCATION, |field, location: message::Location| {
            let message::Location { id, mapping, address, lines, .. } = location;
            let unnamed = || match (mapping, mapping_ids.get(&mapping)) {
                (0, _) => Ok(CodeRow::Address(None, address)),
                (_, Some(known)) => Ok(CodeRow::Address(Some(*known), address)),
                (id, None) => Err(field.broken(format!("no mapping {id}"))),
            };
            let first = code.frames.len();
            for line in lines {
                let place = match line.function {
                    0 => unnamed()?,
                    id => match functions.get(&id) {
                        None => return Err(field.broken(format!("no function {id}"))),
                        Some(name) if strings.bytes(*name).is_empty() => unnamed()?,
                        Some(name) => CodeRow::Function(*name),
                    },
                };
                code.push(place);
            }
            if code.frames.len() == first {
                code.push(unnamed()?);
            }
            let frames = FrameRange { first: first as u32, end: code.frames.len() as u32, cut: Cut::None };
            let old = code.locations.insert(identity(&field, id)?, frames);
            old.map_or(Ok(()), |_| Err(twice(&field)))
        })?;
        if let Some(dropped) = &file.dropped {
            code.cut(dropped, strings);
        }
        Ok(code)
    }

    /// Cuts each location at its outermost function that is dropped.
    fn cut(&mut self, dropped: &DropFrames, strings: &Strings<'_>) {
        let is_dropped = |place: &CodeRow| match place {
            CodeRow::Function(name) => dropped.holds(strings.bytes(*name)),
            CodeRow::Address(..) => false,
        };
        // Each name is looked at once.
        let rows: Vec<bool> = self.rows.keys().iter().map(is_dropped).collect();
        for location in self.locations.values_mut() {
            let frames = &self.frames[location.first as usize..location.end as usize];
            match frames.iter().rposition(|row| rows[*row as usize]) {
                None => {}
                Some(last) if last + 1 == frames.len() => location.cut = Cut::All,
                Some(inner) => {
                    location.cut = Cut::Beneath;
                    location.first += inner as u32 + 1;
                }
            }
        }
    }

    /// Adds a frame to the location that is being read.
    fn push(&mut self, place: CodeRow) {
        self.frames.push(self.rows.of(place) as u32);
    }

    /// Whether a row is the function whose name is this string.
    pub(super) fn is_function(&self, row: u32, name: u64, strings: &Strings<'_>) -> bool {
        match self.rows.keys()[row as usize] {
            CodeRow::Function(own) => strings.bytes(own) == strings.bytes(name),
            CodeRow::Address(..) => false,
        }
    }

    /// Whether a row is code without a name.
    pub(super) fn is_address(&self, row: usize) -> bool {
        matches!(self.rows.keys()[row], CodeRow::Address(..))
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows.keys().len()
    }

    /// Calls `found` with the row of each frame of a stack, outermost first. The stack has its
    /// innermost location first, as the file has it.
    ///
    /// # Errors
    /// The stack has an unknown location, or all stacks together have too many frames.
    pub(super) fn each_frame(
        &mut self,
        field: &Field<'_>,
        stack: &[u64],
        mut found: impl FnMut(u32),
    ) -> Result<(), FileError> {
        let mut is_program = false;
        for id in stack.iter().rev() {
            let location = self.locations.get(id);
            let location = *location.ok_or_else(|| field.broken(format!("no location {id}")))?;
            // A frame that is dropped before the first frame of the program stays, or all would go.
            is_program |= location.cut == Cut::None;
            if is_program && location.cut == Cut::All {
                return Ok(());
            }
            self.added += u64::from(location.end - location.first);
            if self.added > MOST_FRAMES {
                return Err(FileError::Unfit(format!(
                    "its stacks have more than {MOST_FRAMES} frames in all; a profile with at most {MOST_FRAMES} is read"
                )));
            }
            for row in self.frames[location.first as usize..location.end as usize].iter().rev() {
                found(*row);
            }
            if is_program && location.cut == Cut::Beneath {
                return Ok(());
            }
        }
        Ok(())
    }

    /// A function's name, or where an address lies: `program+0x1234`, the place in the file.
    pub(super) fn name(&self, row: usize, strings: &Strings<'_>) -> String {
        match self.rows.keys()[row] {
            CodeRow::Function(name) => strings.lossy(name),
            CodeRow::Address(None, address) => format!("{address:#x}"),
            CodeRow::Address(Some(mapping), address) => {
                let MappedFile { start, offset, file } = self.mappings[mapping as usize];
                let file = String::from_utf8_lossy(file);
                format!("{file}+{:#x}", address.wrapping_sub(start).wrapping_add(offset))
            }
        }
    }
}

/// An id, which is not 0.
fn identity(field: &Field<'_>, id: u64) -> Result<u64, FileError> {
    if id == 0 { Err(field.broken("an id of 0")) } else { Ok(id) }
}
