//! Tests of the reservation against the kernel's own account, `/proc/self/maps` and
//! `/proc/self/smaps`.

use std::fs;
use std::ops::Range;
use std::thread;

use proptest::prelude::*;

use super::*;

/// One mapping of this process: addresses, rights such as `rw-p`, name.
struct Mapping {
    addresses: Range<usize>,
    rights: String,
    name: String,
}

/// A line that opens a mapping, in `maps` and in `smaps`.
fn mapping(line: &str) -> Option<Mapping> {
    let mut words = line.split_ascii_whitespace();
    let (from, to) = words.next()?.split_once('-')?;
    let addresses = usize::from_str_radix(from, 16).ok()?..usize::from_str_radix(to, 16).ok()?;
    let rights = words.next()?.to_owned();
    Some(Mapping { addresses, rights, name: words.skip(3).collect::<Vec<_>>().join(" ") })
}

fn mappings() -> Vec<Mapping> {
    fs::read_to_string("/proc/self/maps").unwrap().lines().filter_map(mapping).collect()
}

/// Whether the mapping begins inside the reservation.
fn begins_in(range: &Reservation, mapping: &Mapping) -> bool {
    let base = range.base().addr();
    (base..base + range.bytes()).contains(&mapping.addresses.start)
}

/// The lines of `smaps` that start with `key`, for the mappings that begin inside the reservation.
fn accounts(range: &Reservation, key: &str) -> Vec<String> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in fs::read_to_string("/proc/self/smaps").unwrap().lines() {
        if let Some(mapping) = mapping(line) {
            inside = begins_in(range, &mapping);
        } else if let Some(value) = line.strip_prefix(key).filter(|_| inside) {
            found.push(value.trim().to_owned());
        }
    }
    found
}

/// Bytes of the reservation that are backed by memory. Its last page must be uncommitted, for
/// otherwise the kernel may count a neighbour in.
pub(in super::super) fn resident_bytes(range: &Reservation) -> usize {
    let kib = |text: String| text.trim_end_matches(" kB").parse::<usize>().unwrap();
    accounts(range, "Rss:").into_iter().map(|text| kib(text) * 1024).sum()
}

/// Whether each page of the reservation is readable and writable, as the kernel sees it.
fn accessible_pages(range: &Reservation) -> Vec<bool> {
    let all = mappings();
    (0..range.bytes() / page_size())
        .map(|page| {
            let address = range.base().addr() + page * page_size();
            all.iter().any(|m| m.addresses.contains(&address) && m.rights == "rw-p")
        })
        .collect()
}

#[test]
fn alignment_is_honoured_and_nothing_is_committed() {
    for alignment in [1, 4096, 1 << 16, 2 << 20, 1 << 30] {
        let range = Reservation::reserve(page_size() + 904, alignment, "alignment").unwrap();
        assert_eq!(range.base().addr() % alignment, 0);
        assert_eq!(range.bytes(), 2 * page_size());
        assert_eq!(accessible_pages(&range), [false, false]);
    }
}

#[test]
fn a_terabyte_is_only_addresses() {
    let range = Reservation::reserve(1 << 40, 1 << 30, "terabyte").unwrap();
    range.commit((1 << 40) - 2 * page_size(), page_size()).unwrap();
    // SAFETY: the page is committed and nobody else knows the range.
    unsafe { range.base().add((1 << 40) - 2 * page_size()).write(1) };
    assert_eq!(resident_bytes(&range), page_size());
}

#[test]
fn the_name_stands_directly_below_the_range() {
    let range = Reservation::reserve(1 << 20, 2 << 20, "name under test").unwrap();
    let label = mappings().into_iter().find(|m| m.addresses.end == range.base().addr()).expect("a label");
    assert!(label.name.contains("/memfd:allotment-name-under-test"), "{}", label.name);
    assert_eq!(label.rights, "---p");
    assert_eq!(label.addresses.len(), page_size());
}

