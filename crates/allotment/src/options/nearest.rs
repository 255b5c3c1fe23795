//! The search for the known name that a misspelt one probably means.
//!
//! Similarity is the normalised Damerau-Levenshtein distance over lower-case letters, in which
//! swapped neighbours are one mistake.
//!
//! Refused: the Jaro-Winkler measure. It favours a common beginning, and half of the options begin
//! with the same four letters.

/// Least similarity at which a name is suggested, between 0 (nothing in common) and 1 (equal).
const SIMILAR: f64 = 0.6;

/// The name in `known` that is most similar to `name`, the first of equally similar ones; `None` if
/// none is similar.
pub(super) fn nearest(name: &str, known: impl IntoIterator<Item = &'static str>) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let length = name.chars().count();
    // The ratio of the lengths bounds the similarity. This also spares a comparison with a very
    // long name.
    let may_be_similar = |candidate: &&str| {
        let (shorter, longer) = (length.min(candidate.len()), length.max(candidate.len()));
        shorter as f64 >= SIMILAR * longer as f64
    };
    let compared = known.into_iter().filter(may_be_similar).map(|candidate| {
        (strsim::normalized_damerau_levenshtein(&name, &candidate.to_ascii_lowercase()), candidate)
    });
    let similar = compared.filter(|(similarity, _)| *similarity >= SIMILAR);
    similar.min_by(|(one, _), (other, _)| other.total_cmp(one)).map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_the_most_similar_name() {
        let known = ["TLABSize", "MinTLABSize", "MaxTLABSize", "UseTLAB", "TLABPolicy"];
        for (written, meant) in [
            ("TLABSiz", Some("TLABSize")),
            ("TLABSzie", Some("TLABSize")),
            ("tlabsize", Some("TLABSize")),
            ("MixTLABSize", Some("MinTLABSize")),
            ("Policy", Some("TLABPolicy")),
            ("useTLABs", Some("UseTLAB")),
            ("Verbose", None),
            ("", None),
            ("\u{1f980}", None),
        ] {
            assert_eq!(nearest(written, known), meant, "{written}");
        }
    }

    #[test]
    fn a_name_of_any_length_is_compared() {
        assert_eq!(nearest(&"TLABSize".repeat(1 << 20), ["TLABSize", "UseTLAB"]), None);
    }

    #[test]
    fn lengths_that_allow_a_suggestion_are_compared() {
        assert_eq!(nearest("abc", ["abcde"]), Some("abcde"), "3 of 5, the least");
        assert_eq!(nearest("abcde", ["abc"]), Some("abc"));
        assert_eq!(nearest("abc", ["abcdef"]), None);
    }
}
