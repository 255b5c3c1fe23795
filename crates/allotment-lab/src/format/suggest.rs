//! What somebody may have meant who wrote a name that nobody has.

/// The name that is most like `written`; none where even that is another word: more than half of it differs, or all of a
/// name of one letter.
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written = written.trim().to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &written);
    let (distance, name) = names.into_iter().map(|name| (distance(name), name)).min()?;
    (distance <= name.chars().count() / 2).then_some(name)
}

/// ``did you mean `clock`? `` in front of what follows; nothing where no name is like it.
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
}
