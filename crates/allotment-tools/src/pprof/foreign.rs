//! Profiles in other forms, which people take for pprof's: the kind of a file, and advice.

/// A file in another form.
pub(super) struct Foreign {
    /// Its kind.
    pub(super) is: &'static str,
    /// The advice to the user.
    pub(super) hint: &'static str,
}

/// The advice where `go tool pprof` reads the form.
const CONVERT: &str = "convert it: `go tool pprof -proto -output=profile.pb.gz PROGRAM FILE`";

/// The most lines that are looked at to find out a form.
const MOST_LINES: usize = 20;

/// The kind of a file that begins as no profile of pprof does; `None` if it is not known.
pub(super) fn foreign(bytes: &[u8]) -> Option<Foreign> {
    let is = |is, hint| Some(Foreign { is, hint });
    // The word that begins the binary form of gperftools, and the four that follow.
    if bytes.starts_with(&[0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]) {
        return is("a CPU profile of gperftools", CONVERT);
    }
    if bytes.starts_with(b"PERFILE2") {
        return is("a recording of perf", "name a profile in pprof's form");
    }
    if bytes.starts_with(b"JAVA PROFILE 1.") {
        return is("a heap dump", "`allotment heap` reads it");
    }
    let head = &bytes[..bytes.len().min(1 << 16)];
    let first = head.utf8_chunks().next()?;
    // The last character may be cut.
    let text = (first.valid().len() + first.invalid().len() == head.len()).then_some(first.valid())?;
    let start = text.trim_start();
    let first = start.lines().next()?;
    if first.starts_with("heap_v2/") {
        let hint =
            "let the program write it in pprof's form (crate `jemalloc_pprof`), or read it with `jeprof`";
        return is("a heap profile of jemalloc as text", hint);
    }
    if first.starts_with("heap profile:") {
        // `@ heap/1048576` is Go's; gperftools has `@ heapprofile` or `@ heap_v2/524288`.
        let is_go = first.rsplit_once("@ ").is_some_and(|(_, form)| form.starts_with("heap/"));
        if is_go {
            return is("a heap profile of Go as text", "fetch it without `debug=1`");
        }
        return is("a heap profile of gperftools as text", CONVERT);
    }
    let is_count = |first: &str| {
        let (what, rest) = first.split_once(" profile: total ").unwrap_or_default();
        !what.is_empty() && rest.starts_with(|char: char| char.is_ascii_digit())
    };
    if is_count(first) || first.starts_with("--- ") {
        return is("a profile of Go as text", "fetch it without `debug=1`");
    }
    if start.starts_with('{') || start.starts_with('[') {
        let is_snapshot = start.starts_with("{\"snapshot\"");
        let hint = if is_snapshot { "`allotment heap` reads it" } else { "name a profile in pprof's form" };
        return is(if is_snapshot { "a heap snapshot" } else { "JSON" }, hint);
    }
    if start.starts_with('<') {
        return is("an HTML page or an SVG picture", "name the profile that it was made of");
    }
    // The last line may be cut.
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(MOST_LINES).collect();
    let folded = |line: &&str| {
        let parts = line.trim_end().rsplit_once(' ');
        parts.is_some_and(|(stack, value)| !stack.is_empty() && value.parse::<f64>().is_ok())
    };
    let whole = &lines[..lines.len() - usize::from(lines.len() > 1 && lines.len() < MOST_LINES)];
    if whole.iter().all(folded) && lines.iter().any(|line| line.contains(';')) {
        return is(
            "folded stacks as text",
            "they do not say what they count: name the profile that they were made of, or open them in Speedscope",
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::foreign;

    fn kind(bytes: &[u8]) -> Option<&'static str> {
        foreign(bytes).map(|foreign| foreign.is)
    }

    #[test]
    fn other_forms_are_named_and_pprofs_is_not() {
        for (bytes, is) in [
            ("heap profile: 3: 3072 [9: 9216] @ heap/1048576\n1: 1024", "a heap profile of Go as text"),
            ("heap profile:   1:  2 [ 3: 4] @ heapprofile\n", "a heap profile of gperftools as text"),
            ("heap profile:   1:  2 [ 3: 4] @ heap_v2/524288\n", "a heap profile of gperftools as text"),
            ("heap_v2/524288\n  t*: 28106: 56637512 [0: 0]\n", "a heap profile of jemalloc as text"),
            ("goroutine profile: total 4\n1 @ 0x1\n", "a profile of Go as text"),
            ("--- mutex:\ncycles/second=1\n", "a profile of Go as text"),
            ("main;serve;read 17\nmain;serve 3\n", "folded stacks as text"),
            ("main 4\nmain;serve a b 17.5\nmain;cu", "folded stacks as text"),
            ("{\"snapshot\":{", "a heap snapshot"),
            ("{\"shared\":{", "JSON"),
            ("<!doctype html>", "an HTML page or an SVG picture"),
            ("PERFILE2h\0", "a recording of perf"),
            ("JAVA PROFILE 1.0.2\0", "a heap dump"),
        ] {
            assert_eq!(kind(bytes.as_bytes()), Some(is), "{bytes}");
        }
        let cpu = [0_u64, 3, 0, 10_000, 0].map(u64::to_le_bytes).concat();
        assert_eq!(kind(&cpu).unwrap(), "a CPU profile of gperftools");
        for other in ["no profile", "", "\n", "text of three\nlines;\n", "\n\u{4}\u{8}\u{1}\u{10}\u{2}"] {
            assert_eq!(kind(other.as_bytes()), None, "{other}");
        }
        for profile in ["small.pb", "lisp.pb.gz"] {
            let path = format!("{}/../../fuzz/seeds/profiles/{profile}", env!("CARGO_MANIFEST_DIR"));
            if let Ok(bytes) = std::fs::read(path) {
                assert_eq!(kind(&bytes), None, "{profile}");
            }
        }
    }
}
