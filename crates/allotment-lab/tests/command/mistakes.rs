//! What is refused before anything is measured, in one line.

use super::failure;

#[test]
fn mistakes_are_told_in_one_line_before_anything_is_measured() {
    let usage = [
        (&["run", "clokc"][..], "did you mean `clock`?"),
        (&["run", "zzzzzzzzzz"], "see allotment list"),
        (&["run", "clock", "--threads", "0"], "zero threads"),
        (
            &["run", "clock", "--threads", "1,99999999999"],
            "99999999999 threads: at most 4096 threads are started",
        ),
        (&["run", "tlab", "--mode", "malloc", "--threads", "18446744073709551615"], "at most 4096 threads"),
        (&["run", "clock", "--threads", "18446744073709551616"], "--threads"),
        (&["run", "clock", "--reads", "18446744073709551615"], "at most 1000000 work"),
        (&["run", "clock", "--forks", "1001"], "1..=1000"),
        (&["run", "clock", "--iterations", "10001"], "1..=10000"),
        (&["run", "clock", "--warmup-iterations", "10001"], "0..=10000"),
        (&["run", "clock", "--timeout", "25hr"], "longer than a day"),
        (&["run", "clock", "--neighbours", "1025:64m"], "1 to 1024 walk"),
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
        (&["run", "api", "--mode", "stop", "--mutators", "0"], "nobody to stop"),
        (&["run", "api", "--mode", "collect", "--order", "random"], "none of sequential, shuffled"),
        (&["run", "api", "--mode", "collect", "--threads", "2"], "one thread at a time"),
        (&["run", "storm", "--mutators", "0"], "nobody begins"),
        (&["run", "weak", "--collector", "epsilon"], "never clears"),
        (&["run", "tlab", "tlab-size", "--size", "17"], "the sizes compiled in are 16, 24"),
        (&["run", "clock", "--mode", "sundial"], "the modes are empty, tsc"),
        (&["run", "clock", "--time", "soon"], "not a time"),
        (&["run", "clock", "--itterations", "1"], "--iterations"),
        (&["run", "clock", "--baseline", "fast"], "mode=NAME"),
        (&["run"], "EXPERIMENT"),
        (&["walk"], "walk"),
        (&[], "no command"),
        (&["run", "clock", "--json", "/dev/null", "--csv", "/dev/null"], "a file each"),
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
