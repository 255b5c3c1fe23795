//! A program that loads plugins while its threads allocate; with types and an early constructor of
//! its own.

use allotment::{Heap, NewStr, Object, Str, alloc, root};
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}

#[derive(Object)]
struct Mine {
    key: u64,
}

fn heap() -> Heap {
    let options = std::env::var("PROGRAM_OPTIONS").unwrap_or_default();
    Heap::builder().max_heap_size(32 << 20).options(&options).unwrap().build().unwrap()
}

/// Before any initialiser of this program, whose library has run its own.
extern "C" fn early() {
    let heap = heap();
    heap.attach(|mu| {
        root!(
            mu,
            mine = alloc!(mu, NewMine { key: 3 }).unwrap(),
            text = alloc!(mu, NewStr::from("text")).unwrap()
        );
        assert!(mine.get(mu).as_any().is::<Mine>() && text.get(mu).as_any().is::<Str>());
        mu.collect();
        assert_eq!((mine.get(mu).key, &*text.get(mu)), (3, "text"));
    })
    .unwrap();
    heap.verify().unwrap();
    println!("program: early");
}

// SAFETY: the section holds pointers to functions that take no arguments.
#[used]
#[unsafe(link_section = ".preinit_array")]
static EARLY: extern "C" fn() = early;

fn load(path: &str) -> *mut c_void {
    let path = CString::new(path).unwrap();
    // SAFETY: RTLD_NOW, and a path.
    let library = unsafe { dlopen(path.as_ptr(), 2) };
    if library.is_null() {
        // SAFETY: there was an error.
        panic!("{:?}", unsafe { std::ffi::CStr::from_ptr(dlerror()) });
    }
    library
}

fn main() {
    let plugin = std::env::args().nth(1).unwrap();
    if std::env::var_os("PROGRAM_ONLY_LOADS").is_some() {
        load(&plugin);
        println!("program: loaded");
        return;
    }
    let heap = heap();
    let (ready, done) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        // Attached before the plugin is loaded, and allocating all the while.
        scope.spawn(|| {
            heap.attach(|mu| {
                root!(mu, mut mine = alloc!(mu, NewMine { key: 0 }).unwrap());
                ready.store(true, Ordering::Release);
                while !done.load(Ordering::Acquire) {
                    let call = host::CALL.lock().unwrap().take();
                    if let Some(call) = call {
                        call(mu);
                        host::CALLED.notify_all();
                    }
                    let next = alloc!(mu, NewMine { key: mine.get(mu).key + 1 }).unwrap();
                    mine.set(mu, next);
                }
            })
            .unwrap();
        });
        heap.attach(|mu| {
            while !ready.load(Ordering::Acquire) {
                mu.blocking(std::thread::yield_now);
            }
            let library = match std::env::var_os("PLUGIN_OTHER_THREAD") {
                Some(_) => mu.blocking(|| load(&plugin)) as usize,
                None => host::lend(mu, || load(&plugin)) as usize,
            };
            // SAFETY: the plugin's function of that name and type.
            let check: extern "C" fn() =
                unsafe { std::mem::transmute(dlsym(library as *mut c_void, c"check".as_ptr())) };
            for _ in 0..3 {
                host::lend(mu, || check());
                mu.collect();
            }
            host::lend(mu, || check());
        })
        .unwrap();
        done.store(true, Ordering::Release);
    });
    heap.verify().unwrap();
    host::KEPT.lock().unwrap().clear();
    println!("program: done");
}
