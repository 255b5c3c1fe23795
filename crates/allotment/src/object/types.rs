//! Shapes of Rust types: every heap of the process knows them without registration by the program.
//!
//! A type's shape is a static. An allocation loads its header from there, which takes seven
//! instructions instead of nine. An id never changes and is the same in all heaps, as a `TypeId`
//! is. No state of any heap is in it.
//!
//! Any code may allocate before all other code of the process: `.preinit_array`, constructors of
//! each priority, a constructor of a library that `dlopen` loads while threads allocate. So no
//! entry in the linker's table of initialisers is early enough. A type gets its id in three steps:
//!
//! 1. The linker writes the first header: the address of the static, with the tag
//!    [early](Header::early). The loader relocates it before any code of that file runs. So no
//!    header is ever 0, and an object with an early header names its type.
//! 2. Building a heap gives an id to each type in each loaded file: [`register_loaded`] reads the
//!    notes of the files ([`loaded`](crate::platform::linux::loaded_files)). Types of later files
//!    get ids from an initialiser of that file, or at the next stop of the world, whichever is
//!    first.
//! 3. If types got ids after a heap had been built, the next stop of its world gives their objects
//!    the real header ([`EarlyTypes`]). So collectors and verifier never meet an early header.
//!
//! A file that brings types must not be unloaded, because their shapes lie in it. Each copy of this
//! library in a process (a plugin may link its own) has its own ids, and its own heaps that know
//! them.
//!
//! Refused: initialisers alone, as early as the linker sorts them (others may be as early, and
//! `.preinit_array` is earlier); registration on first use (a test in every allocation); ids in a
//! table of each heap (one more load); the static's address as the header of all objects (48 bits
//! of 64 leave no room for an identity hash); early headers that the collectors resolve (one more
//! case in each of their loops).

use super::{Header, Shape, ShapeId};
use crate::platform::{Pointers, abort_because, find_loaded_types};
use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Ids 1 to this many are Rust types, the same in every heap.
pub(super) const MAX_TYPES: usize = (1 << 22) - 1;

/// The shape of a Rust type, and the header of its new objects.
///
/// Only [`type_shape!`](crate::type_shape) makes this value, and it ensures the registration. A
/// library that brings types must not be unloaded.
pub struct TypeShape {
    shape: Shape,
    /// Bits of the header of new objects: an [early](Header::early) header until
    /// [`register`](Self::register) ran. Relaxed.
    header: AtomicPtr<()>,
    /// The entry that registers this type. A linker that keeps either of the two keeps both.
    _start: &'static extern "C" fn(),
}

/// Every type, by its id - 1.
static TYPES: OnceLock<boxcar::Vec<&'static TypeShape>> = OnceLock::new();

/// The lock of threads that give ids. A stop takes the lock, too, and so sees every type whose
/// header any thread has loaded.
static REGISTERING: IdLock = IdLock(AtomicU32::new(0));

/// The process that queried the loader first; 0 before.
static ASKED_BY: AtomicU32 = AtomicU32::new(0);

/// Number of files loaded so far at the time when all their types had ids. Initially a number that
/// is never reached.
static LOADS_SEEN: AtomicU64 = AtomicU64::new(u64::MAX);

/// The address of this static distinguishes this copy of the library from other copies in the
/// process, whose types do not belong to this copy.
#[doc(hidden)]
pub static COPY: AtomicUsize = AtomicUsize::new(0);

impl TypeShape {
    /// For [`type_shape!`](crate::type_shape): `own` is the static that this value becomes.
    #[doc(hidden)]
    pub const fn new(shape: Shape, own: &'static TypeShape, start: &'static extern "C" fn()) -> TypeShape {
        // `Header::early`, in the form that a linker can compute.
        let early = std::ptr::from_ref(own).cast::<()>().wrapping_byte_add(Header::EARLY as usize);
        TypeShape { shape, header: AtomicPtr::new(early.cast_mut()), _start: start }
    }

    /// Gives the type its id, if it has none.
    #[doc(hidden)]
    pub fn register(&'static self) {
        // The model checker's collections live inside a model only, and models allocate no Rust
        // types.
        if !cfg!(loom) {
            self.register_in(&REGISTERING.lock(std::process::id()));
        }
    }

    fn register_in(&'static self, _registering: &Registering<'_>) {
        if !self.new_header().is_early() {
            return;
        }
        let index = TYPES.get_or_init(boxcar::Vec::new).push(self);
        if index >= MAX_TYPES {
            abort_because(format_args!("more than {MAX_TYPES} object types in one process"));
        }
        let id = ShapeId::from_raw(NonZeroU32::MIN.saturating_add(index as u32));
        let bits = Header::new(id).bits() as usize;
        self.header.store(std::ptr::without_provenance_mut(bits), Ordering::Relaxed);
    }

