//! Lists of options: their forms, what is refused, and which source wins.

use super::*;

#[test]
fn forms_of_lists() {
    let expected = Options {
        tlab_size: 64 << 10,
        resize_tlab: false,
        always_pre_touch: true,
        tlab_policy: TlabPolicy::Shenandoah8359947,
        ..Options::default()
    };
    for list in [
        "TLABSize=64k,-ResizeTLAB,+AlwaysPreTouch,TLABPolicy=shenandoah-8359947",
        "  TLABSize=64K , -ResizeTLAB ,, +AlwaysPreTouch\n TLABPolicy=Shenandoah-8359947,",
        "-XX:TLABSize=65536 -XX:-ResizeTLAB\t-XX:+AlwaysPreTouch -XX:TLABPolicy=shenandoah-8359947",
        "TLABSize=0064k ResizeTLAB=false AlwaysPreTouch=TRUE TLABPolicy=shenandoah-8359947",
        "TLABSize=1m,+ResizeTLAB,TLABSize=64k,-ResizeTLAB,+AlwaysPreTouch,TLABPolicy=shenandoah-8359947",
    ] {
        assert_eq!(finish(list), Ok(expected.clone()), "{list}");
    }
    for nothing in ["", " ", ",", " ,\n, "] {
        assert_eq!(finish(nothing), Ok(Options::default()), "{nothing:?}");
    }
}

#[test]
fn unknown_names_are_refused_with_the_nearest_one() {
    let stranger = "no known option is similar; the manual lists all";
    for (list, message) in [
        ("TLABSiz=64k", "TLABSiz {command line}: did you mean TLABSize?"),
        ("-UseTlab", "UseTlab {command line}: names are case-sensitive, write UseTLAB"),
        ("G1HeapRegionSize=1m", "G1HeapRegionSize {command line}: did you mean RegionSize?"),
        ("TLABDecay=5", "TLABDecay {command line}: did you mean TLABDecayTime?"),
        ("-Nonsense=5", &format!("Nonsense {{command line}}: {stranger}")),
        ("Verbose=1", &format!("Verbose {{command line}}: {stranger}")),
        ("=5", &format!(" {{command line}}: {stranger}")),
        ("-XX:+", &format!(" {{command line}}: {stranger}")),
    ] {
        assert_eq!(refusal(list), format!("unknown option {message}"));
    }
}

#[test]
fn flags_of_the_jvm_are_refused_with_what_they_are_here() {
    for (item, instead) in [
        ("-Xmx64m", "MaxHeapSize=64m"),
        ("-Xmx", "MaxHeapSize=SIZE"),
        ("-Xms1g", "InitialHeapSize=1g"),
        ("-Xmn8m", "NewSize=8m MaxNewSize=8m"),
        ("-Xss1m", "nothing: stacks are those of the program's own threads"),
        ("-Xlog:gc", "+PrintGC"),
        ("-Xlog:gc*:stderr", "+PrintGCDetails"),
        ("-XX:+UseSerialGC", "Collector=mark-compact"),
        ("-XX:+UseParallelGC", "Collector=parallel"),
        ("+UseG1GC", "Collector=parallel, or Collector=shenandoah for short pauses"),
        ("+UseShenandoahGC", "Collector=shenandoah"),
        ("+UseZGC", "Collector=shenandoah ShenandoahGCMode=generational, which is the nearest"),
        ("+UseEpsilonGC", "Collector=epsilon"),
        ("+HeapDumpOnOutOfMemoryError", "SnapshotOnOutOfMemory=DIRECTORY"),
    ] {
        assert_eq!(refusal(item), format!("{item} {{command line}}: a flag of the JVM, write {instead}"));
    }
    assert!(refusal("-UseG1GC").contains("leave it out"));
    assert!(refusal("-XX:UseG1GC").contains("unknown option UseG1GC"));
    assert!(refusal("\u{1f980}UseG1GC").contains("unknown option"));
    // The suggestion is taken.
    for list in ["MaxHeapSize=64m", "InitialHeapSize=1g", "NewSize=8m MaxNewSize=8m", "Collector=epsilon"] {
        assert!(finish(list).is_ok(), "{list}");
    }
}

#[test]
fn items_of_the_wrong_form_are_refused_with_the_right_one() {
    for (item, reason) in [
        ("-TLABSize", "not a switch, write TLABSize=0 (it takes 0 or 64..1g, a multiple of 8)"),
        ("-XX:+TLABDecayTime", "not a switch, write TLABDecayTime=1000 (it takes 1..2147483647)"),
        ("TLABElasticity", "the value is missing, write TLABElasticity=1.1 (it takes 1.0 or more)"),
        ("UseTLAB", "neither on nor off, write +UseTLAB or -UseTLAB"),
        ("-TLABSize=8k", "a sign and a value, write TLABSize=8k"),
    ] {
        assert_eq!(refusal(item), format!("{item} {{command line}}: {reason}"));
    }
}

