//! The name that a user probably meant in place of an unknown one.

/// The name that is most like `written`. `None` if even that name is another word: more than half
/// of it differs, or all of a name of one letter.
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    within(written, names, 2)
}

/// The name that is most like `written`, if at most one of `parts` equal parts of the name differs.
pub fn within<'a>(written: &str, names: impl IntoIterator<Item = &'a str>, parts: usize) -> Option<&'a str> {
    let written = written.trim().to_lowercase();
    let length = written.chars().count();
    let most = |name: &str| name.chars().count() / parts;
    // At least the difference of the lengths differs, so a word that is far longer than any name is
    // compared with none.
    let near = names.into_iter().filter(|name| name.chars().count().abs_diff(length) <= most(name));
    let distance = |name: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &written);
    let (distance, name) = near.map(|name| (distance(name), name)).min()?;
    (distance <= most(name)).then_some(name)
}

/// ``did you mean `clock`? `` in front of the following text; empty where no name is similar.
pub fn did_you_mean<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(written, names).map_or(String::new(), |name| format!("did you mean `{name}`? "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        let names = ["tlab", "cas", "fetch-add"];
        for (written, expected) in [
            ("tlba", Some("tlab")),
            ("TLAB", Some("tlab")),
            (" cass", Some("cas")),
            ("fetchadd", Some("fetch-add")),
            ("sundial", None),
            ("", None),
        ] {
            assert_eq!(nearest(written, names), expected, "{written}");
        }
        assert_eq!(did_you_mean("tlba", names), "did you mean `tlab`? ");
        assert_eq!(did_you_mean("x", ["y"]), "");
    }

    #[test]
    fn a_name_of_any_length_is_compared() {
        assert_eq!(nearest(&"tlab".repeat(1 << 20), ["tlab", "fetch-add"]), None);
        assert_eq!(within("cycels", ["cycles"], 3), Some("cycles"));
        assert_eq!(within("cyc", ["cycles"], 3), None);
    }
}
