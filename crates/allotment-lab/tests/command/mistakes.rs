//! What is refused before anything is measured, in one line.

use super::failure;

#[test]
fn mistakes_are_told_in_one_line_before_anything_is_measured() {
    let usage = [
        (&["run", "clokc"][..], "did you mean `clock`?"),
        (&["run", "zzzzzzzzzz"], "see allotment list"),
        (&["run", "clock", "--threads", "0"], "0 threads measure nothing"),
        (
            &["run", "clock", "--threads", "1,99999999999"],
            "99999999999 threads are too many; a process starts at most 4096",
        ),
        (
            &["run", "tlab", "--mode", "malloc", "--threads", "18446744073709551615"],
            "a process starts at most 4096",
        ),
        (&["run", "clock", "--threads", "18446744073709551616"], "--threads"),
        (&["run", "clock", "--reads", "18446744073709551615"], "at most 1000000 work"),
        (&["run", "clock", "--forks", "1001"], "1..=1000"),
        (&["run", "clock", "--iterations", "10001"], "1..=10000"),
        (&["run", "clock", "--warmup-iterations", "10001"], "0..=10000"),
        (&["run", "clock", "--timeout", "25hr"], "longer than a day"),
        (&["run", "clock", "--neighbours", "1025:64m"], "write 1 to 1024"),
        (&["run", "clock", "--neighbours", "1024:8388608t"], "of memory are free"),
        (&["run", "clock", "--param", "size=16"], "the parameters are reads"),
        (&["run", "clock", "--param", "reads=few"], "`few` is not a whole number"),
        (&["run", "clock", "--reads", "0"], "zero reads"),
        (&["run", "tlab-size", "--objects", "1000000000000"], "fewer --objects fit"),
        (&["run", "tlab-size", "--eden", "1m"], "the parameters are objects, size, pretouch, tlab"),
        (
            &["run", "tlab", "--mode", "tlab", "--tlab", "4k", "--refill", "lock"],
            "no chosen mode has the parameter `refill`; the modes that have it are shared",
        ),
        (
            &["run", "tlab", "clock", "--mode", "tlab,tsc", "--param", "young=1m"],
            "the modes that have it are collected",
        ),
        (&["run", "tlab", "--mode", "bare", "--eden", "16384t"], "a smaller --eden or fewer --threads fit"),
        (&["run", "tlab", "--mode", "shared", "--tlab", "3"], "multiples of 8 from 80"),
        (
            &["run", "tlab", "--mode", "shared", "--tlab", "64m", "--size", "64"],
            "128 (an object and 64) to 32m",
        ),
        (&["run", "api", "--mode", "stop", "--mutators", "0"], "no thread to stop"),
        (&["run", "api", "--mode", "collect", "--order", "random"], "not one of sequential, shuffled"),
        (&["run", "api", "--mode", "collect", "--threads", "2"], "measured on one thread"),
        (&["run", "storm", "--mutators", "0"], "no thread begins"),
        (
            &["run", "extremem", "--workload", "CustomerPeriod=5"],
            "CustomerPeriod: `5` is not a time; write a whole number and ms, s, m, h or d",
        ),
        (&["run", "extremem", "--workload", "NumCustomer=5"], "did you mean `NumCustomers`?"),
        (&["run", "extremem", "--workload", "PhasedUpdates=false"], "only the mode PhasedUpdates"),
        (&["run", "graph", "--live", "900g"], "of memory, and there are "),
        (&["run", "lists", "--nodes", "100000000000"], "of memory, and there are "),
        (&["run", "trees", "--heap", "900t"], "of memory, and there are "),
        (&["run", "store", "--collector", "parallel", "--heap", "900t"], "of memory, and there are "),
        (&["run", "weak", "--heap", "900t"], "of memory, and there are "),
        (&["run", "options", "--heap", "30t"], "of memory, and there are "),
        (&["run", "storm", "--heap", "900t"], "of memory, and there are "),
        (
            &["run", "cache", "--set", "16g", "--threads", "4096", "--share", "per-thread"],
            "a smaller --set or fewer --threads",
        ),
        (&["run", "weak", "--collector", "epsilon"], "never clears"),
        (&["run", "tlab", "tlab-size", "--size", "17"], "the sizes compiled in are 16, 24"),
        (&["run", "clock", "--mode", "sundial"], "the modes are empty, tsc"),
        (&["run", "clock", "--time", "soon"], "not a time"),
        (&["run", "clock", "--itterations", "1"], "--iterations"),
        (&["run", "clock", "--baseline", "fast"], "mode=NAME"),
        (&["run", "clock", "--mode", "tcs"], "did you mean `tsc`? the modes are empty"),
        (&["run", "clock", "--param", "raeds=64"], "did you mean `reads`? the parameters are reads"),
        (&["run", "clock", "--param", "mode=tsc"], "write --mode"),
        (&["run", "clock", "--raeds", "64"], "--reads"),
        (&["run", "tlab", "--size", "16,17"], "nothing is left to measure with size 17: objects of 17 bytes"),
        (&["run", "weak", "--collector", "paralel"], "did you mean `parallel`?"),
        (&["run", "tlab", "--jvm-collector", "paralel"], "`paralel` is not a collector of a JVM"),
        (&["run", "clock", "--baseline", "mode=sundial"], "has that; mode is empty, tsc, coarse, monotonic"),
        (&["run", "clock", "--baseline", "mode=tcs"], "did you mean `tsc`? mode is empty"),
        (
            &["run", "clock", "--mode", "tsc", "--baseline", "mode=empty"],
            "no case of this run has that; mode is tsc",
        ),
        (
            &["run", "clock", "--reads", "64", "--baseline", "reads=1"],
            "no case of this run has that; reads is 64",
        ),
        (&["run", "clock", "--baseline", "reads=few"], "`few` is not a whole number"),
        (
            &["run", "clock", "--baseline", "raeds=64"],
            "did you mean `reads`? clock can be compared by mode, threads, reads",
        ),
        (
            &["run", "clock", "--threads", "1", "--baseline", "threads=2"],
            "no case of this run has that; threads is 1",
        ),
        (&["run", "clock", "--baseline", "threads=two"], "`two` is not a number of threads"),
        (&["run", "clock", "--baseline", "neighbours=none"], "no case of this run has neighbours"),
        (
            &["run", "clock", "--neighbours=1:1m", "--baseline", "neighbours=2:1m"],
            "neighbours is none, 1:1m:random",
        ),
        (&["run", "clock", "--baseline", "jvm=none"], "no JVM measures in this run"),
        (&["run", "clock", "weak", "--baseline", "collector=epsilon"], "has that; collector is "),
        (&["run", "clock", "--time", "-5"], "`-5` is not a time"),
        (&["run", "clock", "--time", "-5ms"], "`-5ms` is not a time"),
        (&["run", "clock", "--forks", "-5"], "-5 is not in 1..=1000"),
        (&["run", "clock", "-f", "-5"], "-5 is not in 1..=1000"),
        (&["run", "clock", "--threads", "-5"], "`-5` is not a number of threads"),
        (&["run"], "EXPERIMENT"),
        (&["walk"], "walk"),
        (&[], "no command"),
        (&["run", "clock", "--json", "no.json", "--csv", "./no.json"], "a file each"),
    ];
    for (arguments, hint) in usage {
        let (code, line) = failure(arguments);
        assert_eq!(code, 2, "{line}");
        assert!(line.contains(hint), "{hint}: {line}");
    }
}

#[test]
fn unwritable_files_are_refused_before_anything_is_measured() {
    for (flag, path) in [("--json", "/no/such/directory/r.json"), ("--csv", "/"), ("--json", "/proc/version")]
    {
        let (code, line) = failure(&["run", "clock", flag, path]);
        assert_eq!(code, 1);
        assert!(line.contains(&format!("cannot write `{path}`")) && !line.contains(".allotment-"), "{line}");
    }
}
