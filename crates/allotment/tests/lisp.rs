//! The Lisp of `examples/lisp`: its programs, plain and under the heap's zeal modes, and its
//! messages about wrong programs.
//!
//! The example's modules are compiled into this test and run in its process, so that no other
//! binary need be built before.
#![allow(unreachable_pub, dead_code)]

include!("lisp/modules.rs");

use std::path::PathBuf;

/// A command's output, its complaint, and its exit code.
struct Ran {
    out: String,
    err: String,
    code: u8,
}

fn command(arguments: &[&str], input: &str) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let arguments = arguments.iter().map(ToString::to_string);
    let code = command::command(arguments, &mut input.as_bytes(), &mut out, &mut err);
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Ran { out: text(out), err: text(err), code }
}

fn programs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/lisp/programs")
}

/// Runs a program of the repository, which must print the text of the file beside it.
fn check(program: &str, arguments: &[&str]) {
    let file = programs().join(program).with_extension("lisp");
    let expected = std::fs::read_to_string(file.with_extension("out")).expect("its output stands beside it");
    let arguments: Vec<&str> = arguments.iter().copied().chain(file.to_str()).collect();
    let Ran { out, err, code } = command(&arguments, "");
    assert_eq!((&*err, code), ("", 0), "{program} {arguments:?}");
    assert_eq!(out, expected, "{program} {arguments:?}");
}

/// Runs a text as a file of that name in a directory of its own. The file's name is removed from
/// the complaint.
fn run(text: &str, arguments: &[&str]) -> Ran {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("program.lisp");
    std::fs::write(&file, text).expect("written");
    let file = file.to_str().expect("text");
    let mut ran = command(&[arguments, &[file]].concat(), "");
    ran.err = ran.err.replace(file, "program.lisp");
    ran
}

/// Each program with the interval, in allocations, that gives it some hundred collections.
const PROGRAMS: [(&str, u32); 14] = [
    ("ackermann", 1000),
    ("closures", 1),
    ("deriv", 500),
    ("destruct", 100),
    ("mandelbrot", 500),
    ("metacircular", 700),
    ("nqueens", 200),
    ("sieve", 200),
    ("sorting", 2000),
    ("streams", 500),
    ("strings", 50),
    ("tables", 200),
    ("tailcalls", 20000),
    ("tak", 300),
];

#[test]
fn every_program_is_tested() {
    let mut files: Vec<String> = std::fs::read_dir(programs())
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "lisp"))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    files.sort();
    assert_eq!(files, PROGRAMS.map(|(name, _)| name));
}

#[test]
fn programs_print_what_another_lisp_prints() {
    for (program, _) in PROGRAMS {
        check(program, &[]);
    }
}

#[test]
fn programs_print_the_same_in_the_smallest_heap() {
    for (program, _) in PROGRAMS {
        check(program, &["--heap", "8m"]);
    }
}

/// Runs every program with options that make the heap do its worst.
fn zealously(options: &str, every: u32) {
    for (program, interval) in PROGRAMS {
        check(
            program,
            &["--heap", "32m", "--options", &format!("ZealInterval={},{options}", interval * every)],
        );
    }
}

#[test]
fn programs_do_not_notice_that_everything_moves() {
    zealously("+ZealMove", 1);
}

#[test]
fn programs_look_at_nothing_that_was_freed() {
    zealously("+ZealPoison,+ZealMove,ZealQuarantine=2", 1);
    zealously("+ZealProtect", 5);
}

#[test]
fn programs_run_beside_the_concurrent_collector() {
    for (program, _) in PROGRAMS {
        check(program, &["--heap", "16m", "--options", "Collector=shenandoah"]);
    }
    zealously("Collector=shenandoah,+ZealMove,+ZealPoison", 1);
    zealously("Collector=shenandoah,ZealEvacuationFailure=7,+VerifyAfterGC", 10);
}

#[test]
fn the_heap_is_whole_before_and_after_each_collection() {
    zealously("+VerifyBeforeGC,+VerifyAfterGC,VerifyGCLevel=3,+ZealPoison", 10);
}

