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
//! in one stack counts once; the default sample type is the one that the file names, else the last.
//! Unlike there, code without names stays without: no program is opened to find them. And frames
//! that the file asks to drop (`drop_frames`, a regular expression) are shown.
//!
//! Refused: `prost`, whose build step runs `protoc`, for a handful of fields.

mod code;
mod wire;

use allotment::profile::field::{label, profile, sample, value_type};
use code::Code;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use wire::{Field, Message};

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

/// The label of the shape of a sample's objects.
const SHAPE: &[u8] = b"type";

/// Why a file is no profile, or not the one that was asked for.
#[derive(Debug, thiserror::Error)]
pub enum PprofError {
    /// The file cannot be read.
    #[error("{0}")]
    Read(#[from] std::io::Error),
    /// It is longer than what is read of a profile.
    #[error("unpacked it has more than {} MiB, which is the most that is read of a profile", MOST_BYTES >> 20)]
    TooLong,
    /// Its stacks are more than what is added up of a profile.
    #[error("its stacks have more than {MOST_FRAMES} frames in all, which is the most that is added up")]
    TooDeep,
    /// It ends in the midst of a field.
    #[error("it is no profile of pprof, or a damaged one: it ends at byte {at}, in the midst of a field")]
    Cut {
        /// Its length, unpacked.
        at: usize,
    },
    /// It contradicts the format.
    #[error("it is no profile of pprof, or a damaged one: at byte {at}, {what}")]
    Broken {
        /// Where that was seen, in the unpacked file.
        at: usize,
        /// The fault at that byte.
        what: String,
    },
    /// It says nothing.
    #[error("it is no profile of pprof: it has no sample types")]
    Empty,
    /// It lacks what was asked for.
    #[error("it has no sample type `{wanted}`; it has {there}")]
    NoSampleType {
        /// The name asked for.
        wanted: String,
        /// The sample types of the file.
        there: String,
    },
}

/// A sample type: what values count, and in which unit.
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
    /// Mean distance between samples, in units of `period_type`; 0: not told.
    pub period: i64,
    /// The type and unit of the period.
    pub period_type: SampleType,
    /// The writer's comments: the first 100, each cut to 1 KiB.
    pub comments: Vec<String>,
    /// The sum of all samples.
    pub total: i128,
    /// By name of the function. Code without a name is a file and a place in it.
    pub functions: BTreeMap<String, Sums>,
    /// By the label `type`, which our profiles have: the shape of the objects. Empty if no sample
    /// has the label.
    pub shapes: BTreeMap<String, i128>,
}

impl Profile {
    /// Reads a profile that is not packed. `wanted` is the name of a sample type; `None`: the
    /// default.
    ///
    /// # Errors
    /// [`PprofError`].
    pub fn read(file: impl Read, wanted: Option<&str>) -> Result<Profile, PprofError> {
        let mut bytes = Vec::new();
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(PprofError::TooLong);
        }
        let whole = Message::new(&bytes);
        let strings = Strings::of(whole)?;
        let mut found = Profile::default();
        let (mut types, mut comments) = (Vec::new(), Vec::new());
        let (mut period_type, mut default) = (None, None);
        whole.each(|field| {
            match field.number {
                profile::SAMPLE_TYPE if types.len() == MOST_TEXTS => {
                    return Err(field.broken(format!("more than {MOST_TEXTS} sample types")));
                }
                profile::SAMPLE_TYPE => types.push(sample_type(&strings, &field)?),
                profile::PERIOD_TYPE => period_type = Some(sample_type(&strings, &field)?),
                // The format's numbers are signed.
                profile::PERIOD => found.period = field.number()? as i64,
                profile::COMMENT => {
                    let mut indexes = Vec::new();
                    field.numbers(&mut indexes)?;
                    for index in indexes {
                        let index = strings.check(&field, index)?;
                        if comments.len() < MOST_TEXTS {
                            comments.push(index);
                        }
                    }
                }
                profile::DEFAULT_SAMPLE_TYPE => default = Some(strings.check(&field, field.number()?)?),
                _ => {}
            }
            Ok(())
        })?;
        let of = |[name, unit]: [u64; 2]| SampleType { name: strings.cut(name), unit: strings.cut(unit) };
        found.sample_types = types.into_iter().map(of).collect();
        found.period_type = period_type.map(of).unwrap_or_default();
        found.comments = comments.into_iter().map(|index| strings.cut(index)).collect();
        let default = default.map(|index| strings.cut(index));
        found.chosen = found.choose(wanted, default.as_deref())?;
        let mut code = Code::of(whole, &strings)?;
        let shapes = found.sum(whole, &strings, &mut code)?;
        for (shape, sum) in shapes {
            *found.shapes.entry(strings.lossy(shape)).or_default() += sum;
        }
        for row in &code.rows {
            // Names that differ in bytes that are no UTF-8 may be one name here.
            let sums = found.functions.entry(code.name(row, &strings)).or_default();
            sums.flat += row.sums.flat;
            sums.cumulative += row.sums.cumulative;
        }
        Ok(found)
    }

    /// The sample type whose sums these are.
    pub fn sample_type(&self) -> &SampleType {
        &self.sample_types[self.chosen]
    }

    fn choose(&self, wanted: Option<&str>, default: Option<&str>) -> Result<usize, PprofError> {
        let last = self.sample_types.len().checked_sub(1).ok_or(PprofError::Empty)?;
        let position = |name: &str| self.sample_types.iter().position(|known| known.name == name);
        match wanted {
            Some(wanted) => position(wanted).ok_or_else(|| PprofError::NoSampleType {
                wanted: wanted.into(),
                there: names(&self.sample_types),
            }),
            None => Ok(default.and_then(position).unwrap_or(last)),
        }
    }

    /// Adds all samples to the rows of their functions. Returns sums by the shape's string.
    fn sum(
        &mut self,
        whole: Message<'_>,
        strings: &Strings<'_>,
        code: &mut Code<'_>,
    ) -> Result<HashMap<u64, i128>, PprofError> {
        let mut shapes: HashMap<u64, i128> = HashMap::new();
        let (mut stack, mut values) = (Vec::new(), Vec::new());
        let mut number = 0;
        whole.each(|field| {
            if field.number != profile::SAMPLE {
                return Ok(());
            }
            stack.clear();
            values.clear();
            let mut shape = None;
            field.message()?.each(|part| {
                match part.number {
                    sample::LOCATION_ID => part.numbers(&mut stack)?,
                    sample::VALUE => part.numbers(&mut values)?,
                    sample::LABEL => shape = strings.shape(&part)?.or(shape),
                    _ => {}
                }
                Ok(())
            })?;
            if values.len() != self.sample_types.len() {
                let (found, types) = (values.len(), self.sample_types.len());
                return Err(field.broken(format!("a sample of {found} values, for {types} sample types")));
            }
            let value = i128::from(values[self.chosen] as i64);
            self.total += value;
            if let Some(shape) = shape {
                *shapes.entry(shape).or_default() += value;
            }
            number += 1;
            code.add(&field, &stack, value, number)
        })?;
        Ok(shapes)
    }
}

