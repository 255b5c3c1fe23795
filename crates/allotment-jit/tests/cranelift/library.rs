//! Generated allocations against the library's: they must have equal bytes at equal places, and an
//! equal top.

use crate::kit::{Kit, get, heap, number, set};
use allotment::raw::{
    Ahead, ArraySite, ByCaller, Element, Hot, NoPrefetch, PerObject, Shape, ShapeRef, Zeroing,
};
use allotment::{Heap, Mutator};
use allotment_jit::{Allocation, EmitError, Initialise, MAX_INLINE_BYTES, Register};
use cranelift_codegen::ir::InstBuilder;
use cranelift_module::Module;
use proptest::prelude::*;
use std::ptr;

/// Something to allocate.
#[derive(Clone, Debug)]
enum What {
    /// Objects of these numbers of words, in one bump.
    Fixed(Vec<usize>),
    /// An array of a length that is a constant, of elements of 1, 2, 4 or 8 bytes.
    Array(usize, u32),
    /// An array of such elements whose length is a value.
    ArrayIn(usize, u32),
    /// An object whose number of words is a value.
    Sized(usize),
}

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        prop::collection::vec(2..40_usize, 1..4).prop_map(What::Fixed),
        (60..150_usize).prop_map(|words| What::Fixed(vec![words])),
        (0..300_usize, 0..4_u32).prop_map(|(length, log)| What::Array(length, log)),
        (0..300_usize, 0..4_u32).prop_map(|(length, log)| What::ArrayIn(length, log)),
        (2..100_usize).prop_map(What::Sized),
    ]
}

fn initialise() -> impl Strategy<Value = Initialise> {
    prop_oneof![Just(Initialise::ByCaller), Just(Initialise::PerObject), Just(Initialise::Ahead)]
}

/// The shapes that are allocated, the same in each heap.
struct Shapes {
    /// Of 2 to 150 words.
    fixed: Vec<ShapeRef>,
    /// Of 1, 2, 4 and 8 bytes an element.
    arrays: Vec<ShapeRef>,
}

/// A heap in which all memory was written before.
fn used_heap() -> (Heap, Shapes) {
    let heap = heap("Collector=epsilon,TLABSize=256k,MinTLABSize=256k,-ResizeTLAB,ZeroWindowSize=1k");
    let fixed = |words: usize| heap.register(Shape::fixed(format!("Words{words}"), words * 8)).unwrap();
    let array = |bytes: usize| {
        heap.register(Shape::array(format!("Array{bytes}"), 16, Element::Plain { bytes })).unwrap()
    };
    let shapes = Shapes { fixed: (2..150).map(fixed).collect(), arrays: [1, 2, 4, 8].map(array).to_vec() };
    heap.attach(|mutator| {
        let site: ArraySite<ByCaller, NoPrefetch> = ArraySite::new(shapes.arrays[3]);
        // SAFETY: this heap's shape; the elements, plain ones, are all written.
        while let Some(array) = unsafe { mutator.raw().try_alloc_array_raw(site, 1022) } {
            // SAFETY: the elements of the new array.
            unsafe { array.as_ptr().add(16).write_bytes(0xA5, 1022 * 8) };
        }
    })
    .unwrap();
    heap.reset().unwrap();
    (heap, shapes)
}