#[test]
fn collections_may_come_at_any_allocation() {
    let first = std::env::var("ALLOTMENT_STRESS_SEED").unwrap_or_else(|_| "1".into());
    let first: u64 = first.parse().expect("ALLOTMENT_STRESS_SEED is a number");
    for seed in (0..3).map(|round| first.wrapping_add(round) & 0x7fff_ffff) {
        println!("ALLOTMENT_STRESS_SEED={first}: ZealSeed={seed}");
        zealously(&format!("ZealSeed={seed},+ZealMove"), 3);
    }
}

#[test]
fn the_zeal_of_the_command_line() {
    check("closures", &["--zeal", "1"]);
    check("strings", &["--zeal"]);
}

#[test]
fn faults_say_what_and_where() {
    for (text, expected) in [
        ("(display 1)\n(foo)", "program.lisp:2: the variable foo has no value"),
        ("\n\n(car 5)", "program.lisp:3: car: needs a pair, but was given an integer"),
        (
            "(define (f x)\n  (+ x\n     (vector-ref x 1)))\n(f 5)",
            "program.lisp:3: vector-ref: needs a vector, but was given an integer",
        ),
        (
            "(vector-ref (vector 1 2)\n 2)",
            "program.lisp:1: vector-ref: the vector has 2 elements, and none with index 2",
        ),
        ("(define (f x) x)\n(f 1 2)", "program.lisp:2: f takes 1 arguments and was given 2"),
        ("(define (f x . r) x)\n(f)", "program.lisp:2: f takes 1 or more arguments and was given 0"),
        ("(cons 1)", "program.lisp:1: cons takes 2 arguments and was given 1"),
        ("(substring \"a\")", "program.lisp:1: substring takes 2 to 3 arguments and was given 1"),
        ("(5 6)", "program.lisp:1: 5 is an integer, not a procedure: it cannot be called"),
        (
            "(* 30000000 30000000\n 1000)",
            "program.lisp:1: *: integer overflow: the result has more than 56 bits",
        ),
        ("(quotient 1 0)", "program.lisp:1: quotient: division by zero"),
        ("(+ 1 'a)", "program.lisp:1: +: needs numbers, but was given a symbol"),
        ("(error \"no such thing:\" 'x \"y\")", "program.lisp:1: no such thing: x \"y\""),
        ("\n(assert (= 1 2))", "program.lisp:2: assertion failed: (= 1 2)"),
        ("(letrec ((a b) (b 1)) a)", "program.lisp:1: the variable b has no value"),
        ("(set! nowhere 1)", "program.lisp:1: the variable nowhere has no value"),
        // Syntax.
        ("(display\n  (+ 1 2)", "program.lisp:2: the text ends within what begins in line 1"),
        ("\n\"abc", "program.lisp:2: the text ends within the string that begins in line 2"),
        ("1\n2)", "program.lisp:2: this ) closes nothing"),
        ("(1 . 2 3)", "program.lisp:1: exactly one element follows the dot of a list"),
        ("(. 2)", "program.lisp:1: a dot is allowed only before the last element of a list"),
        ("'", "program.lisp:1: the text ends within what begins in line 1"),
        ("(')", "program.lisp:1: nothing follows the quote"),
        ("\"\\q\"", "program.lisp:1: \\q is not an escape: \\n, \\t, \\\" and \\\\ are"),
        ("#\\abc", "program.lisp:1: no character is called #\\abc"),
        ("#q", "program.lisp:1: #q means nothing"),
        (
            "99999999999999999",
            "program.lisp:1: the integer 99999999999999999 is too large: integers have 56 bits",
        ),
        ("()", "program.lisp:1: () is not an expression: the empty list is '()"),
        ("(f . x)", "program.lisp:1: a call is a list without a dot"),
        ("(if)", "program.lisp:1: if needs at least 2 parts and has 0"),
        ("\n(let ((x)) x)", "program.lisp:2: a variable is bound as (name expression)"),
        ("(let* ((x 1) . 2) x)", "program.lisp:1: bindings are a list: ((name expression) ...)"),
        ("(cond ())", "program.lisp:1: cond: a clause is (test expression ...)"),
        ("(case 1 2)", "program.lisp:1: case: a clause is ((datum ...) expression ...)"),
        ("(lambda (1) 1)", "program.lisp:1: a variable's name is a symbol, not an integer"),
        ("(define if 1)", "program.lisp:1: if is a special form and cannot be defined"),
        (
            "(if #t (begin (define x 1)))\n(lambda () (if #t (define y 1)))",
            "program.lisp:2: define is allowed outside of functions or in a body, not in another form",
        ),
    ] {
        let Ran { err, code, .. } = run(text, &[]);
        assert_eq!((err.trim_end(), code), (expected, 1), "{text}");
    }
}

