//! A profile in the form of pprof: `profile.proto` of github.com/google/pprof, compressed.
//!
//! The form is that of Go's heap profiles: four values a sample (objects and bytes, allocated and
//! in use), the period in bytes, and the object's size as a label. So the tools that know those
//! know these. In addition the label `type` has the object's shape (`-tagroot=type`), and the
//! default is what is in use. Values are estimates of the whole program, rounded once for each
//! group of samples of one weight.
//!
//! Frames of the embedder become functions with a line. Frames of the machine become addresses in
//! mapped files with their build ids, with the functions and lines that `native.rs` finds. A sample
//! without a stack gets its type as its function. Ids count from 1, without holes: some readers use
//! them as indexes.

use super::field::{function, label, line, location, mapping, profile, sample, value_type};
use super::native::{NativeFrame, NativeNames};
use super::protobuf::Message;
use super::{AllocationProfile, AllocationSite};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::HashMap;
use std::hash::Hash;
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

/// The values of a sample: name and unit, in the order of Go's heap profiles.
const VALUES: [(&str, &str); 4] = [
    ("alloc_objects", "count"),
    ("alloc_space", "bytes"),
    ("inuse_objects", "count"),
    ("inuse_space", "bytes"),
];

/// The function whose callers were cut off.
const TRUNCATED: &str = "[truncated]";

/// Native functions that a tool leaves out, with what they call: the slow path of the allocation.
/// Some tools have their names without modules and types, so each is listed.
pub(super) const SLOW_PATH: &str = "(.*::)?(alloc_out_of_line|alloc_with_room|alloc_slow|alloc_array_slow|alloc_past_pointer|\
    memory_past_pointer|burst_slow|burst_array_slow|memory_for_generated|allocate_covered|allocate_past_limit)(::<.*>)?";

impl AllocationProfile {
    /// Writes the profile in pprof's form, compressed by gzip: the contents of a `.pb.gz` file.
    ///
    /// Native functions are named by the debug information of the program's files, which is read
    /// for it. Without the crate's feature `symbols` they are addresses.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, writer: impl Write) -> io::Result<()> {
        Encoder::new(self, None).write(writer)
    }

    /// As [`write`](Self::write), of what came since `before`, an earlier profile of the same heap:
    /// what was allocated since, and by how much more is in use, which may be less than 0. Tools
    /// show what was allocated unless they are told otherwise.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let heap = allotment::Heap::builder().max_heap_size(16 << 20).build()?;
    /// heap.set_allocation_sample_interval(allotment::stats::DEFAULT_SAMPLE_INTERVAL);
    /// let before = heap.allocation_profile();
    /// // ... the program runs ...
    /// let mut bytes = Vec::new();
    /// heap.allocation_profile().write_since(&before, &mut bytes)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_since(&self, before: &AllocationProfile, writer: impl Write) -> io::Result<()> {
        Encoder::new(self, Some(before)).write(writer)
    }

    fn key<'p>(&'p self, site: &'p AllocationSite) -> SiteKey<'p> {
        let AllocationSite { type_name, bytes, interval, .. } = site;
        SiteKey { type_name, bytes: *bytes, interval: *interval, stack: self.stack(site) }
    }
}

/// The properties of a site that distinguish its samples from others.
#[derive(PartialEq, Eq, Hash)]
struct SiteKey<'p> {
    type_name: &'p str,
    bytes: usize,
    interval: usize,
    /// Innermost frame first, and whether outer frames were cut off.
    stack: (&'p [u64], bool),
}

/// An earlier profile, and its sites.
struct Base<'p> {
    sites: HashMap<SiteKey<'p>, &'p AllocationSite>,
    profile: &'p AllocationProfile,
}

/// Values that get numbers in the order in which they are met.
struct Numbered<T>(HashMap<T, u64>);

impl<T: Hash + Eq> Numbered<T> {
    fn new() -> Numbered<T> {
        Numbered(HashMap::new())
    }

    /// The number of `item`, and whether it is new.
    fn of(&mut self, item: T, first: u64) -> (u64, bool) {
        let next = self.0.len() as u64 + first;
        let number = *self.0.entry(item).or_insert(next);
        (number, number == next)
    }
}

/// A function, by the indexes of its strings.
#[derive(PartialEq, Eq, Hash)]
struct Function {
    name: u64,
    /// The name that its file has.
    system_name: u64,
    /// The source file.
    file: u64,
}

/// A location in a stack, by what distinguishes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Location {
    /// A line of a function, by its id.
    Line(u64, u32),
    /// An address of the machine.
    Address(u64),
}

