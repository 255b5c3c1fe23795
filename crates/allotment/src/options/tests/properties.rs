//! Reading and printing are inverse, limits are exact, and no text makes a reader panic.

use proptest::prelude::*;

use super::*;
use crate::options::choices::Named;
use crate::options::kinds::{ValueKind, format_size};

/// Texts of values that an option takes, among them both ends of its range.
fn taken(info: &'static OptionInfo) -> BoxedStrategy<String> {
    match info.kind {
        OptionKind::Switch(_) => any::<bool>().prop_map(|on| on.to_string()).boxed(),
        OptionKind::Size(Size { or_zero, min, max, granule }) => {
            let within = prop_oneof![
                Just(min),
                Just(max),
                min..=max,
                (min.max(1).ilog2()..=max.ilog2()).prop_map(|n| 1 << n)
            ];
            let rounded = within.prop_map(move |size| match granule {
                Granule::Byte => size,
                Granule::Multiple(bytes) => size / bytes * bytes,
                Granule::PowerOfTwo => 1 << size.ilog2(),
            });
            let rounded = rounded.prop_map(move |size| size.clamp(min, max));
            let zero = if or_zero { Just(0).boxed() } else { Just(min).boxed() };
            prop_oneof![1 => zero, 9 => rounded].prop_map(format_size).boxed()
        }
        OptionKind::Count(Count { min, max }) => {
            prop_oneof![Just(min), Just(max), min..=max].prop_map(|n| n.to_string()).boxed()
        }
        OptionKind::Milliseconds(Milliseconds { min, max }) => {
            prop_oneof![Just(min), Just(max), min..=max].prop_map(|n| n.to_string()).boxed()
        }
        OptionKind::Real(Real { min, max }) => {
            prop_oneof![Just(min), Just(max), min..=max].prop_map(|x| format!("{x:?}")).boxed()
        }
        OptionKind::Choice(Choice { names }) => {
            proptest::sample::select(names).prop_map(|(name, _)| name.to_owned()).boxed()
        }
        OptionKind::Path(_) => "[a-z/.=+-]{0,20}".boxed(),
    }
}

/// Texts of values just outside the range of an option; `None` where every value is inside.
fn refused(info: &OptionInfo) -> Option<Vec<String>> {
    Some(match info.kind {
        OptionKind::Switch(_) => return None,
        OptionKind::Path(_) => vec!["with\0zero".to_owned()],
        OptionKind::Choice(_) => vec!["no-such-thing".to_owned()],
        OptionKind::Size(Size { min, max, .. }) => {
            let below = (min > 1).then(|| format_size(min - 1));
            below.into_iter().chain([format_size(max + 1)]).collect()
        }
        OptionKind::Count(Count { min, max }) => {
            let below = (min > 0).then(|| (min - 1).to_string());
            below.into_iter().chain([(max + 1).to_string()]).collect()
        }
        OptionKind::Milliseconds(Milliseconds { min, max }) => {
            let below = (min > 0).then(|| (min - 1).to_string());
            below.into_iter().chain([(max + 1).to_string()]).collect()
        }
        OptionKind::Real(Real { min, max }) => {
            vec![format!("{:?}", min.next_down()), format!("{:?}", max.next_up()), "-1".into(), "NaN".into()]
        }
    })
}

fn any_option() -> impl Strategy<Value = &'static OptionInfo> {
    (0..OPTIONS.len()).prop_map(|index| &OPTIONS[index])
}

#[test]
fn just_outside_the_range_is_refused() {
    let mut seen = 0;
    for info in OPTIONS {
        for text in refused(info).unwrap_or_default() {
            match OptionSet::new().set(info.name, &text, Source::Builder) {
                Err(OptionError::Value { name, value, range, .. }) => {
                    assert_eq!((name, value, range), (info.name, text, info.range()));
                }
                other => panic!("{}={text}: {other:?}", info.name),
            }
            seen += 1;
        }
    }
    assert!(seen > OPTIONS.len());
}

#[test]
fn choices_read_what_they_print() {
    for policy in TlabPolicy::ALL {
        let kind = Choice { names: TlabPolicy::NAMES };
        assert_eq!(kind.parse(&policy.name().to_ascii_uppercase()), Ok(*policy));
    }
    assert_eq!(<RefillStrategy as Named>::ALL, RefillStrategy::ALL);
}

proptest! {
    #[test]
    fn what_is_taken_is_printed_the_same(
        (info, text) in any_option().prop_flat_map(|info| (Just(info), taken(info))),
    ) {
        let mut set = OptionSet::new();
        set.set(info.name, &text, Source::Environment).unwrap();
        prop_assert_eq!(set.values().text(info.id), text);
        prop_assert_eq!(set.origin(info.id), Origin::Given(Source::Environment));
        for row in set.rows().filter(|row| row.info.id != info.id) {
            prop_assert_eq!(row.value, row.info.default_text());
        }
    }

    #[test]
    fn sizes_read_what_they_print(mantissa in any::<usize>(), shift in 0_u32..64) {
        let kind = Size { or_zero: true, min: 0, max: usize::MAX, granule: Granule::Byte };
        let bytes = (mantissa >> shift) << (shift / 2);
        let text = format_size(bytes);
        prop_assert_eq!(kind.parse(&text), Ok(bytes));
        prop_assert_eq!(kind.parse(&text.to_ascii_uppercase()), Ok(bytes));
        // The unit is the largest exact one: the number before it has a remainder in the next
        // unit.
        let number: usize = text.trim_end_matches(['k', 'm', 'g', 't']).parse().unwrap();
        prop_assert!(bytes == 0 || text.ends_with('t') || !number.is_multiple_of(1024), "{}", text);
    }

    #[test]
    fn reals_read_what_they_print(value in proptest::num::f64::NORMAL) {
        let kind = Real { min: f64::MIN, max: f64::MAX };
        prop_assert_eq!(kind.parse(&kind.format(value)), Ok(value));
    }

    #[test]
    fn counts_and_durations_read_what_they_print(value in any::<u64>()) {
        let milliseconds = Milliseconds { min: 0, max: u64::MAX };
        prop_assert_eq!(milliseconds.parse(&milliseconds.format(value)), Ok(value));
        let count = Count { min: 0, max: usize::MAX };
        prop_assert_eq!(count.parse(&count.format(value as usize)), Ok(value as usize));
    }

    /// A value read from any list is within the limits, or nothing is read.
    #[test]
    fn any_list_is_taken_within_the_limits_or_refused_whole(
        items in proptest::collection::vec(
            (
                prop_oneof!["", "-XX:", "-XX:\\+", "\\+", "-"],
                any_option(),
                prop_oneof!["", "=\\PC{0,12}", "=[0-9.]{1,22}[kKmMgGtT]?", "=default"],
            ),
            0..5,
        ),
    ) {
        let list: Vec<_> = items
            .iter().map(|(sign, info, value)| [sign, info.name, value].concat()).collect();
        let mut set = OptionSet::new();
        match set.apply_str(&list.join(","), Source::Environment) {
            Ok(()) => for info in OPTIONS {
                prop_assert_eq!(set.values().check(info.id), Ok(()));
            },
            Err(error) => {
                prop_assert!(error.to_string().contains("{environment}"), "{}", error);
                prop_assert_eq!(set.values(), &Options::default());
            }
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(list in "\\PC*") {
        let refused = OptionSet::new().apply_str(&list, Source::CommandLine).is_err();
        // No random text names an option; only separators alone are taken.
        prop_assert_eq!(refused, list.contains(|c: char| c != ',' && !c.is_whitespace()));
    }
}
