//! The table of a profile: the types with most bytes in use.

use super::AllocationProfile;
use std::collections::BTreeMap;
use std::fmt;

/// The most types that are printed.
const ROWS: usize = 20;

impl AllocationProfile {
    /// A line for each reason why samples are missing. Those of an earlier profile do not count.
    pub(super) fn missing(&self, before: Option<&AllocationProfile>) -> String {
        let since =
            |count: fn(&AllocationProfile) -> u64| count(self).saturating_sub(before.map_or(0, count));
        let samples = since(|profile| profile.dropped.samples);
        let bytes = since(|profile| profile.dropped.bytes);
        let recycled = since(|profile| profile.dropped.recycled);
        let mut lines = String::new();
        if samples > 0 {
            lines += &format!(
                "{samples} samples of {bytes} bytes together are missing: there was no memory for them \
                 (AllocationSampleMemory)\n"
            );
        }
        if recycled > 0 {
            lines += &format!(
                "{recycled} samples are missing: their memory was recycled before their types were read\n"
            );
        }
        lines
    }
}

/// Prints estimates by type, those with most bytes in use first:
///
/// ```text
/// allocation profile: 3 types, 5210 samples, one of each 512k
///       in use KiB       objects    allocated KiB       objects  type
///            10240         42666           204800        853333  Pair
/// ```
impl fmt::Display for AllocationProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut types: BTreeMap<&str, [f64; 4]> = BTreeMap::new();
        for site in self.sites() {
            let values = [
                site.bytes_in_use(),
                site.objects_in_use(),
                site.allocated_bytes(),
                site.allocated_objects(),
            ];
            let sums = types.entry(&site.type_name).or_default();
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        writeln!(
            f,
            "allocation profile: {} types, {} samples, one in {} bytes on average",
            types.len(),
            self.samples(),
            self.interval()
        )?;
        writeln!(
            f,
            "{:>14} {:>12} {:>16} {:>12}  type",
            "in use KiB", "objects", "allocated KiB", "objects"
        )?;
        let mut rows: Vec<_> = types.into_iter().collect();
        rows.sort_by(|(_, one), (_, other)| other[0].total_cmp(&one[0]).then(other[2].total_cmp(&one[2])));
        for (name, [in_use, objects, allocated, made]) in rows.iter().take(ROWS) {
            let kib = |bytes: f64| bytes / 1024.0;
            let (in_use, allocated) = (kib(*in_use), kib(*allocated));
            writeln!(f, "{in_use:>14.0} {objects:>12.0} {allocated:>16.0} {made:>12.0}  {name}")?;
        }
        if rows.len() > ROWS {
            writeln!(f, "{:>14} more types", rows.len() - ROWS)?;
        }
        f.write_str(&self.missing(None))
    }
}