    /// The header of a new object of this type, as an allocation writes it. It may be an early one.
    #[inline(always)]
    pub(crate) fn new_header(&self) -> Header {
        Header::from_bits(self.header.load(Ordering::Relaxed).addr() as u64)
    }

    /// The header of a new object of this type, with the type's id.
    #[inline]
    pub fn header(&'static self) -> Header {
        let header = self.new_header();
        if header.is_early() { self.registered_header() } else { header }
    }

    #[cold]
    fn registered_header(&'static self) -> Header {
        self.register();
        self.new_header()
    }

    /// Whether a header belongs to an object of this type, with any hash, age and marks.
    #[inline]
    pub(crate) fn is_type_of(&'static self, header: Header) -> bool {
        if header.is_early() {
            return header == self.early_header();
        }
        header.is_object() && header.shape_number() == self.header().shape_number()
    }

    /// The header that the linker wrote.
    fn early_header(&self) -> Header {
        Header::early(std::ptr::from_ref(self).addr())
    }

    /// Whether the loader has relocated the header, so that code that runs from now on finds it.
    fn is_relocated(&self) -> bool {
        let header = self.new_header();
        header == self.early_header() || header.is_object()
    }

    /// The description of its objects.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }
}

/// The type of that number (its id - 1).
///
/// A marker may see an object before it sees the entry of the object's type. The thread that
/// allocated the object loaded the header Relaxed, so it passes on nothing that the registering
/// thread wrote before. The registering thread holds the lock while it writes both.
pub(super) fn type_at(index: usize) -> Option<&'static TypeShape> {
    let entry = || TYPES.get()?.get(index).copied();
    now_or_behind_lock(entry, || REGISTERING.lock(std::process::id()))
}

/// What `find` finds at once, or with the lock that its writers hold.
fn now_or_behind_lock<T, G>(find: impl Fn() -> Option<T>, lock: impl FnOnce() -> G) -> Option<T> {
    find().or_else(|| {
        let _held = lock();
        find()
    })
}

/// A lock that knows its process: it holds the number of the process whose thread holds it, or 0.
///
/// Refused: a mutex. In a child of `fork()` a thread that the child does not have may hold it. Here
/// the number shows that, and the child takes the lock over. A registration that the lost thread
/// left half done is a type with an early header. That type gets another id.
struct IdLock(AtomicU32);

/// Proof that the lock is held. Dropping it releases the lock.
struct Registering<'l>(&'l IdLock);

impl IdLock {
    /// Waits for threads of the caller's process `own`.
    fn lock(&self, own: u32) -> Registering<'_> {
        let mut expected = 0;
        loop {
            match self.0.compare_exchange(expected, own, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Registering(self),
                // A thread of this process holds the lock, for a few instructions.
                Err(holder) if holder == own => {
                    expected = 0;
                    std::thread::yield_now();
                }
                // The lock is free by now, or its holder is not in this process.
                Err(holder) => expected = holder,
            }
        }
    }
}

impl Drop for Registering<'_> {
    fn drop(&mut self) {
        self.0.0.store(0, Ordering::Release);
    }
}

/// Number of types that have an id.
fn registered() -> usize {
    TYPES.get().map_or(0, boxcar::Vec::count)
}

/// Gives an id to every type of every loaded file whose code may run. Returns the number of types
/// with an id.
fn register_loaded() -> usize {
    if cfg!(loom) {
        return 0;
    }
    let own = std::process::id();
    let asked_by = ASKED_BY.load(Ordering::Relaxed);
    let seen = LOADS_SEEN.load(Ordering::Relaxed);
    let mut found = Vec::new();
    // A child of `fork()` does not query the loader: a thread that the child does not have may hold
    // the loader's lock. Types of files that the child loads get their ids from the initialisers of
    // these files.
    let (loads, complete) = if asked_by == 0 || asked_by == own {
        find_loaded_types(seen, std::ptr::from_ref(&COPY).addr(), &mut found)
    } else {
        (seen, false)
    };
    let guard = REGISTERING.lock(own);
    if asked_by == 0 {
        ASKED_BY.store(own, Ordering::Relaxed);
    }
    let mut relocated = complete;
    for Pointers { shape, .. } in found {
        // SAFETY: only `type_shape!` makes notes that name this copy, and each names a `TypeShape`
        // static of a loaded file. Until the loader has relocated the static, only its header is
        // used, an atomic word.
        let shape: &'static TypeShape = unsafe { &*std::ptr::with_exposed_provenance(shape) };
        if shape.is_relocated() {
            shape.register_in(&guard);
        } else {
            relocated = false;
        }
    }
    if relocated {
        LOADS_SEEN.store(loads, Ordering::Relaxed);
    }
    registered()
}