#[test]
fn the_range_is_named_where_the_kernel_can() {
    let range = Reservation::reserve(1 << 20, 4096, "anon").unwrap();
    let name = linux::mapping_name("anon");
    let named = linux::name_range(range.base(), range.bytes(), &name).is_ok();
    let shown = mappings().iter().any(|m| m.name == "[anon:allotment-anon]" && begins_in(&range, m));
    assert_eq!(shown, named);
}

#[test]
fn dropping_unmaps_the_range_and_its_label() {
    let name = "dropped-and-gone";
    let range = Reservation::reserve(1 << 20, 2 << 20, name).unwrap();
    let shown = || mappings().iter().any(|m| m.name.contains(name));
    assert!(shown());
    drop(range);
    assert!(!shown());
}

#[test]
fn uncommitted_memory_is_given_back_and_reads_zero_again() {
    let range = Reservation::reserve(1 << 20, 4096, "zero").unwrap();
    let bytes = 16 * page_size();
    range.commit(0, bytes).unwrap();
    // SAFETY: the pages are committed and nobody else knows the range.
    unsafe { range.base().write_bytes(0xa5, bytes) };
    range.commit(0, bytes).unwrap();
    // SAFETY: as above.
    assert_eq!(unsafe { range.base().read() }, 0xa5, "a second commit keeps the contents");
    assert_eq!(resident_bytes(&range), bytes);
    range.uncommit(0, bytes).unwrap();
    assert_eq!(resident_bytes(&range), 0);
    range.commit(0, bytes).unwrap();
    // SAFETY: as above.
    let contents = unsafe { std::slice::from_raw_parts(range.base(), bytes) };
    assert!(contents.iter().all(|&byte| byte == 0));
}

#[test]
fn absurd_sizes_are_errors() {
    for (bytes, alignment) in [
        (usize::MAX, 1),
        (usize::MAX, 1 << 63),
        (4096, 1 << 63),
        (isize::MAX as usize, 4096),
        (4096 << 40, 2 << 20),
        (ADDRESS_SPACE_BYTES, 4096),
    ] {
        let error = Reservation::reserve(bytes, alignment, "absurd").unwrap_err();
        assert!(matches!(error, MemoryError::TooLarge { .. }), "{error}");
        assert!(error.to_string().contains(" bits, "), "{error}");
    }
    // This much the address space has, but never in one piece.
    let error = Reservation::reserve(ADDRESS_SPACE_BYTES - (64 << 20), 4096, "almost").unwrap_err();
    assert!(matches!(error, MemoryError::Reserve { .. }), "{error}");
    assert!(error.to_string().contains("ulimit -v"), "{error}");
}

#[test]
fn meaningless_requests_are_errors() {
    assert!(matches!(Reservation::reserve(0, 4096, "x"), Err(MemoryError::Empty { .. })));
    for alignment in [0, 3, 4097, usize::MAX] {
        assert!(matches!(Reservation::reserve(4096, alignment, "x"), Err(MemoryError::Alignment { .. })));
    }
}

#[test]
fn ranges_off_the_pages_or_the_end_are_refused() {
    let range = Reservation::reserve(16 * page_size(), 4096, "refused").unwrap();
    let page = page_size();
    for (offset, bytes) in [(1, page), (0, page - 1), (page / 2, page), (usize::MAX, page)] {
        assert!(matches!(range.commit(offset, bytes), Err(MemoryError::Misaligned { .. })));
        assert!(matches!(range.uncommit(offset, bytes), Err(MemoryError::Misaligned { .. })));
    }
    let last = usize::MAX - (page - 1);
    for (offset, bytes) in [(0, 17 * page), (16 * page, page), (17 * page, 0), (page, last), (last, page)] {
        assert!(matches!(range.commit(offset, bytes), Err(MemoryError::OutOfRange { .. })));
        assert!(matches!(range.uncommit(offset, bytes), Err(MemoryError::OutOfRange { .. })));
    }
    range.commit(16 * page, 0).unwrap();
    assert_eq!(accessible_pages(&range), [false; 16]);
}