#[test]
fn expressions_mean_what_they_mean_in_scheme() {
    for (text, expected) in [
        ("`(1 ,(+ 1 1) ,@(list 3 4) . ,(+ 2 3))", "(1 2 3 4 . 5)"),
        ("`#(1 ,(+ 1 1) ,@(list 3))", "#(1 2 3)"),
        ("`(a `(b ,(c ,(+ 1 2))))", "(a (quasiquote (b (unquote (c 3)))))"),
        ("`(,@'() . x)", "x"),
        ("`((,@(list 1) 2) ,(car '(3)))", "((1 2) 3)"),
        ("(cond ((assv 2 '((1 . a) (2 . b))) => cdr) (else 'none))", "b"),
        ("(cond (#f 1) (7))", "7"),
        ("((lambda () (cond (#f 1) (7))))", "7"),
        ("(list (and) (or) (and 1 2) (or #f 3) (and #f (car '())))", "(#t #f 2 3 #f)"),
        ("(case 3 ((1 2) 'low) ((3 4) 'high) (else 'none))", "high"),
        ("(case 'x ((y) 1))", "#<unspecified>"),
        ("(let loop ((i 0) (l '())) (if (< i 3) (loop (+ i 1) (cons i l)) l))", "(2 1 0)"),
        ("(do ((i 0 (+ i 1)) (l '() (cons i l))) ((= i 3) 'ignored l))", "(2 1 0)"),
        ("(let* ((x 1) (y (+ x 1))) (list x y))", "(1 2)"),
        ("(apply max 1 2 '(5 3))", "5"),
        ("(map + '(1 2 3) '(10 20 30))", "(11 22 33)"),
        ("(list (quotient -7 2) (remainder -7 2) (modulo -7 2))", "(-3 -1 1)"),
        (
            "(list (/ 6 3) (/ 1 2) (sqrt 16) (expt 2 10) (round 2.5) (exact->inexact 1))",
            "(2 0.5 4 1024 2.0 1.0)",
        ),
        (
            "(list (equal? '(1 #(2 \"x\")) (list 1 (vector 2 \"x\"))) (eqv? 1.5 1.5) (eq? '() '()))",
            "(#t #t #t)",
        ),
        ("(vector-map (lambda (x) (* x x)) #(1 2 3))", "#(1 4 9)"),
        ("(fold-right cons '() '(1 2 3))", "(1 2 3)"),
        (
            "(let ((p (open-input-string \"one\\ntwo\"))) (list (read-line p) (read-char p) (read-line p) (eof-object? (read-line p))))",
            "(\"one\" #\\t \"wo\" #t)",
        ),
        ("(list #\\( '|a| -5 +7 '- '... .5 -1.5e3)", "(#\\( |a| -5 7 - ... 0.5 -1500.0)"),
        ("(string->list \"a(;b\")", "(#\\a #\\( #\\; #\\b)"),
        ("car", "#<procedure>"),
        ("(let ((square (lambda (x) x))) square)", "#<procedure square>"),
    ] {
        let Ran { out, err, .. } = run(&format!("(write {text})"), &[]);
        assert_eq!((&*out, &*err), (expected, ""), "{text}");
    }
}

#[test]
fn what_was_printed_before_a_fault_is_not_lost() {
    let Ran { out, code, .. } = run("(display 'before)\n(car 1)", &[]);
    assert_eq!((&*out, code), ("before", 1));
}

#[test]
fn out_of_memory_is_a_fault_with_its_line() {
    let text = "(define (grow l)\n  (grow (cons (make-vector 100 0) l)))\n(grow '())";
    let Ran { err, code, .. } = run(text, &["--heap", "8m"]);
    assert!(err.starts_with("program.lisp:2: ") && err.contains("out of memory"), "{err}");
    assert_eq!(code, 1);
    let Ran { err, .. } = run("(make-vector 1000000000000 0)", &["--heap", "8m"]);
    assert!(err.starts_with("program.lisp:1: make-vector: ") && err.contains("out of memory"), "{err}");
}

