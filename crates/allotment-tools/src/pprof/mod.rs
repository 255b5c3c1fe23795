//! Profiles in pprof's form, ours and others': the sums of one sample type by function and by
//! shape.
//!
//! `profile.proto` of github.com/google/pprof says what the fields are. A profile is read into
//! memory as a whole, and unpacked it may have 64 MiB. Samples are summed as they are met and none
//! is kept. Strings stay indexes until all is summed, and then each is copied once, or cut. So
//! memory is bounded by the size of the file, whatever it announces, and time by a limit on the
//! frames of all stacks.
//!
//! As `go tool pprof` does it: functions are told apart by name; a function that is several times
//! in one stack counts once; the default sample type is the one that the file names, else the last;
//! frames that the file asks to drop are left out (`drop_frames`). Unlike there, code
//! without names stays without until [`symbolize`] names it: a table opens no program.

mod code;
mod drop_frames;
mod file;
mod foreign;
mod message;
mod symbolize;
mod tree;
mod units;
mod wire;

pub use symbolize::{Symbolized, SymbolizedMapping, symbolize};
pub use tree::{Node, Tree};
pub use units::factor;

use crate::FileError;
use code::Code;
use file::ProfileFile;
use foreign::{Foreign, foreign};
use std::collections::{BTreeMap, HashMap};
use std::io::Read;

/// The most bytes of an unpacked profile that are read: what is kept of a hostile one may take some
/// twenty times as much.
const MOST_BYTES: u64 = 64 << 20;

/// The most frames of all stacks that are added up. Without it some MiB of a file could name a
/// location of a million frames a million times.
const MOST_FRAMES: u64 = if cfg!(test) { 1 << 16 } else { 1 << 28 };

/// The most sample types, and the most comments that are kept.
const MOST_TEXTS: usize = 100;

/// The most bytes that are kept of a string that the file may use any number of times.
const MOST_TEXT_BYTES: usize = 1 << 10;

/// A sample type: the quantity that values count, and its unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleType {
    /// Its name, such as `inuse_space`.
    pub name: String,
    /// The unit, such as `bytes`.
    pub unit: String,
}

/// The sums of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// The function's own samples: those where it is innermost.
    pub flat: i128,
    /// All samples in whose stacks the function is.
    pub cumulative: i128,
}

/// The sums of one sample type of a profile.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// All sample types, in the order of the file.
    pub sample_types: Vec<SampleType>,
    /// The index of the one whose sums these are.
    pub chosen: usize,
    /// Mean distance between samples, in units of `period_type`; 0: not known.
    pub period: i64,
    /// The type and unit of the period.
    pub period_type: SampleType,
    /// The writer's comments: the first 100, each cut to 1 KiB.
    pub comments: Vec<String>,
    /// The sum of all samples.
    pub total: i128,
    /// What 100 percent are: the sum of the absolute values of all samples. If the file is the
    /// difference of two profiles and marks the samples of the earlier one, the sum of those.
    pub magnitude: i128,
    /// Whether the file is the difference of two profiles, and marks the samples of the earlier one.
    pub is_difference: bool,
    /// By name of the function. Code without a name is a file and a place in it.
    pub functions: BTreeMap<String, Sums>,
    /// How many of the functions are code without a name.
    pub unnamed: usize,
    /// By the label `type`, which our profiles have: the shape of the objects. Empty if no sample
    /// has the label.
    pub shapes: BTreeMap<String, i128>,
}

impl Profile {
    /// Reads a profile that is not packed. `wanted` is the name of a sample type; `None`: the
    /// default.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn read(file: impl Read, wanted: Option<&str>) -> Result<Profile, FileError> {
        let bytes = unpacked(file)?;
        let file = ProfileFile::read(&bytes)?;
        let chosen = file.choose(wanted)?;
        let mut code = Code::of(&file)?;
        let mut sums = vec![(Sums::default(), 0_u64); code.rows()];
        let mut shapes: HashMap<u64, i128> = HashMap::new();
        let (mut total, mut magnitude, mut base, mut number) = (0, 0, 0, 0);
        file.each_sample(|sample| {
            let value = i128::from(sample.values[chosen]);
            total += value;
            magnitude += value.abs();
            base += if sample.is_base { value.abs() } else { 0 };
            if let Some(shape) = sample.shape {
                *shapes.entry(shape).or_default() += value;
            }
            number += 1;
            let mut innermost = None;
            code.each_frame(&sample.field, sample.stack, |row| {
                let (sums, last) = &mut sums[row as usize];
                // Recursion counts once.
                if *last != number {
                    *last = number;
                    sums.cumulative += value;
                }
                innermost = Some(row);
            })?;
            if let Some(row) = innermost {
                sums[row as usize].0.flat += value;
            }
            Ok(())
        })?;
        let mut found = Profile {
            chosen,
            total,
            magnitude: if base > 0 { base } else { magnitude },
            is_difference: base > 0,
            ..Profile::default()
        };
        for (shape, sum) in shapes {
            *found.shapes.entry(file.strings.lossy(shape)).or_default() += sum;
        }
        for (row, (sums, _)) in sums.iter().enumerate() {
            // Names that differ only in bytes that are not UTF-8 may become one name.
            let entry = found.functions.entry(code.name(row, &file.strings)).or_default();
            found.unnamed += usize::from(code.is_address(row) && *sums != Sums::default());
            entry.flat += sums.flat;
            entry.cumulative += sums.cumulative;
        }
        found.sample_types = file.sample_types;
        (found.period, found.period_type) = (file.period, file.period_type);
        found.comments = file.comments;
        Ok(found)
    }

    /// The sample type whose sums these are.
    pub fn sample_type(&self) -> &SampleType {
        &self.sample_types[self.chosen]
    }

    /// Multiplies all sums, as another unit of the chosen sample type has them.
    pub fn scale(&mut self, factor: i128) {
        let scaled = |value: &mut i128| *value = value.saturating_mul(factor);
        [&mut self.total, &mut self.magnitude].into_iter().for_each(scaled);
        self.functions.values_mut().flat_map(|sums| [&mut sums.flat, &mut sums.cumulative]).for_each(scaled);
        self.shapes.values_mut().for_each(scaled);
    }
}

/// The bytes of a profile that is not packed.
///
/// # Errors
/// It cannot be read, is too long, or is a file of another kind whose name is known.
fn unpacked(file: impl Read) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        let most = MOST_BYTES >> 20;
        return Err(FileError::Unfit(format!(
            "unpacked it has more than {most} MiB; profiles of up to {most} MiB are read"
        )));
    }
    match foreign(&bytes) {
        None => Ok(bytes),
        Some(Foreign { is, hint }) => {
            Err(FileError::Unfit(format!("it is {is}, not a profile in pprof's form; {hint}")))
        }
    }
}

/// Names of sample types with their units.
pub fn names(sample_types: &[SampleType]) -> String {
    let names = sample_types.iter().map(|one| format!("{} ({})", one.name, one.unit));
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod symbolize_tests;
#[cfg(test)]
mod tests;
