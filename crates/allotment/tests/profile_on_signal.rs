//! The example `profile_on_signal`, in a process of its own: it catches a signal.

#[path = "../examples/profile_on_signal.rs"]
mod example;

use allotment::{Heap, NewStr, alloc};
use signal_hook::consts::SIGUSR2;
use signal_hook::low_level::raise;
use std::error::Error;
use std::time::{Duration, Instant};

#[test]
fn a_signal_has_a_profile_written_and_a_failure_leaves_the_program_alone() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (place, file) = (folder.path().join("place"), folder.path().join("place/profile.pb.gz"));
    let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    heap.set_allocation_sample_interval(1 << 10);
    let (handle, thread) = example::profile_on(SIGUSR2, &heap, file.clone())?;
    // The folder is not there yet: this one cannot be written.
    raise(SIGUSR2)?;
    std::fs::create_dir(&place)?;
    let end = Instant::now() + Duration::from_secs(60);
    heap.attach(|mu| {
        while !file.exists() {
            assert!(Instant::now() < end, "no profile came");
            raise(SIGUSR2)?;
            for _ in 0..1000 {
                alloc!(mu, NewStr::from("a text that nobody keeps"))?;
            }
        }
        Ok::<(), Box<dyn Error>>(())
    })??;
    handle.close();
    thread.join().expect("profiles were written, or a line said why not");
    assert_eq!(std::fs::read(file)?[..2], [0x1f, 0x8b], "gzip");
    Ok(())
}