#[test]
fn the_advice_for_huge_pages_outlives_an_uncommit() {
    let range = Reservation::reserve(8 << 20, 2 << 20, "huge").unwrap();
    let advised = range.advise_huge_pages();
    assert_eq!(advised.is_ok(), linux::can_advise_huge_pages(), "who asks first is told what becomes of it");
    match advised {
        Err(error) => assert!(error.to_string().contains("no transparent huge pages"), "{error}"),
        Ok(()) => {
            range.commit(0, 4 << 20).unwrap();
            range.uncommit(2 << 20, 2 << 20).unwrap();
            let flags = accounts(&range, "VmFlags:");
            assert!(
                !flags.is_empty() && flags.iter().all(|f| f.split(' ').any(|flag| flag == "hg")),
                "{flags:?}"
            );
        }
    }
}

#[test]
fn threads_may_commit_and_uncommit_at_once() {
    let range = Reservation::reserve(64 * page_size(), 4096, "threads").unwrap();
    thread::scope(|scope| {
        for part in 0..4 {
            let range = &range;
            scope.spawn(move || {
                let (offset, bytes) = (part * 16 * page_size(), 16 * page_size());
                for _ in 0..50 {
                    range.commit(offset, bytes).unwrap();
                    let first = range.base().wrapping_add(offset);
                    // SAFETY: this thread alone uses this part, and has just committed it.
                    unsafe {
                        assert_eq!(first.read(), 0);
                        first.write(1);
                    }
                    range.uncommit(offset, bytes).unwrap();
                }
            });
        }
    });
    assert_eq!(accessible_pages(&range), [false; 64]);
}

/// An operation of the test on a range of pages.
#[derive(Clone, Debug)]
enum Step {
    Commit(Range<usize>),
    Uncommit(Range<usize>),
    Pretouch(Range<usize>),
    /// Writes the value to each committed page of the range.
    Write(Range<usize>, u8),
}

const PAGES: usize = 12;

fn step() -> impl Strategy<Value = Step> {
    let pages = || (0..PAGES, 0..=PAGES).prop_map(|(from, to)| from.min(to)..from.max(to));
    prop_oneof![
        pages().prop_map(Step::Commit),
        pages().prop_map(Step::Uncommit),
        pages().prop_map(Step::Pretouch),
        (pages(), any::<u8>()).prop_map(|(pages, value)| Step::Write(pages, value)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The model: a page is uncommitted, or committed with a value that starts at zero.
    #[test]
    fn any_sequence_agrees_with_the_model(steps in prop::collection::vec(step(), 1..24)) {
        let range = Reservation::reserve(PAGES * page_size(), 4096, "model").unwrap();
        let mut model = [None; PAGES];
        let at = |page: usize| range.base().wrapping_add(page * page_size());
        for step in steps {
            match step {
                Step::Commit(pages) => {
                    range.commit(pages.start * page_size(), pages.len() * page_size()).unwrap();
                    model[pages].iter_mut().for_each(|page| *page = page.or(Some(0)));
                }
                Step::Pretouch(pages) => {
                    range.pretouch(pages.start * page_size(), pages.len() * page_size(), 1).unwrap();
                    model[pages].iter_mut().for_each(|page| *page = page.or(Some(0)));
                }
                Step::Uncommit(pages) => {
                    range.uncommit(pages.start * page_size(), pages.len() * page_size()).unwrap();
                    model[pages].fill(None);
                }
                Step::Write(pages, value) => {
                    for page in pages.filter(|&page| model[page].is_some()).collect::<Vec<_>>() {
                        // SAFETY: the page is committed: the kernel agreed with the model after the
                        // last step.
                        unsafe { at(page).write(value) };
                        model[page] = Some(value);
                    }
                }
            }
            prop_assert_eq!(accessible_pages(&range), model.map(|page| page.is_some()));
            for (page, value) in model.iter().enumerate() {
                if let Some(value) = value {
                    // SAFETY: the kernel says that the page is accessible.
                    prop_assert_eq!(unsafe { at(page).read() }, *value);
                }
            }
        }
    }
}
