//! An allocation past buffers tries again after another thread was quicker, and counts that.

use super::interpreter::{Exit, Interpreter};
use super::kit::{ANY_AARCH64, Assignment};
use allotment::raw::{AArch64, Header, Hot, PrefetchSettings};
use allotment_jit::{Allocation, Emitter, Initialise, Machine, Site, SlowCall};

#[test]
fn a_region_with_room_gives_memory_however_often_others_are_quicker() {
    const HOT: u64 = 0x5000;
    const REGION: u64 = 0x9000;
    const TOP: u64 = 0x10_0000;
    let offset = |base: u64, offset: usize| base + offset as u64;
    let processor = AArch64 { lse: false, ..ANY_AARCH64 };
    let emitter = Emitter::new(processor, PrefetchSettings::OFF).unwrap().past_buffers(true);
    let registers = Assignment::plain(Machine::AArch64).registers();
    let allocations = [Allocation::with_header(Header::from_bits(5), 32).unwrap()];
    let slow = SlowCall::default();
    let site = Site { allocations: &allocations, initialise: Initialise::ByCaller, registers, slow };
    let sequence = emitter.allocate(&site).unwrap();
    for interferences in 0..3 {
        let mut run = Interpreter::new(&sequence);
        run.set(registers.mutator, HOT);
        run.interferences = interferences;
        run.memory.extend([
            (offset(HOT, Hot::TOP_OFFSET), 0),
            (offset(HOT, Hot::LIMIT_OFFSET), 0),
            (offset(HOT, Hot::REGION_OFFSET), REGION),
            (offset(HOT, Hot::REQUESTED_OFFSET), 0),
            (offset(HOT, Hot::REGION_BYTES_OFFSET), 0),
            (offset(HOT, Hot::REGION_OBJECTS_OFFSET), 0),
            (offset(HOT, Hot::REGION_FAILURES_OFFSET), 0),
            (offset(REGION, Hot::REGION_TOP_OFFSET), TOP),
            (offset(REGION, Hot::REGION_END_OFFSET), TOP + 0x4_0000),
        ]);
        let exit = run.run(&mut |_, _| panic!("there is room, and yet the heap is called"));
        assert_eq!(exit, Exit::FellThrough);
        assert_eq!(run.get(registers.object), TOP);
        assert_eq!(run.word(offset(REGION, Hot::REGION_TOP_OFFSET)), TOP + 32);
        assert_eq!(run.word(offset(HOT, Hot::REGION_BYTES_OFFSET)), 32);
        assert_eq!(run.word(offset(HOT, Hot::REGION_OBJECTS_OFFSET)), 1);
        assert_eq!(run.word(offset(HOT, Hot::REGION_FAILURES_OFFSET)), interferences as u64);
    }
}