/// The real header for an object's early header; `None` if the early header belongs to no type.
#[cold]
fn settled(early: Header) -> Option<Header> {
    register_loaded();
    let mut types = (0..registered()).filter_map(type_at);
    types.find(|shape| shape.early_header() == early).map(TypeShape::header)
}

/// Gives an object its real header if its type had no id at allocation. `word` is the object's
/// header and was `early`. Returns the header that the object has then.
#[cold]
pub(crate) fn settle(word: &AtomicU64, early: Header) -> Header {
    let header = settled(early).expect("an early header belongs to an object of a loaded type");
    match word.compare_exchange(early.bits(), header.bits(), Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => header,
        Err(now) => Header::from_bits(now),
    }
}

/// Whether objects of a heap may have early headers: types got ids after the last check.
#[derive(Debug)]
pub(crate) struct EarlyTypes {
    /// Number of types that had ids. Relaxed: written while the world is stopped.
    seen: AtomicUsize,
}

impl EarlyTypes {
    /// For a heap without objects.
    pub(crate) fn new() -> EarlyTypes {
        EarlyTypes { seen: AtomicUsize::new(register_loaded()) }
    }

    /// The real headers, by the bits of the early headers that they replace; `None` if the heap has
    /// no early headers. The caller settles each object before the next call. To be called while no
    /// mutator runs.
    pub(crate) fn take(&self) -> Option<HashMap<u64, Header>> {
        let count = register_loaded();
        let fresh = self.seen.swap(count, Ordering::Relaxed)..count;
        let headers = |shape: &'static TypeShape| (shape.early_header().bits(), shape.header());
        (!fresh.is_empty()).then(|| fresh.filter_map(type_at).map(headers).collect())
    }
}

