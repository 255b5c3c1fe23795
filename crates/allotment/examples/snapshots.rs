//! A server that forgets to end its sessions, and the snapshots that show what holds its memory.
//!
//! `cargo run --release -p allotment --example snapshots` writes `before.heapsnapshot` and
//! `after.heapsnapshot` to the current directory. `docs/snapshots.md` reads them.

use allotment::{Field, Heap, NewStr, Object, alloc, root};
use std::error::Error;

/// A session of a user; `next` is the one that began before it.
#[derive(Object)]
struct Session {
    next: Field<Option<Session>>,
    last: Field<Request>,
    user: u64,
}

/// What a user asked for.
#[derive(Object)]
struct Request {
    path: Field<allotment::Str>,
    at: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let heap = Heap::builder().max_heap_size(64 << 20).build()?;
    heap.attach(|mu| -> Result<(), Box<dyn Error>> {
        root!(mu, path = alloc!(mu, NewStr::from("/index.html"))?);
        root!(mu, mut request = alloc!(mu, NewRequest { path: path.get(mu), at: 0 })?);
        root!(mu, mut sessions = alloc!(mu, NewSession { next: None, last: request.get(mu), user: 0 })?);
        for user in 1..=20_000 {
            let text = format!("/users/{user}");
            let asked = alloc!(mu, NewStr::from(&*text))?;
            let new = alloc!(mu, NewRequest { path: asked, at: user })?;
            request.set(mu, new);
            // The mistake: each session knows the one before it, so none ever dies.
            let next = Some(sessions.get(mu));
            let session = alloc!(mu, NewSession { next, last: request.get(mu), user })?;
            sessions.set(mu, session);
            if user == 1000 {
                mu.snapshot_to_file("before.heapsnapshot", &Default::default())?;
            }
        }
        let summary = mu.snapshot_to_file("after.heapsnapshot", &Default::default())?;
        println!("{} objects of {} bytes are live", summary.objects, summary.bytes);
        print!("{}", mu.census(true)?);
        Ok(())
    })?
}
