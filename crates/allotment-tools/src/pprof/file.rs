//! The file of a profile: the facts about all samples, and the samples one after the other.
//!
//! Samples are handed on as they are met and none is kept. Strings stay indexes.

use super::drop_frames::DropFrames;
use super::message::{self, ValueType, profile};
use super::wire::{Field, Fields};
use super::{MOST_TEXT_BYTES, MOST_TEXTS, SampleType, names};
use crate::FileError;

/// The label of the shape of a sample's objects.
const SHAPE: &[u8] = b"type";

/// The label, and its text, of a sample that belongs to the earlier one of two profiles.
const BASE: (&[u8], &[u8]) = (b"pprof::base", b"true");

/// The part of a file that is about all its samples.
pub(super) struct ProfileFile<'b> {
    pub(super) whole: Fields<'b>,
    pub(super) strings: Strings<'b>,
    pub(super) sample_types: Vec<SampleType>,
    pub(super) period: i64,
    pub(super) period_type: SampleType,
    pub(super) comments: Vec<String>,
    /// The frames that the file asks to drop.
    pub(super) dropped: Option<DropFrames>,
    default: Option<u64>,
}

/// A sample.
pub(super) struct Sample<'s, 'b> {
    pub(super) field: Field<'b>,
    /// Ids of locations, innermost first.
    pub(super) stack: &'s [u64],
    /// A value for each sample type.
    pub(super) values: &'s [i64],
    /// The string of the shape's name.
    pub(super) shape: Option<u64>,
    /// Whether it belongs to the earlier one of two profiles.
    pub(super) is_base: bool,
}

impl<'b> ProfileFile<'b> {
    pub(super) fn read(bytes: &'b [u8]) -> Result<ProfileFile<'b>, FileError> {
        let whole = Fields(bytes);
        let strings = Strings::of(whole)?;
        let (mut types, mut comments) = (Vec::new(), Vec::new());
        let (mut period, mut period_type, mut default) = (0, None, None);
        let (mut drop_frames, mut keep_frames) = (0, 0);
        whole.each(|field| {
            let text = || strings.check(&field, field.number()?);
            match field.number {
                profile::SAMPLE_TYPE if types.len() == MOST_TEXTS => {
                    return Err(field.broken(format!("more than {MOST_TEXTS} sample types")));
                }
                profile::SAMPLE_TYPE => types.push(sample_type(&strings, &field)?),
                profile::PERIOD_TYPE => period_type = Some(sample_type(&strings, &field)?),
                // The format's numbers are signed.
                profile::PERIOD => period = field.number()? as i64,
                profile::COMMENT => {
                    for index in field.numbers()? {
                        let index = strings.check(&field, index)?;
                        if comments.len() < MOST_TEXTS {
                            comments.push(index);
                        }
                    }
                }
                profile::DEFAULT_SAMPLE_TYPE => default = Some(text()?),
                profile::DROP_FRAMES => drop_frames = text()?,
                profile::KEEP_FRAMES => keep_frames = text()?,
                _ => {}
            }
            Ok(())
        })?;
        if types.is_empty() {
            return Err(FileError::Unfit(
                "it is not a profile in pprof's form: it has no sample types".into(),
            ));
        }
        let of = |[name, unit]: [u64; 2]| SampleType { name: strings.cut(name), unit: strings.cut(unit) };
        let mut comments: Vec<String> = comments.into_iter().map(|index| strings.cut(index)).collect();
        let dropped = DropFrames::of(strings.bytes(drop_frames), strings.bytes(keep_frames));
        let dropped = dropped.unwrap_or_else(|note| {
            comments.push(note.into());
            None
        });
        Ok(ProfileFile {
            whole,
            sample_types: types.into_iter().map(of).collect(),
            period,
            period_type: period_type.map(of).unwrap_or_default(),
            comments,
            dropped,
            default,
            strings,
        })
    }

    /// The index of the sample type with the name `wanted`; of the file's default without a name.
    pub(super) fn choose(&self, wanted: Option<&str>) -> Result<usize, FileError> {
        let position = |name: &str| self.sample_types.iter().position(|known| known.name == name);
        match wanted {
            Some(wanted) => position(wanted).ok_or_else(|| {
                let there = names(&self.sample_types);
                FileError::Unfit(format!("it has no sample type `{wanted}`; it has {there}"))
            }),
            None => {
                let default = self.default.map(|index| self.strings.cut(index));
                let last = self.sample_types.len() - 1;
                Ok(default.and_then(|name| position(&name)).unwrap_or(last))
            }
        }
    }

    /// Calls `found` with each sample, in the order of the file.
    pub(super) fn each_sample(
        &self,
        mut found: impl FnMut(Sample<'_, 'b>) -> Result<(), FileError>,
    ) -> Result<(), FileError> {
        self.whole.each_message(profile::SAMPLE, |field, sample: message::Sample| {
            let message::Sample { locations, values, labels } = sample;
            let (mut shape, mut is_base) = (None, false);
            for label in labels {
                let [key, text] =
                    [self.strings.check(&field, label.key)?, self.strings.check(&field, label.text)?];
                let (word, said) = (self.strings.bytes(key), self.strings.bytes(text));
                is_base |= (word, said) == BASE;
                shape = Some(text).filter(|_| word == SHAPE && !said.is_empty()).or(shape);
            }
            if values.len() != self.sample_types.len() {
                let (found, types) = (values.len(), self.sample_types.len());
                return Err(field.broken(format!("a sample of {found} values, for {types} sample types")));
            }
            found(Sample { field, stack: &locations, values: &values, shape, is_base })
        })
    }
}

/// The checked indexes of a sample type's name and unit; 0, the empty string, for one that is
/// missing.
fn sample_type(strings: &Strings<'_>, field: &Field<'_>) -> Result<[u64; 2], FileError> {
    let ValueType { name, unit } = field.message()?;
    let found = [name, unit];
    for index in found {
        strings.check(field, index)?;
    }
    Ok(found)
}

/// The table of strings.
pub(super) struct Strings<'b>(Vec<&'b [u8]>);

impl<'b> Strings<'b> {
    pub(super) fn of(whole: Fields<'b>) -> Result<Strings<'b>, FileError> {
        let mut strings = Vec::new();
        whole.each(|field| {
            if field.number == profile::STRING_TABLE {
                let text = field.bytes()?;
                if strings.is_empty() && !text.is_empty() {
                    return Err(field.broken("the first string is not empty"));
                }
                strings.push(text);
            }
            Ok(())
        })?;
        Ok(Strings(strings))
    }

    pub(super) fn check(&self, field: &Field<'_>, index: u64) -> Result<u64, FileError> {
        let there = self.0.len();
        if index < there as u64 {
            return Ok(index);
        }
        Err(field.broken(format!("string {index} of {there} strings")))
    }

    /// The bytes of a checked index. Of 0, which stands for a missing one too, there need be none.
    pub(super) fn bytes(&self, index: u64) -> &'b [u8] {
        self.0.get(index as usize).copied().unwrap_or_default()
    }

    /// The number of strings.
    pub(super) fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// The text of a checked index. The caller asks once for a string.
    pub(super) fn lossy(&self, index: u64) -> String {
        String::from_utf8_lossy(self.bytes(index)).into_owned()
    }

    /// The first KiB of the text of a checked index, for strings that may be asked for often.
    pub(super) fn cut(&self, index: u64) -> String {
        let text = self.bytes(index);
        String::from_utf8_lossy(&text[..text.len().min(MOST_TEXT_BYTES)]).into_owned()
    }
}