#[test]
fn out_of_memory_at_any_allocation_is_a_fault() {
    let text = "(define (f l) (map (lambda (x) (string-append x \"!\")) l))
        (define t (make-hash-table))
        (hash-table-set! t (f (list \"a\" \"b\")) (vector 1.5 (open-output-string)))
        (write (hash-table->alist t))";
    let mut faults = 0;
    for allocation in (1..).step_by(61) {
        let Ran { out, err, code } =
            run(text, &["--heap", "8m", "--options", &format!("ZealOutOfMemory={allocation}")]);
        if code == 0 {
            assert_eq!((&*out, &*err), ("(((\"a!\" \"b!\") . #(1.5 #<port>)))", ""));
            break;
        }
        assert!(err.contains("out of memory"), "{allocation}: {err}");
        faults += 1;
    }
    assert!(faults > 20, "{faults}");
}

#[test]
fn nothing_overflows_the_stack_of_rust() {
    let Ran { err, code, .. } = run("(define (f n) (+ 1 (f n)))\n(f 1)", &[]);
    assert_eq!((err.trim_end(), code), ("program.lisp:1: recursion is too deep", 1));
    // A list a million deep: made, compared and printed.
    let deep = "(define (nest n l) (if (= n 0) l (nest (- n 1) (list l))))
        (define a (nest 1000000 '()))
        (write (equal? a (nest 1000000 '())))
        (write (string-length (with-output-to-string (lambda () (write a)))))";
    let Ran { out, err, .. } = run(deep, &[]);
    assert_eq!((&*out, &*err), ("#t2000002", ""));
    // Text that is nested as deep can be read, but not compiled.
    let text = format!("{}1{}", "(+ ".repeat(100_000), ")".repeat(100_000));
    assert!(run(&text, &[]).err.contains("nested more than"));
    let text = format!("(write (length '{}1{}))", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(run(&text, &[]).out, "1");
    let template = format!("(write (length `({})))", ",1 ".repeat(100_000));
    assert_eq!(run(&template, &[]).out, "100000");
    let template = format!("`{}1{}", "(,2 ".repeat(100_000), ")".repeat(100_000));
    assert!(run(&template, &[]).err.contains("nested more than"));
    // Structures that contain themselves.
    for text in
        ["(define l (list 1)) (set-cdr! l l) (write l)", "(define l (list 1)) (set-cdr! l l) (apply + l)"]
    {
        let Ran { err, code, .. } = run(text, &[]);
        assert!(err.contains("too long") && code == 1, "{err}");
    }
}

#[test]
fn the_command_line() {
    let Ran { err, code, .. } = command(&["/nowhere/a.lisp"], "");
    assert_eq!((&*err, code), ("/nowhere/a.lisp: No such file or directory (os error 2)\n", 1));
    for (arguments, expected) in [
        (&["--heap", "much"][..], "MaxHeapSize"),
        (&["--heap"], "--heap needs a value"),
        (&["--options", "NoSuchOption=1"], "NoSuchOption"),
        (&["--frobnicate"], "no option --frobnicate"),
    ] {
        let Ran { err, code, .. } = command(arguments, "");
        assert!(err.contains(expected) && code == 1, "{arguments:?}: {err}");
    }
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), b"(display \"\xFF\")").expect("written");
    let Ran { err, code, .. } = command(&[file.path().to_str().expect("text")], "");
    assert!(err.contains("UTF-8") && code == 1, "{err}");
}

#[test]
fn the_prompt_answers_and_survives_faults() {
    let input = "(define (square x)\n  (* x x))\n(square 7)\n(car 1)\n(with-output-to-string (lambda () (car 1)))\n'(a \"b\" #\\c 1.5) (list)\n";
    let Ran { out, err, code } = command(&[], input);
    let expected = "> \u{20} > 49\n> prompt:1: car: needs a pair, but was given an integer\n\
        > prompt:1: car: needs a pair, but was given an integer\n> (a \"b\" #\\c 1.5)\n()\n> \n";
    assert_eq!((&*out, &*err, code), (expected, "", 0));
}
