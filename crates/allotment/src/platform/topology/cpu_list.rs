//! The kernel's notation for sets of CPUs: `0-3,8,10-11`.

/// CPU numbers from here on are invalid: a broken file must not make us fill the memory with
/// a list or a table. The kernel's own bound (`NR_CPUS`) is 8192.
pub(super) const MAX_CPUS: usize = 1 << 16;

/// The numbers of a list, ascending and without repetition; `None` if the text is not such a list.
pub(in super::super) fn parse(text: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || last >= MAX_CPUS {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_are_read_and_nonsense_is_not() {
        for (text, cpus) in [
            ("0\n", Some(vec![0])),
            ("0-3,8,10-11", Some(vec![0, 1, 2, 3, 8, 10, 11])),
            ("4,0-1,1-2", Some(vec![0, 1, 2, 4])),
            ("", Some(vec![])),
            ("3-1", None),
            ("a", None),
            ("0-4294967295", None),
            ("-1", None),
        ] {
            assert_eq!(parse(text), cpus, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_list_survives_being_written(cpus in prop::collection::btree_set(0_usize..300, 0..40)) {
            let text = cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
            prop_assert_eq!(parse(&text), Some(cpus.into_iter().collect()));
        }

        #[test]
        fn no_text_panics(text in "[0-9,\\-a ]{0,40}") {
            let cpus = parse(&text).unwrap_or_default();
            prop_assert!(cpus.is_sorted() && cpus.iter().all(|&cpu| cpu < MAX_CPUS));
        }
    }
}
