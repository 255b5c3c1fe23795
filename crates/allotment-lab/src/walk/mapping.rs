//! A private mapping with pages of the wanted size.
//!
//! Refused: a vector. The allocator decides where it lies, and may reuse pages that other code has
//! touched. Here the walking thread touches each page first, and it is known whether huge pages
//! came.

use allotment::internals::platform::{huge_page_size, page_size};
use anyhow::{Context, ensure};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::{fs, ptr};

/// The pages of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pages {
    /// Pages of the ordinary size, even where the kernel gives larger ones by default.
    Base,
    /// Transparent huge pages, as far as the kernel has them.
    Huge,
}

/// Fresh zeroed memory. Its bytes begin at a page, or at a huge one, plus the skew.
#[derive(Debug)]
pub(crate) struct Mapping {
    whole: *mut u8,
    whole_bytes: usize,
    base: *mut u8,
    bytes: usize,
}

impl Mapping {
    /// Maps `bytes` bytes, `skew` bytes after the beginning of a page. With a skew the memory of
    /// several threads does not use the same sets of a cache.
    ///
    /// # Errors
    /// There are no bytes to map, or the kernel refuses.
    pub(crate) fn new(bytes: usize, skew: usize, pages: Pages) -> anyhow::Result<Mapping> {
        ensure!(bytes > 0, "a mapping of no bytes");
        let alignment = if pages == Pages::Huge { huge_page_size() } else { page_size() };
        let used = bytes.checked_add(skew).and_then(|used| used.checked_next_multiple_of(alignment));
        let whole_bytes =
            used.and_then(|used| used.checked_add(alignment)).context("too many bytes to map")?;
        // SAFETY: a new mapping at an address that the kernel chooses replaces none.
        let whole = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                whole_bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        };
        let whole: *mut u8 = whole.with_context(|| format!("cannot map {whole_bytes} bytes"))?.cast();
        let offset = whole.align_offset(alignment) + skew;
        // SAFETY: aligning takes less than `alignment` bytes, and the mapping has that many beyond
        // skew and bytes.
        let base = unsafe { whole.add(offset) };
        let mapping = Mapping { whole, whole_bytes, base, bytes };
        mapping.advise(pages)?;
        Ok(mapping)
    }

    fn advise(&self, pages: Pages) -> anyhow::Result<()> {
        let (advice, what) = match pages {
            Pages::Base => (Advice::LinuxNoHugepage, "no huge pages"),
            Pages::Huge => (Advice::LinuxHugepage, "huge pages"),
        };
        // SAFETY: the range is this mapping's own, and the advice does not change the contents of
        // its memory.
        let advised = unsafe { madvise(self.whole.cast::<c_void>(), self.whole_bytes, advice) };
        match (advised, pages) {
            // A kernel without huge pages needs no advice against them.
            (Err(rustix::io::Errno::INVAL), Pages::Base) => Ok(()),
            (advised, _) => advised.with_context(|| format!("the kernel does not take the advice `{what}`")),
        }
    }

    /// The address of the first byte.
    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    /// The number of bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The share of the bytes that lies on huge pages, from 0 to 1. Touch them first.
    ///
    /// # Errors
    /// `/proc` is not mounted.
    pub(crate) fn huge_share(&self) -> anyhow::Result<f64> {
        let text = fs::read_to_string("/proc/self/smaps").context("cannot read /proc/self/smaps")?;
        let huge = huge_bytes(&text, self.base.addr(), self.base.addr() + self.bytes);
        Ok((huge as f64 / self.bytes as f64).min(1.0))
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new`. All code that got its address borrows from this
        // value or belongs to it.
        let unmapped = unsafe { munmap(self.whole.cast::<c_void>(), self.whole_bytes) };
        debug_assert!(unmapped.is_ok(), "{unmapped:?}");
    }
}

/// The sum of `AnonHugePages` of the areas that `start..end` touches, in bytes.
fn huge_bytes(smaps: &str, start: usize, end: usize) -> usize {
    let (mut within, mut found) = (false, 0);
    for line in smaps.lines() {
        if let Some((from, to)) = area(line) {
            within = from < end && start < to;
        } else if within && let Some(rest) = line.strip_prefix("AnonHugePages:") {
            let kibibytes = rest.trim().strip_suffix("kB").and_then(|text| text.trim().parse::<usize>().ok());
            found += kibibytes.unwrap_or(0) << 10;
        }
    }
    found
}

/// The addresses of a line that begins an area: `7f00-7f01 rw-p ...`.
fn area(line: &str) -> Option<(usize, usize)> {
    let (from, to) = line.split_once(' ')?.0.split_once('-')?;
    Some((usize::from_str_radix(from, 16).ok()?, usize::from_str_radix(to, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_begins_behind_a_page_and_can_be_written_to_its_end() {
        for (pages, alignment) in [(Pages::Base, page_size()), (Pages::Huge, huge_page_size())] {
            for (bytes, skew) in [(1, 0), (16, 64), (5 << 20, 192)] {
                let mapping = Mapping::new(bytes, skew, pages).unwrap();
                assert_eq!(mapping.base().addr() % alignment, skew);
                // SAFETY: the last byte of the mapping, which no other code writes.
                unsafe { mapping.base().add(mapping.bytes() - 1).write(1) };
                let share = mapping.huge_share().unwrap();
                assert!((0.0..=1.0).contains(&share) && (pages == Pages::Huge || share == 0.0), "{share}");
            }
        }
        assert!(Mapping::new(0, 0, Pages::Base).is_err());
        assert!(Mapping::new(usize::MAX, 64, Pages::Base).is_err());
    }

    #[test]
    fn huge_pages_are_counted_in_the_areas_that_are_touched() {
        let text = "1000-3000 rw-p 0 00:00 0\nAnonHugePages:  2048 kB\n3000-4000 rw-p 0 00:00 0 [heap]\n\
                    Size: 4 kB\nAnonHugePages: 4096 kB\n5000-6000 r--p 0\nAnonHugePages: 8192 kB\n";
        assert_eq!(huge_bytes(text, 0x2000, 0x3000), 2 << 20);
        assert_eq!(huge_bytes(text, 0x2000, 0x3001), 6 << 20);
        assert_eq!(huge_bytes(text, 0x4000, 0x5000), 0);
    }
}
