//! Shapes of Rust types: known to every heap of the process without a word said.
//!
//! A type's shape is a static. Its id is given when the program (or a library it loads) starts, by an entry
//! of the table of initialisers, so that an allocation loads the header from the static and need not ask
//! whether the type is known here: seven instructions instead of nine. An id, once given, never changes and
//! is the same in all heaps; it is as global as a `TypeId`, and no state of any heap is in it.
//!
//! Refused: registration on first use (a test in every allocation), ids in a table of each heap (a load
//! more), the static's address in the header (47 bits of 64: no room for an identity hash).

use super::{Header, Shape, ShapeId};
use std::num::NonZeroU32;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Ids 1 to this many are Rust types, the same in every heap.
pub(super) const MAX_TYPES: usize = (1 << 22) - 1;

/// The shape of a Rust type, and the header of its new objects.
///
/// Made by [`type_shape!`](crate::type_shape) only, which sees to the registration.
pub struct TypeShape {
    shape: Shape,
    /// Bits of the header; 0 until [`register`](Self::register) ran. Written once, before any code that
    /// allocates the type can run. Relaxed.
    header: AtomicU64,
    /// The entry that registers this type: a linker that keeps one keeps both.
    _start: &'static extern "C" fn(),
}

/// Every type, by its id - 1.
static TYPES: OnceLock<boxcar::Vec<&'static TypeShape>> = OnceLock::new();

impl TypeShape {
    /// For [`type_shape!`](crate::type_shape).
    #[doc(hidden)]
    pub const fn new(shape: Shape, start: &'static extern "C" fn()) -> TypeShape {
        TypeShape { shape, header: AtomicU64::new(0), _start: start }
    }

    /// Gives the type its id. For the table of initialisers.
    #[doc(hidden)]
    pub fn register(&'static self) {
        // The model checker's collections live inside a model only, and models allocate no Rust types.
        if cfg!(loom) || self.header.load(Ordering::Relaxed) != 0 {
            return;
        }
        let index = TYPES.get_or_init(boxcar::Vec::new).push(self);
        if index >= MAX_TYPES {
            eprintln!("allotment: more than {MAX_TYPES} object types in one process");
            std::process::abort();
        }
        let id = ShapeId::from_raw(NonZeroU32::MIN.saturating_add(index as u32));
        self.header.store(Header::new(id).bits(), Ordering::Relaxed);
    }

    /// The header of a new object of this type.
    #[inline(always)]
    pub fn header(&self) -> Header {
        let bits = self.header.load(Ordering::Relaxed);
        debug_assert!(
            bits != 0,
            "the initialisers of the program did not run: {} has no id",
            self.shape.name()
        );
        Header::from_bits(bits)
    }

    /// What its objects look like.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }
}

/// The type of that number (its id - 1).
pub(super) fn type_at(index: usize) -> Option<&'static TypeShape> {
    TYPES.get()?.get(index).copied()
}

/// A static [`TypeShape`](crate::object::TypeShape) for a shape that is a constant expression, registered when the program
/// starts. Its value is a `&'static TypeShape`.
///
/// ```
/// use allotment::{object::{Shape, SlotKind, Slot, TypeShape}, type_shape};
/// fn pair() -> &'static TypeShape {
///     const SLOTS: &[Slot] = &[Slot::new("car", 8, SlotKind::Strong), Slot::new("cdr", 16, SlotKind::Strong)];
///     type_shape!(Shape::constant("Pair", 24, SLOTS, None))
/// }
/// assert_eq!(pair().shape().bytes_for(0), Some(24));
/// ```
#[macro_export]
macro_rules! type_shape {
    ($shape:expr) => {{
        static TYPE: $crate::object::TypeShape = $crate::object::TypeShape::new($shape, &START);
        extern "C" fn start() {
            $crate::object::TypeShape::register(&TYPE);
        }
        // SAFETY: the section holds pointers to functions that are called once, before `main`.
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

    #[test]
    fn a_type_has_an_id_before_main_and_every_heap_knows_it() {
        let Kind::Object(id) = pair().header().kind() else { panic!("registered at start") };
        let Kind::Object(different) = other::<u8>().header().kind() else { panic!("registered at start") };
        assert_ne!(id, different);
        assert_eq!(other::<u16>().header(), other::<u8>().header(), "one static for all instances");
        for shapes in [Shapes::default(), Shapes::default()] {
            assert_eq!(shapes.get(id).unwrap(), pair().shape());
            let own = shapes.register(Shape::fixed("Own", 16)).unwrap().id();
            assert!(own != id && own != different);
        }
    }
}
