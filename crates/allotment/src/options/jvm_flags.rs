//! Flags of a JVM that have another form here, and the options to write instead.
//!
//! People bring the flags that they know: `-Xmx64m`, `+UseG1GC`. Options with HotSpot's own names
//! need no entry: the option table has them. An entry here is a flag of another form, or one of the
//! switches by which a JVM chooses its collector.
//!
//! Refused: to accept these flags. Scripts and logs would then have two notations for one option,
//! and the switches of collectors can contradict each other.

/// Flags that a size follows, and the options that mean the flag here.
const SIZES: [(&str, &[&str]); 3] =
    [("-Xmx", &["MaxHeapSize"]), ("-Xms", &["InitialHeapSize"]), ("-Xmn", &["NewSize", "MaxNewSize"])];

/// Switches of a JVM, and the options to write instead.
const SWITCHES: [(&str, &str); 8] = [
    ("UseSerialGC", "Collector=mark-compact"),
    ("UseParallelGC", "Collector=parallel"),
    ("UseParallelOldGC", "Collector=parallel"),
    ("UseG1GC", "Collector=parallel, or Collector=shenandoah for short pauses"),
    ("UseShenandoahGC", "Collector=shenandoah"),
    ("UseZGC", "Collector=shenandoah ShenandoahGCMode=generational, which is the nearest"),
    ("UseEpsilonGC", "Collector=epsilon"),
    ("HeapDumpOnOutOfMemoryError", "SnapshotOnOutOfMemory=DIRECTORY"),
];

/// Beginnings of other flags, and the options to write instead.
const OTHERS: [(&str, &str); 4] = [
    ("-Xlog:gc*", "+PrintGCDetails"),
    ("-Xlog:gc", "+PrintGC"),
    ("-verbose:gc", "+PrintGC"),
    ("-Xss", "nothing: stacks are those of the program's own threads"),
];

/// The fault in `item`, if it is a flag of a JVM that has another form here.
pub(super) fn fault(item: &str) -> Option<String> {
    let write = |instead: &str| Some(format!("a flag of the JVM, write {instead}"));
    if let Some((size, options)) =
        SIZES.iter().find_map(|(flag, options)| Some((item.strip_prefix(flag)?, options)))
    {
        let size = if size.is_empty() { "SIZE" } else { size };
        return write(&options.iter().map(|name| format!("{name}={size}")).collect::<Vec<_>>().join(" "));
    }
    if let Some((_, instead)) = OTHERS.iter().find(|(flag, _)| item.starts_with(flag)) {
        return write(instead);
    }
    let bare = item.strip_prefix("-XX:").unwrap_or(item);
    let (sign, name) = bare.split_at_checked(1)?;
    let (_, instead) = SWITCHES.iter().find(|(switch, _)| *switch == name)?;
    match sign {
        "+" => write(instead),
        "-" => Some(
            "a flag of the JVM, leave it out: it is off here unless another option chooses it".to_owned(),
        ),
        _ => None,
    }
}