/// A value that the format's signed numbers can hold.
fn whole(value: u64) -> u64 {
    value.min(i64::MAX as u64)
}

/// An estimate as the format has signed numbers.
fn rounded(value: f64) -> u64 {
    (value.round() as i64).cast_unsigned()
}

struct Encoder<'p> {
    profile: &'p AllocationProfile,
    base: Option<Base<'p>>,
    out: Message,
    /// The strings, which are written last.
    strings: Numbered<String>,
    functions: Numbered<Function>,
    locations: Numbered<Location>,
    native: NativeNames,
    /// The names that each file of the profile has.
    named: Vec<Named>,
}

/// The facts about addresses in a mapped file.
#[derive(Clone, Copy, Default)]
struct Named {
    functions: u64,
    addresses: u64,
    has_lines: bool,
}

impl<'p> Encoder<'p> {
    fn new(profile: &'p AllocationProfile, before: Option<&'p AllocationProfile>) -> Encoder<'p> {
        let base = before.map(|before| Base {
            sites: before.sites.iter().map(|site| (before.key(site), site)).collect(),
            profile: before,
        });
        let mut encoder = Encoder {
            profile,
            base,
            out: Message::default(),
            strings: Numbered::new(),
            functions: Numbered::new(),
            locations: Numbered::new(),
            native: NativeNames::default(),
            named: vec![Named::default(); profile.files.len()],
        };
        // The first string has to be empty.
        encoder.string("");
        encoder
    }

    fn write(self, writer: impl Write) -> io::Result<()> {
        let mut compressed = GzEncoder::new(writer, Compression::default());
        compressed.write_all(&self.encode())?;
        compressed.finish()?.flush()
    }

    fn string(&mut self, text: &str) -> u64 {
        self.strings.of(text.to_owned(), 0).0
    }

    fn encode(mut self) -> Vec<u8> {
        for (name, unit) in VALUES {
            self.value_type(profile::SAMPLE_TYPE, name, unit);
        }
        for site in &self.profile.sites {
            self.site(site);
        }
        self.mappings();
        self.frame();
        let mut texts: Vec<(String, u64)> = self.strings.0.into_iter().collect();
        texts.sort_unstable_by_key(|(_, index)| *index);
        for (text, _) in &texts {
            self.out.bytes(profile::STRING_TABLE, text.as_bytes());
        }
        self.out.finish()
    }

    /// The mapped files. They follow what lies in them, since they say what is named.
    fn mappings(&mut self) {
        for (index, file) in self.profile.files.iter().enumerate() {
            let (name, build) = (self.string(&file.path.to_string_lossy()), self.string(&file.build_id));
            let Named { functions, addresses, has_lines } = self.named[index];
            // A tool that knows more may name the rest, if the file does not say that all is named.
            let all = functions > 0 && functions == addresses;
            let lines = u64::from(all && has_lines);
            self.out.message(profile::MAPPING, |out| {
                out.number(mapping::ID, index as u64 + 1)
                    .number(mapping::MEMORY_START, file.start)
                    .number(mapping::MEMORY_LIMIT, file.end)
                    .number(mapping::FILE_OFFSET, file.offset)
                    .number(mapping::FILENAME, name)
                    .number(mapping::BUILD_ID, build)
                    .number(mapping::HAS_FUNCTIONS, all.into())
                    .number(mapping::HAS_FILENAMES, lines)
                    .number(mapping::HAS_LINE_NUMBERS, lines)
                    .number(mapping::HAS_INLINE_FRAMES, lines);
            });
        }
    }

    /// The fields of a profile beside samples, locations and functions.
    fn frame(&mut self) {
        self.value_type(profile::PERIOD_TYPE, "space", "bytes");
        let default = self.string(if self.base.is_some() { "alloc_space" } else { "inuse_space" });
        let before = self.base.as_ref().map(|base| base.profile);
        let duration = self.profile.age.saturating_sub(before.map_or(Duration::ZERO, |before| before.age));
        let drop = if self.profile.files.is_empty() { 0 } else { self.string(SLOW_PATH) };
        let comment = self.profile.missing(before);
        let comment = if comment.is_empty() { 0 } else { self.string(&comment) };
        let since_epoch = self.profile.taken.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.out
            .number(profile::PERIOD, whole(self.profile.interval as u64))
            .number(profile::TIME_NANOS, since_epoch.as_nanos() as u64)
            .number(profile::DURATION_NANOS, duration.as_nanos() as u64)
            .number(profile::DROP_FRAMES, drop)
            .number(profile::COMMENT, comment)
            .number(profile::DEFAULT_SAMPLE_TYPE, default);
    }

    fn value_type(&mut self, field: u64, name: &str, unit: &str) {
        let (name, unit) = (self.string(name), self.string(unit));
        self.out.message(field, |out| {
            out.number(value_type::TYPE, name).number(value_type::UNIT, unit);
        });
    }

    fn site(&mut self, site: &AllocationSite) {
        let of = |site: &AllocationSite| {
            [site.allocated_objects(), site.allocated_bytes(), site.objects_in_use(), site.bytes_in_use()]
        };
        let mut values = of(site);
        if let Some(before) = self.base.as_ref().and_then(|base| base.sites.get(&self.profile.key(site))) {
            values.iter_mut().zip(of(before)).for_each(|(value, before)| *value -= before);
        }
        if values == [0.0; 4] {
            return;
        }
        let locations = self.stack(site);
        let [key_bytes, unit, key_type, name] =
            ["bytes", "bytes", "type", &site.type_name].map(|text| self.string(text));
        self.out.message(profile::SAMPLE, |out| {
            out.numbers(sample::LOCATION_ID, locations.into_iter())
                .numbers(sample::VALUE, values.into_iter().map(rounded))
                .message(sample::LABEL, |out| {
                    out.number(label::KEY, key_bytes)
                        .number(label::NUM, site.bytes as u64)
                        .number(label::NUM_UNIT, unit);
                })
                .message(sample::LABEL, |out| _ = out.number(label::KEY, key_type).number(label::STR, name));
        });
    }

    /// The ids of the locations of a site's stack, innermost first.
    fn stack(&mut self, site: &AllocationSite) -> Vec<u64> {
        let profile = self.profile;
        let (frames, truncated) = profile.stack(site);
        let mut locations: Vec<u64> = frames
            .iter()
            .map(|frame| match profile.frame_name(*frame) {
                Some(name) => self.line(&name.function, &name.file, name.line),
                // The call is in front of the address that it returns to.
                None => self.location(Location::Address(frame.saturating_sub(1))),
            })
            .collect();
        if frames.is_empty() {
            locations.push(self.line(&site.type_name, "", 0));
        }
        if truncated {
            locations.push(self.line(TRUNCATED, "", 0));
        }
        locations
    }

    fn line(&mut self, name: &str, file: &str, line: u32) -> u64 {
        let function = self.function(name, name, file);
        self.location(Location::Line(function, line))
    }

    fn function(&mut self, name: &str, system_name: &str, file: &str) -> u64 {
        let [name, system_name, file] = [name, system_name, file].map(|text| self.string(text));
        let (id, new) = self.functions.of(Function { name, system_name, file }, 1);
        if new {
            self.out.message(profile::FUNCTION, |out| {
                out.number(function::ID, id)
                    .number(function::NAME, name)
                    .number(function::SYSTEM_NAME, system_name)
                    .number(function::FILENAME, file);
            });
        }
        id
    }

    fn location(&mut self, location: Location) -> u64 {
        let (id, new) = self.locations.of(location, 1);
        if new {
            let (file, address, lines) = match location {
                Location::Line(function, line) => (None, 0, vec![(function, line)]),
                Location::Address(address) => {
                    let files = &self.profile.files;
                    let file = files.iter().position(|file| (file.start..file.end).contains(&address));
                    (file, address, self.native(file, address))
                }
            };
            self.out.message(profile::LOCATION, |out| {
                out.number(location::ID, id)
                    .number(location::MAPPING_ID, file.map_or(0, |index| index as u64 + 1))
                    .number(location::ADDRESS, address);
                for (function, number) in lines {
                    out.message(location::LINE, |out| {
                        out.number(line::FUNCTION_ID, function).number(line::LINE, number.into());
                    });
                }
            });
        }
        id
    }

    /// The functions at an address and their lines, innermost first.
    fn native(&mut self, file: Option<usize>, address: u64) -> Vec<(u64, u32)> {
        let frames = self.native.frames(file.map(|index| &self.profile.files[index]), address);
        if let Some(named) = file.map(|index| &mut self.named[index]) {
            named.addresses += 1;
            named.functions += u64::from(!frames.is_empty());
            named.has_lines |= frames.iter().any(|frame| frame.line != 0);
        }
        let lines = frames.iter().map(|NativeFrame { function, system_name, file, line }| {
            (self.function(function, system_name, file), *line)
        });
        lines.collect()
    }
}