/// Names of sample types with their units.
pub fn names(sample_types: &[SampleType]) -> String {
    let names = sample_types.iter().map(|one| format!("{} ({})", one.name, one.unit));
    names.collect::<Vec<_>>().join(", ")
}

/// The checked indexes of a sample type's name and unit; 0, the empty string, for one that is
/// missing.
fn sample_type(strings: &Strings<'_>, field: &Field<'_>) -> Result<[u64; 2], PprofError> {
    let mut found = [0; 2];
    field.message()?.each(|part| {
        match part.number {
            value_type::TYPE => found[0] = part.number()?,
            value_type::UNIT => found[1] = part.number()?,
            _ => {}
        }
        Ok(())
    })?;
    for index in found {
        strings.check(field, index)?;
    }
    Ok(found)
}

/// The table of strings.
struct Strings<'b>(Vec<&'b [u8]>);

impl<'b> Strings<'b> {
    fn of(whole: Message<'b>) -> Result<Strings<'b>, PprofError> {
        let mut strings = Vec::new();
        whole.each(|field| {
            if field.number == profile::STRING_TABLE {
                let text = field.message()?.bytes();
                if strings.is_empty() && !text.is_empty() {
                    return Err(field.broken("the first string is not empty"));
                }
                strings.push(text);
            }
            Ok(())
        })?;
        Ok(Strings(strings))
    }

    fn check(&self, field: &Field<'_>, index: u64) -> Result<u64, PprofError> {
        let there = self.0.len();
        if index < there as u64 {
            return Ok(index);
        }
        Err(field.broken(format!("string {index} of {there} strings")))
    }

    /// The bytes of a checked index.
    fn bytes(&self, index: u64) -> &'b [u8] {
        self.0[index as usize]
    }

    /// The text of a checked index. The caller asks once for a string.
    fn lossy(&self, index: u64) -> String {
        String::from_utf8_lossy(self.bytes(index)).into_owned()
    }

    /// The same without what is behind the first KiB, for strings that may be asked for often.
    fn cut(&self, index: u64) -> String {
        let text = self.bytes(index);
        String::from_utf8_lossy(&text[..text.len().min(MOST_TEXT_BYTES)]).into_owned()
    }

    /// The string of a label, if the label is that of shapes. An empty one is none.
    fn shape(&self, field: &Field<'_>) -> Result<Option<u64>, PprofError> {
        let (mut key, mut text) = (None, None);
        field.message()?.each(|part| {
            match part.number {
                label::KEY => key = Some(self.check(&part, part.number()?)?),
                label::STR => text = Some(self.check(&part, part.number()?)?),
                _ => {}
            }
            Ok(())
        })?;
        let is_shape = key.is_some_and(|key| self.bytes(key) == SHAPE);
        Ok(text.filter(|text| is_shape && !self.bytes(*text).is_empty()))
    }
}

#[cfg(test)]
mod tests;