/// Allocates with the library; the objects and their sizes.
fn by_library(mutator: &Mutator<'_>, shapes: &Shapes, plans: &[(What, Initialise)]) -> Vec<(usize, usize)> {
    fn one<Z: Zeroing>(mutator: &Mutator<'_>, shape: ShapeRef, bytes: usize) -> (usize, usize) {
        // SAFETY: this heap's shape without references, and a size that one of its objects has; a
        // length is written below.
        let object = unsafe { mutator.raw().try_alloc_with_header::<Z, NoPrefetch>(shape.header(), bytes) };
        (object.expect("a buffer of a megabyte").addr().get(), bytes)
    }
    fn array<Z: Zeroing>(mutator: &Mutator<'_>, shape: ShapeRef, length: usize) -> (usize, usize) {
        // SAFETY: this heap's shape without references.
        let object =
            unsafe { mutator.raw().try_alloc_array_raw(ArraySite::<Z, NoPrefetch>::new(shape), length) };
        (object.expect("a buffer of a megabyte").addr().get(), shape.bytes_for(length).unwrap())
    }
    let mut objects = Vec::new();
    for (what, initialise) in plans {
        let one = |shape, bytes| match initialise {
            Initialise::ByCaller => one::<ByCaller>(mutator, shape, bytes),
            Initialise::PerObject => one::<PerObject>(mutator, shape, bytes),
            Initialise::Ahead => one::<Ahead>(mutator, shape, bytes),
        };
        let array = |shape, length| match initialise {
            Initialise::ByCaller => array::<ByCaller>(mutator, shape, length),
            Initialise::PerObject => array::<PerObject>(mutator, shape, length),
            Initialise::Ahead => array::<Ahead>(mutator, shape, length),
        };
        match what {
            What::Fixed(sizes) => {
                objects.extend(sizes.iter().map(|words| one(shapes.fixed[words - 2], words * 8)));
            }
            What::Array(length, log) | What::ArrayIn(length, log) => {
                objects.push(array(shapes.arrays[*log as usize], *length));
            }
            What::Sized(words) => objects.push(one(shapes.fixed[words - 2], words * 8)),
        }
    }
    objects
}

/// Allocates with generated code; the objects.
fn generated(
    heap: &Heap,
    shapes: &Shapes,
    plans: &[(What, Initialise)],
    check: impl FnOnce(&[usize], usize),
) {
    let mut kit = Kit::new(heap);
    // `all(mutator, numbers, objects)`: numbers as values come from memory, and objects go there.
    let numbers: Vec<usize> = plans
        .iter()
        .map(|(what, _)| match what {
            What::Fixed(_) | What::Array(..) => 0,
            What::ArrayIn(length, _) => *length,
            What::Sized(words) => words * 8,
        })
        .collect();
    let mut count = 0;
    let all = kit.function("all", 3, |_, builder, heap, arguments| {
        let &[_, numbers, objects] = arguments else { panic!("{arguments:?}") };
        let no_room = builder.create_block();
        for (index, (what, initialise)) in plans.iter().enumerate() {
            heap.initialise(*initialise);
            let value = get(builder, numbers, index as i32 * 8);
            let array = |log: &u32| shapes.arrays[*log as usize];
            let made = match what {
                What::Fixed(sizes) => {
                    let one = |words: &usize| Allocation::object(shapes.fixed[words - 2]).unwrap();
                    heap.allocate(builder, &sizes.iter().map(one).collect::<Vec<_>>(), no_room).unwrap()
                }
                What::Array(length, log) => {
                    let one = Allocation::array(array(log), *length).unwrap();
                    heap.allocate(builder, &[one], no_room).unwrap()
                }
                What::ArrayIn(_, log) => {
                    vec![heap.allocate_array(builder, array(log), value, no_room).unwrap()]
                }
                What::Sized(words) => {
                    vec![heap.allocate_sized(builder, shapes.fixed[words - 2].header(), value, no_room)]
                }
            };
            for object in made {
                set(builder, objects, count * 8, object);
                count += 1;
            }
        }
        let one = number(builder, 1);
        builder.ins().return_(&[one]);
        builder.switch_to_block(no_room);
        let none = number(builder, 0);
        builder.ins().return_(&[none]);
    });
    let mut ready = kit.ready();
    heap.attach(|mutator| {
        let mut objects = vec![0_usize; count as usize];
        let (from, to) = (numbers.as_ptr().expose_provenance(), objects.as_mut_ptr().expose_provenance());
        // SAFETY: this thread's hot part, numbers to read, and as much memory to write to as there
        // are objects.
        assert_eq!(unsafe { ready.get(all)(mutator.raw().hot(), from, to) }, 1);
        check(&objects, top(mutator));
    })
    .unwrap();
    ready.free();
}

