//! The example, built as users build: in release, with its dependencies inlined.

use object::{Object, ObjectSection, ObjectSymbol};
use std::path::PathBuf;
use std::process::Command;

/// A command that builds the example, for the machine of the host if there is no `target`, and the
/// file that comes of it.
fn build(target: Option<&str>) -> (Command, PathBuf) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("fast_path");
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--release", "--package", "allotment", "--example", "fast_path", "--target-dir"])
        .arg(&folder)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("RUSTFLAGS");
    if let Some(target) = target {
        cargo.args(["--target", target]);
    }
    (cargo, folder.join(target.unwrap_or_default()).join("release/examples/fast_path"))
}

fn read((mut cargo, file): (Command, PathBuf)) -> Vec<u8> {
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(file).expect("cargo has built it")
}

/// The example for the machine of the host.
#[cfg(target_arch = "x86_64")]
pub(crate) fn native() -> Vec<u8> {
    read(build(None))
}

/// The example for AArch64. `None` if Rust's library for it or a linker is missing here. That is a
/// failure with `ALLOTMENT_REQUIRE_AARCH64=1`, as `.ci/run` sets it.
pub(crate) fn aarch64() -> Option<Vec<u8>> {
    const TARGET: &str = "aarch64-unknown-linux-gnu";
    const LINKER: &str = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER";
    let (mut cargo, file) = build(Some(TARGET));
    if cfg!(not(target_arch = "aarch64")) {
        let linker = std::env::var(LINKER).unwrap_or_else(|_| "aarch64-linux-gnu-gcc".into());
        let missing = if !has_library(TARGET) {
            Some(format!("Rust's library for it is missing: rustup target add {TARGET}"))
        } else if !Command::new(&linker).arg("--version").output().is_ok_and(|output| output.status.success())
        {
            Some(format!("the linker {linker} is missing: apt-get install gcc-aarch64-linux-gnu"))
        } else {
            None
        };
        if let Some(missing) = missing {
            let required = std::env::var("ALLOTMENT_REQUIRE_AARCH64").is_ok_and(|value| value == "1");
            assert!(!required, "the code for AArch64 cannot be built here: {missing}");
            println!("the code for AArch64 is not checked: {missing}");
            return None;
        }
        cargo.env(LINKER, linker);
    }
    Some(read((cargo, file)))
}

fn has_library(target: &str) -> bool {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let output = Command::new(rustc)
        .args(["--print", "target-libdir", "--target", target])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    output.is_ok_and(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

/// The address and the bytes of a function of the example.
pub(crate) fn function<'e>(example: &'e [u8], name: &str) -> (u64, &'e [u8]) {
    let file = object::File::parse(example).expect("an ELF file");
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name)).expect("the probe is exported");
    let section = file.section_by_index(symbol.section_index().expect("defined")).expect("a section");
    let code =
        section.data_range(symbol.address(), symbol.size()).ok().flatten().expect("inside the section");
    (symbol.address(), code)
}
