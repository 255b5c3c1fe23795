//! The text of an error by `Debug` (from `main`, `unwrap`, `expect`) is the text of `Display`.

use allotment::raw::PrefetchError;
use allotment_jit::{CodeError, EmitError};
use std::error::Error;

fn alike(error: &dyn Error) {
    assert_eq!(format!("{error:?}"), error.to_string());
    assert_eq!(format!("{error:#?}"), error.to_string());
}

#[test]
fn debug_of_errors_is_what_display_says() {
    alike(&EmitError::Prefetch(PrefetchError::Step { step: 7, nearest: 8 }));
    alike(&EmitError::TooLarge { bytes: 1 << 40, max: 1 << 20 });
    alike(&EmitError::Fold(2));
    alike(&EmitError::Nothing);
    alike(&EmitError::TooFar { from: 1, to: 2, within: 1 << 20 });
    alike(&CodeError::Link { name: "f".into(), error: EmitError::Unresolved("a target") });
    let boxed: Box<dyn Error> = EmitError::Unresolved("a target").into();
    assert_eq!(format!("Error: {boxed:?}"), "Error: there is no address for a target");
}

#[cfg(feature = "cranelift")]
#[test]
fn debug_of_cranelifts_errors_is_what_display_says() {
    use allotment_jit::cranelift::{ProgramError, StackMapError};
    let stack_map = StackMapError::OutsideFrame { offset: 8, frame_bytes: 4 };
    alike(&stack_map);
    alike(&ProgramError::StackMap(stack_map));
    alike(&ProgramError::Machine("none"));
}

/// Every public error type has its `Debug` from the macro; the list above is complete.
#[test]
fn no_public_error_derives_debug() {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut errors = 0;
    for folder in [source.clone(), source.join("cranelift"), source.join("x86_64")] {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let file = entry.expect("an entry").path();
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            for rest in text.split("thiserror::Error)]").skip(1) {
                let line = rest.lines().find(|line| line.contains("enum ") || line.contains("struct "));
                let line = line.expect("a type after a derive");
                let Some(named) = line.strip_prefix("pub enum ").or(line.strip_prefix("pub struct ")) else {
                    continue;
                };
                let name = named.split(|c: char| !c.is_alphanumeric()).next().expect("a name");
                let line = format!("crate::debug::debug_is_display!({name});");
                assert!(text.contains(&line), "{}: {name} needs `{line}`", file.display());
                errors += 1;
            }
        }
    }
    assert_eq!(errors, 4);
}