fn top(mutator: &Mutator<'_>) -> usize {
    // SAFETY: a word of the hot part.
    unsafe { mutator.raw().hot().byte_add(Hot::TOP_OFFSET).cast::<usize>().read() }
}

/// The bytes of an object whose contents are defined.
fn bytes(object: usize, bytes: usize, initialise: Initialise, is_array: bool) -> Vec<u8> {
    let said = match initialise {
        Initialise::ByCaller if is_array => 16,
        Initialise::ByCaller => 8,
        Initialise::PerObject | Initialise::Ahead => bytes,
    };
    // SAFETY: a live object of that size, without a safepoint since.
    unsafe { std::slice::from_raw_parts(ptr::with_exposed_provenance(object), said) }.to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn what_is_left_behind_is_the_same(plans in prop::collection::vec((what(), initialise()), 1..40)) {
        let (heap, shapes) = used_heap();
        let mut model = Vec::new();
        let mut end = 0;
        heap.attach(|mutator| {
            let objects = by_library(mutator, &shapes, &plans);
            let mut next = objects.iter();
            for (what, initialise) in &plans {
                let (count, is_array) = match what {
                    What::Fixed(sizes) => (sizes.len(), false),
                    What::Array(..) | What::ArrayIn(..) => (1, true),
                    What::Sized(_) => (1, false),
                };
                for (object, size) in next.by_ref().take(count) {
                    let said = bytes(*object, *size, *initialise, is_array);
                    model.push((object - objects[0].0, *size, said, *initialise, is_array));
                }
            }
            end = top(mutator) - objects[0].0;
        }).unwrap();
        let (heap, shapes) = used_heap();
        generated(&heap, &shapes, &plans, |objects, top| {
            assert_eq!(objects.len(), model.len());
            for (object, (offset, size, said, initialise, is_array)) in objects.iter().zip(&model) {
                assert_eq!(object - objects[0], *offset);
                assert_eq!(&bytes(*object, *size, *initialise, *is_array), said, "{initialise:?} at {offset}");
            }
            assert_eq!(top - objects[0], end);
        });
    }
}

#[test]
fn what_cannot_be_built_builds_nothing() {
    let (heap, shapes) = used_heap();
    let mut kit = Kit::new(&heap);
    kit.function("nothing", 1, |_, builder, heap, arguments| {
        let no_room = builder.create_block();
        let (object, array) = (shapes.fixed[0], shapes.arrays[3]);
        let in_register = Allocation::array_in(array, Register::RSI).unwrap();
        let refused = heap.allocate(builder, &[in_register], no_room).unwrap_err();
        assert_eq!(refused, EmitError::InRegister(Register::RSI));
        assert!(refused.to_string().contains("`allocate_array`"), "{refused}");
        assert_eq!(heap.allocate(builder, &[], no_room), Err(EmitError::Nothing));
        let large = Allocation::array(array, MAX_INLINE_BYTES / 16).unwrap();
        let refused = heap.allocate(builder, &[large, large], no_room);
        assert!(matches!(refused, Err(EmitError::TooLarge { .. })), "{refused:?}");
        let refused = heap.allocate_array(builder, object, arguments[0], no_room);
        assert!(matches!(refused, Err(EmitError::Shape(_))), "{refused:?}");
        let entry = builder.current_block().unwrap();
        assert_eq!(builder.func.layout.block_insts(entry).count(), 0);
        builder.ins().return_(&[arguments[0]]);
        builder.switch_to_block(no_room);
        builder.ins().return_(&[arguments[0]]);
    });
    assert_eq!(kit.program.module().declarations().get_functions().count(), 1);
    kit.ready().free();
}