#[test]
fn values_are_refused_with_the_reason_and_the_range() {
    let no_size = "not a whole number with k, m, g, t or no suffix";
    for (name, value, reason) in [
        ("UseTLAB", "maybe", "neither true nor false, write +UseTLAB or -UseTLAB"),
        ("TLABSize", "", "the value is missing"),
        ("TLABSize", "100", "not a multiple of 8"),
        ("MaxHeapSize", "1.5g", "a size is a whole number, write 1536m"),
        ("MaxHeapSize", "0.5", no_size),
        ("MaxHeapSize", "1.0000001k", no_size),
        ("MaxHeapSize", "+5m", no_size),
        ("MaxHeapSize", "-5m", no_size),
        ("MaxHeapSize", "5mb", no_size),
        ("MaxHeapSize", "\u{1f980}", no_size),
        ("MaxHeapSize", "g", "the value is missing"),
        ("MaxHeapSize", "99999999999g", "too large to be represented"),
        ("MaxHeapSize", "99999999999999999999", "too large to be represented"),
        ("MaxHeapSize", "1024t", "too large"),
        ("MaxHeapSize", "2047k", "too small"),
        ("RegionSize", "768k", "not a power of two"),
        ("TLABAllocationWeight", "3k", "not a whole number in decimal digits"),
        ("TLABDecayTime", "0", "too small"),
        ("TLABElasticity", "inf", "not a finite number"),
        ("MaxRAMPercentage", "25%", "not a number"),
        ("RefillStrategy", "csa", "no such choice, did you mean cas?"),
        ("RefillStrategy", "shenandoah", "no such choice"),
    ] {
        let range = OptionInfo::find(name).unwrap().range();
        assert_eq!(
            refusal(&format!("{name}={value}")),
            format!("{name}={value} {{command line}}: {reason}; {name} takes {range}")
        );
    }
}

#[test]
fn a_refused_list_changes_nothing() {
    let mut set = OptionSet::new();
    assert!(set.apply_str("TLABSize=64k,-UseTLAB,Nonsense=1", Source::CommandLine).is_err());
    assert!(set.rows().all(|row| row.origin == Origin::Default));
    assert_eq!(set.values(), &Options::default());
}

#[test]
fn the_stronger_source_wins_in_any_order() {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let lists = [
        ("TLABSize=16k,MinTLABSize=8k,MaxTLABSize=16m", Source::Builder),
        ("TLABSize=32k,MinTLABSize=4k", Source::Environment),
        ("TLABSize=64k", Source::CommandLine),
    ];
    for order in orders {
        let mut set = OptionSet::new();
        for index in order {
            set.apply_str(lists[index].0, lists[index].1).unwrap();
        }
        let values = [
            (OptionId::TLABSize, "64k", Origin::Given(Source::CommandLine)),
            (OptionId::MinTLABSize, "4k", Origin::Given(Source::Environment)),
            (OptionId::MaxTLABSize, "16m", Origin::Given(Source::Builder)),
            (OptionId::ZeroTLAB, "false", Origin::Default),
        ];
        for (id, value, origin) in values {
            assert_eq!((set.values().text(id).as_str(), set.origin(id)), (value, origin), "{order:?}");
        }
    }
}

#[test]
fn a_value_can_be_taken_back_by_the_same_or_a_stronger_source() {
    let mut set = OptionSet::new();
    set.tlab_decay_time(7);
    set.apply_str("TLABPolicy=hotspot", Source::Environment).unwrap();
    assert!(set.finish().is_err());
    set.apply_str("TLABDecayTime=default", Source::Environment).unwrap();
    assert_eq!(set.origin(OptionId::TLABDecayTime), Origin::Default);
    assert_eq!(set.finish().unwrap().tlab_decay_time, 1000);
    set.tlab_decay_time(8);
    assert_eq!(set.values().tlab_decay_time, 1000, "the environment has decided");
    set.apply_str("TLABDecayTime=9", Source::CommandLine).unwrap();
    set.apply_str("TLABDecayTime=default", Source::Environment).unwrap();
    assert_eq!(set.values().tlab_decay_time, 9, "the environment is the weaker one");
}

#[test]
fn what_the_heap_chose_is_ergonomic() {
    let mut set = OptionSet::new();
    set.apply_str("MaxHeapSize=0,TLABSize=1g", Source::Environment).unwrap();
    let mut chosen = set.finish().unwrap();
    (chosen.max_heap_size, chosen.tlab_size) = (1 << 30, 512 << 10);
    set.resolve(&chosen);
    assert_eq!(set.values(), &chosen);
    for row in set.rows() {
        let changed = matches!(row.info.id, OptionId::MaxHeapSize | OptionId::TLABSize);
        assert_eq!(
            row.origin,
            if changed { Origin::Ergonomic } else { Origin::Default },
            "{}",
            row.info.name
        );
    }
}

/// Runs itself again with the variable set, because a process with threads cannot set its own.
#[test]
fn the_environment_is_read() {
    const MARK: &str = "ALLOTMENT_TEST_OF_ENVIRONMENT";
    if std::env::var_os(MARK).is_some() {
        let mut set = OptionSet::new();
        let applied = set.apply_environment();
        println!(
            "<{}>",
            applied.map_or_else(|error| error.to_string(), |()| set.values().text(OptionId::TLABSize))
        );
        return;
    }
    use std::os::unix::ffi::OsStrExt;
    let run = |value: &[u8]| {
        let output = crate::own_program()
            .args(["--exact", "options::tests::lists::the_environment_is_read", "--nocapture"])
            .env(MARK, "1")
            .env(ENVIRONMENT_VARIABLE, std::ffi::OsStr::from_bytes(value))
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.split_once('<').unwrap().1.split_once('>').unwrap().0.to_owned()
    };
    assert_eq!(run(b"TLABSize=48k"), "48k");
    assert_eq!(run(b""), "0");
    assert_eq!(run(b"TLABSize"), refusal("TLABSize").replace("command line", "environment"));
    assert_eq!(run(b"TLABSize=\xff"), "ALLOTMENT_OPTIONS is not valid UTF-8: TLABSize=\u{fffd}");
}