/// A static [`TypeShape`](crate::object::TypeShape) for a shape that is a constant expression,
/// known to every heap. Its value is a `&'static TypeShape`.
///
/// ```
/// use allotment::{raw::{Shape, Slot, SlotKind, TypeShape}, type_shape};
/// fn pair() -> &'static TypeShape {
///     const SLOTS: &[Slot] =
///         &[Slot::new("car", 8, SlotKind::Strong), Slot::new("cdr", 16, SlotKind::Strong)];
///     type_shape!(Shape::constant("Pair", 24, SLOTS, None))
/// }
/// assert_eq!(pair().shape().bytes_for(0), Some(24));
/// ```
#[macro_export]
macro_rules! type_shape {
    ($shape:expr) => {{
        static TYPE: $crate::rt::TypeShape = $crate::rt::TypeShape::new($shape, &TYPE, &START);
        extern "C" fn start() {
            #[cfg(not(miri))]
            // SAFETY: no instruction; the sections have the form that
            // `platform/linux/loaded_files.rs` reads, and name a `TypeShape`.
            unsafe {
                $crate::rt::core::arch::asm!(
                    ".pushsection .data.rel.allotment, \"aw\"",
                    ".balign 8",
                    "2: .quad {shape}",
                    ".quad {copy}",
                    ".popsection",
                    ".pushsection .note.allotment, \"a\", @note",
                    ".balign 8",
                    ".long 10, 8, 1",
                    ".ascii \"allotment\\0\\0\\0\"",
                    ".quad 2b - .",
                    ".popsection",
                    shape = sym TYPE,
                    copy = sym $crate::rt::COPY,
                    options(nomem, nostack, preserves_flags),
                );
            }
            $crate::rt::TypeShape::register(&TYPE);
        }
        // SAFETY: the section holds pointers to functions that are called once, when the file is
        // loaded.
        #[used]
        #[unsafe(link_section = ".init_array")]
        static START: extern "C" fn() = start;
        &TYPE
    }};
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::{Kind, Shapes, Slot, SlotKind};
    use super::*;

    fn pair() -> &'static TypeShape {
        const SLOTS: &[Slot] = &[Slot::new("next", 8, SlotKind::Strong)];
        type_shape!(Shape::constant("Pair", 24, SLOTS, None))
    }

    fn other<T: Default>() -> &'static TypeShape {
        let _one_of_many = T::default();
        type_shape!(Shape::constant("Other", 16, &[], None))
    }

    /// A child of `fork()` has the lock in the state in which its parent's thread left it.
    #[test]
    fn a_lock_of_a_lost_thread_is_taken_over_and_one_of_this_process_is_not() {
        let lock = IdLock(AtomicU32::new(0));
        std::mem::forget(lock.lock(7));
        let guard = lock.lock(8);
        assert_eq!(lock.0.load(Ordering::Relaxed), 8);
        std::thread::scope(|threads| {
            let waiting = threads.spawn(|| drop(lock.lock(8)));
            std::thread::yield_now();
            assert!(!waiting.is_finished());
            drop(guard);
        });
        assert_eq!(lock.0.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_type_has_an_id_before_main_and_every_heap_knows_it() {
        let Kind::Object(id) = pair().new_header().kind() else { panic!("registered at start") };
        let Kind::Object(different) = other::<u8>().header().kind() else { panic!("registered at start") };
        assert_ne!(id, different);
        assert_eq!(other::<u16>().header(), other::<u8>().header(), "one static for all instances");
        for shapes in [Shapes::default(), Shapes::default()] {
            assert_eq!(shapes.get(id).unwrap(), pair().shape());
            let own = shapes.register(Shape::fixed("Own", 16)).unwrap().id();
            assert!(own != id && own != different);
        }
    }

    /// A type as it is in the file, before any code has run.
    fn fresh() -> &'static TypeShape {
        fn start() -> &'static extern "C" fn() {
            extern "C" fn nothing() {}
            static NOTHING: extern "C" fn() = nothing;
            &NOTHING
        }
        let place = Box::leak(Box::new(std::mem::MaybeUninit::<TypeShape>::uninit()));
        let own = place.as_mut_ptr();
        // SAFETY: the address alone is used before the value is written.
        unsafe {
            own.write(TypeShape {
                shape: Shape::constant("Fresh", 16, &[], None),
                header: AtomicPtr::new(own.cast::<()>().wrapping_byte_add(Header::EARLY as usize)),
                _start: start(),
            });
            &*own
        }
    }

    #[test]
    fn a_type_that_nobody_registered_has_a_header_that_names_it() {
        let (one, two) = (fresh(), fresh());
        let early = one.new_header();
        assert!(early.is_early() && early != two.new_header());
        assert_eq!(early.kind(), Kind::Invalid, "no collector may take it for an object");
        assert!(one.is_relocated() && one.is_type_of(early) && !two.is_type_of(early));
        let types = EarlyTypes::new();
        let header = one.header();
        assert!(matches!(header.kind(), Kind::Object(_)));
        assert_eq!((one.new_header(), one.header()), (header, header), "once");
        assert_eq!(settled(early), Some(header));
        assert!(one.is_type_of(early) && one.is_type_of(header.with_age(3)) && !two.is_type_of(header));
        // Other tests register types too.
        assert_eq!(types.take().unwrap().get(&early.bits()), Some(&header));
        assert_eq!(settled(two.new_header()), None, "no list has it");
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no loader")]
    fn notes_name_every_type_of_this_copy_and_of_no_other() {
        pair();
        let mut found = Vec::new();
        let copy = std::ptr::from_ref(&COPY).addr();
        let (loads, complete) = find_loaded_types(u64::MAX, copy, &mut found);
        assert!(complete && loads < u64::MAX);
        assert!(found.iter().any(|found| found.shape == std::ptr::from_ref(pair()).addr()));
        assert!(found.len() >= 10, "{}", found.len());
        let mut none = Vec::new();
        find_loaded_types(u64::MAX, copy + 1, &mut none);
        assert!(none.is_empty(), "those of another copy");
        find_loaded_types(loads, copy, &mut none);
        assert!(none.is_empty(), "nothing was loaded since");
    }
}

/// The words of a type that gets its id late, an object of the type, and a marker that finds it.
#[cfg(all(test, loom))]
mod model {
    use super::now_or_behind_lock;
    use loom::sync::atomic::{AtomicU64, Ordering};
    use loom::sync::{Arc, Mutex};
    use loom::thread;

    #[derive(Default)]
    struct Words {
        /// An entry of `TYPES`.
        entry: AtomicU64,
        /// `TypeShape::header`.
        header: AtomicU64,
        registering: Mutex<()>,
        /// A slot that refers to an object of the type, with the object's header.
        slot: AtomicU64,
    }

    #[test]
    fn a_marker_finds_the_type_of_each_object_that_it_finds() {
        loom::model(|| {
            let words = Arc::new(Words::default());
            let (at_registration, at_allocation) = (words.clone(), words.clone());
            let registers = thread::spawn(move || {
                let _held = at_registration.registering.lock().unwrap();
                // As `boxcar::Vec::push` ends.
                at_registration.entry.store(1, Ordering::Release);
                at_registration.header.store(7, Ordering::Relaxed);
            });
            let allocates = thread::spawn(move || {
                let header = at_allocation.header.load(Ordering::Relaxed);
                at_allocation.slot.store(header, Ordering::Release);
            });
            if words.slot.load(Ordering::Acquire) == 7 {
                let entry = || (words.entry.load(Ordering::Acquire) != 0).then_some(());
                assert_eq!(now_or_behind_lock(entry, || words.registering.lock().unwrap()), Some(()));
            }
            registers.join().unwrap();
            allocates.join().unwrap();
        });
    }
}
