//! The allocation past buffers: a compare-and-swap on the top of a region that all threads share.
//!
//! ```text
//!        mov   region, [mutator + REGION]       none: call the heap
//!        cmp   [mutator + REQUESTED], 0         a stop: call the heap
//!        mov   rax, [region + TOP]
//! again: lea   top, [rax + BYTES]
//!        cmp   top, [region + END]              full: call the heap
//!        lock cmpxchg [region + TOP], top
//!        jne   failed                           counts, and goes on with `again`
//!        add   [mutator + BYTES_TAKEN], BYTES
//!        inc   [mutator + OBJECTS_TAKEN]
//!        jmp   back in line
//! ```
//!
//! HotSpot's compiled code had this in line for `-UseTLAB` up to JDK 19. Here it is out of line,
//! after the compare, which fails if there is no buffer, and before the call. So all heaps have the
//! same sequence in line. The threads of a heap with buffers have no such region and go on to the
//! call. Another thread may have replaced the region meanwhile. Then the region is still shared
//! until this thread comes to a safepoint, and nothing here is kept over a call.
//!
//! `cmpxchg` needs the old top in `rax`. If `rax` is not one of the sequence's registers, its value
//! waits in the object's register. If `rax` is the mutator or the size, there is no such code.
//! There is no such code either if the memory has to be zeroed ahead, since the call does that.

use super::assembly::{Assembly, Mark};
use super::general;
use super::slow::back_to;
use super::top::new_top;
use crate::EmitError;
use crate::allocation::Initialise;
use crate::register::Register;
use crate::registers::Registers;
use crate::site::Bump;
use allotment::raw::Hot;
use iced_x86::code_asm::registers::gpr64::rax;
use iced_x86::code_asm::{dword_ptr, qword_ptr};

/// The registers beside `rax`, which holds the old top.
struct Parts {
    region: Register,
    new_top: Register,
    /// Whether the value of `rax` belongs to the program, and waits in the object's register.
    keeps_rax: bool,
}

/// The parts, if there are registers for them.
fn parts(registers: &Registers, input: Option<Register>) -> Option<Parts> {
    let Registers { mutator, object, top, scratch, .. } = *registers;
    let taken = mutator == Register::RAX || input == Some(Register::RAX);
    let (region, new_top) = match Register::RAX {
        _ if taken => return None,
        old if old == top => (scratch, object),
        old if old == scratch => (object, top),
        _ => (scratch, top),
    };
    let keeps_rax = ![object, top, scratch].contains(&Register::RAX);
    Some(Parts { region, new_top, keeps_rax })
}

/// Emits the code to the cold part, before the call. `made` is the place in line where the
/// sequence continues. Returns whether there is such code.
pub(super) fn emit(assembly: &mut Assembly, bump: &Bump<'_>, made: Mark) -> Result<bool, EmitError> {
    let site = bump.site;
    if site.initialise == Initialise::Ahead {
        return Ok(false);
    }
    let input = bump.first.input().map(|(_, register)| register);
    let Some(parts) = parts(&site.registers, input) else { return Ok(false) };
    let (mutator, object) = (general(site.registers.mutator)?, general(site.registers.object)?);
    let (region, new) = (general(parts.region)?, general(parts.new_top)?);
    let cold = assembly.cold("a region of all threads, without buffers?");
    let (mut call, mut full, mut again, mut failed) =
        (cold.create_label(), cold.create_label(), cold.create_label(), cold.create_label());
    cold.mov(region, qword_ptr(mutator + Hot::REGION_OFFSET))?;
    cold.test(region, region)?;
    cold.je(call)?;
    let cold = assembly.cold("a stop is requested?");
    cold.cmp(dword_ptr(mutator + Hot::REQUESTED_OFFSET), 0_i32)?;
    cold.jne(call)?;
    if parts.keeps_rax {
        assembly.cold("the program's, while rax is wanted").mov(object, rax)?;
    }
    assembly.cold("the region's top").mov(rax, qword_ptr(region + Hot::REGION_TOP_OFFSET))?;
    let cold = assembly.cold("the region's new top");
    cold.set_label(&mut again)?;
    new_top(cold, new, rax, bump)?;
    let cold = assembly.cold("beyond its end?");
    cold.cmp(new, qword_ptr(region + Hot::REGION_END_OFFSET))?;
    cold.ja(if parts.keeps_rax { full } else { call })?;
    let cold = assembly.cold("if nobody moved it");
    cold.lock().cmpxchg(qword_ptr(region + Hot::REGION_TOP_OFFSET), new)?;
    cold.jne(failed)?;
    let cold = assembly.cold("counted");
    match bump.total {
        Some(bytes) => cold.add(qword_ptr(mutator + Hot::REGION_BYTES_OFFSET), bytes as i32)?,
        None => {
            cold.mov(region, new)?;
            cold.sub(region, rax)?;
            cold.add(qword_ptr(mutator + Hot::REGION_BYTES_OFFSET), region)?;
        }
    }
    cold.inc(qword_ptr(mutator + Hot::REGION_OBJECTS_OFFSET))?;
    let Registers { object: object_in, top, .. } = site.registers;
    if parts.keeps_rax || top == Register::RAX {
        assembly.cold("the object, and what was in rax or belongs there").xchg(object, rax)?;
    } else if object_in != Register::RAX {
        assembly.cold("the object").mov(object, rax)?;
    }
    back_to(assembly, made)?;
    let cold = assembly.cold("another thread was quicker");
    cold.set_label(&mut failed)?;
    cold.inc(qword_ptr(mutator + Hot::REGION_FAILURES_OFFSET))?;
    cold.jmp(again)?;
    if parts.keeps_rax {
        let cold = assembly.cold("no room in the region");
        cold.set_label(&mut full)?;
        cold.mov(rax, object)?;
    }
    let cold = assembly.cold("the heap finds another");
    // A label needs an instruction after it: the first one of the call.
    cold.set_label(&mut call)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::register::Machine;

    #[test]
    fn no_register_has_two_parts() {
        let c = Registers::c(Machine::X86_64);
        let general =
            [Register::RAX, Register::RCX, Register::RDX, Register::RBX, Register::RSI, Register::R8];
        let mut found = [0_usize; 3];
        for mutator in general {
            for object in general {
                for top in general {
                    for scratch in general {
                        let registers = Registers { mutator, object, top, scratch, ..c };
                        if registers.check(Machine::X86_64, &[]).is_err() {
                            continue;
                        }
                        for input in [None, Some(Register::RAX)] {
                            let Some(parts) = parts(&registers, input) else {
                                assert!(mutator == Register::RAX || input.is_some());
                                found[0] += 1;
                                continue;
                            };
                            let own = [object, top, scratch];
                            assert!(own.contains(&parts.region) && own.contains(&parts.new_top));
                            let used = [parts.region, parts.new_top, Register::RAX, mutator];
                            for (index, one) in used.iter().enumerate() {
                                assert!(!used[..index].contains(one), "{registers:?}");
                            }
                            assert_eq!(parts.keeps_rax, !own.contains(&Register::RAX));
                            if parts.keeps_rax {
                                // The program's value waits there.
                                assert!(parts.region != object && parts.new_top != object);
                            }
                            found[1 + usize::from(parts.keeps_rax)] += 1;
                        }
                    }
                }
            }
        }
        assert!(found.iter().all(|count| *count > 0), "{found:?}");
    }
}
