//! The text of an error by `Debug` (from `main`, `unwrap`, `expect`) is the text of `Display`.

use allotment::ForkError;
use allotment::heap::{
    AttachListenerError, BuildError, GeometryError, MemoryError, ResetError, StillAttached,
};
use allotment::raw::{Header, PrefetchError, Shape, ShapeError, Shapes};
use allotment::stats::{Fault, VerifyError, WalkError};
use allotment::{AttachError, Heap, NewSlots, OutOfMemory, WrongHeap, alloc};
use std::error::Error;
use std::path::{Path, PathBuf};

fn alike(error: &dyn Error) {
    assert_eq!(format!("{error:?}"), error.to_string());
    assert_eq!(format!("{error:#?}"), error.to_string());
    assert!(!error.to_string().is_empty());
}

#[test]
fn debug_of_errors_is_what_display_says() {
    let heap = Heap::builder().max_heap_size(16 << 20).build().expect("a heap");
    let option = Heap::builder().options("TLABSiez=64k").expect_err("no such option");
    assert!(format!("{option:?}").starts_with("unknown option TLABSiez"), "{option:?}");
    let built = BuildError::from(option.clone());
    // As `main` prints it.
    let boxed: Box<dyn Error> = built.into();
    assert!(format!("Error: {boxed:?}").starts_with("Error: unknown option TLABSiez"), "{boxed:?}");
    let memory = MemoryError::Alignment { alignment: 3 };
    let out_of_memory: OutOfMemory = heap
        .attach(|mu| alloc!(mu, NewSlots::new(1 << 40, 0_u64)).map(drop).expect_err("too large"))
        .expect("attached");
    let stopped = heap.attach(|_| heap.stop_the_world(|_| ()).expect_err("attached"));
    let attached = StillAttached { threads: 2 };
    let walk = WalkError::NoHeader { address: 8, header: Header::from_bits(0) };
    let shape = Shapes::default().register(Shape::fixed("Empty", 8)).expect_err("too small");
    let errors: [&dyn Error; 21] = [
        &option,
        &*boxed,
        &BuildError::InitialHeap { bytes: 7 },
        &BuildError::AttachListener(AttachListenerError::Thread { source: std::io::Error::other("none") }),
        &BuildError::Memory(MemoryError::Empty { page: 4096 }),
        &memory,
        &out_of_memory,
        &stopped.expect("attached"),
        &attached,
        &ResetError::Attached(attached),
        &ResetError::Rooted { roots: 3 },
        &walk,
        &Fault::Walk { region: 3, error: walk },
        &VerifyError::Broken(Fault::FreeSet("a set".into())),
        &VerifyError::Budget("a sum".into()),
        &shape,
        &ShapeError::Full { name: "A".into() },
        &GeometryError::Region { region: 7 },
        &PrefetchError::Step { step: 7, nearest: 8 },
        &WrongHeap,
        &ForkError::ThreadRan,
    ];
    errors.into_iter().for_each(alike);
    alike(&AttachError::AlreadyAttached);
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Every public error type has its `Debug` from the macro; the list above is complete.
#[test]
fn no_public_error_derives_debug() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut errors = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).expect("text");
        let derived = text.split("thiserror::Error)]").skip(1).filter_map(|rest| {
            let line = rest.lines().find(|line| line.contains("enum ") || line.contains("struct "))?;
            line.strip_prefix("pub enum ").or(line.strip_prefix("pub struct "))
        });
        let by_hand = text.split("impl std::error::Error for ").skip(1);
        for named in derived.chain(by_hand) {
            let name = named.split(|c: char| !c.is_alphanumeric()).next().expect("a name");
            let line = format!("crate::debug::debug_is_display!({name});");
            assert!(text.contains(&line), "{}: {name} needs `{line}`", file.display());
            errors += 1;
        }
    }
    assert!(errors >= 17, "{errors}");
}
