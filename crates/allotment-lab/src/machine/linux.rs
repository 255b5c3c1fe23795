//! What only Linux can be asked: affinity, the end of the parent, and hardware counters.

use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::io;

/// Binds the calling thread to one CPU.
///
/// # Errors
/// The CPU is offline, or not allowed to this process.
pub fn pin_current_thread(cpu: usize) -> io::Result<()> {
    if cpu >= CpuSet::MAX_CPU {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("CPU {cpu} is beyond the {} a CPU set holds", CpuSet::MAX_CPU),
        ));
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}

/// Makes the kernel kill this process when its parent dies, so that no measuring process is left behind.
///
/// # Errors
/// The parent (`parent` is its process id) is dead already, or the kernel refuses.
pub fn die_with_parent(parent: u32) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have died before the call; then the signal would never come.
    let current = getppid().map_or(0, |pid| pid.as_raw_nonzero().get().unsigned_abs());
    if current == parent {
        Ok(())
    } else {
        Err(io::Error::other("the process that started this one is gone"))
    }
}

/// Whether this process may count hardware events, e.g. cycles, of itself; otherwise why not.
///
/// Opens a counter and closes it again, since the level in `perf_event_paranoid` alone says nothing about
/// virtual machines, which often have no counters at all.
///
/// # Errors
/// What the kernel answered, with the likely reason.
pub fn hardware_counters() -> Result<(), String> {
    // perf_event_attr as of its first version: type, size, config, sample period, sample type, read format,
    // flags (disabled, exclude_kernel, exclude_hv), wakeup and breakpoint fields.
    const SIZE: u64 = 64;
    let flags = 1 | 1 << 5 | 1 << 6;
    let attributes: [u64; 8] = [SIZE << 32, 0, 0, 0, 0, flags, 0, 0];
    // SAFETY: the kernel reads `SIZE` bytes at the pointer, which is exactly the live array, and writes at
    // most the size field within it; the other arguments are plain numbers (this thread, any CPU, no group).
    let descriptor = unsafe {
        libc::syscall(libc::SYS_perf_event_open, attributes.as_ptr(), 0_i32, -1_i32, -1_i32, 0_u64)
    };
    if descriptor >= 0 {
        // SAFETY: the call above returned this descriptor and nothing else knows it.
        unsafe { libc::close(descriptor as i32) };
        return Ok(());
    }
    let error = io::Error::last_os_error();
    let reason = match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
            "the processor offers none, as in many virtual machines"
        }
        Some(libc::EACCES | libc::EPERM) => "not permitted; see kernel.perf_event_paranoid and CAP_PERFMON",
        Some(libc::ENOSYS) => "the kernel is built without perf events",
        _ => "unexpected",
    };
    Err(format!("{reason} ({error})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::thread::sched_getaffinity;

    fn allowed_cpus() -> Vec<usize> {
        let set = sched_getaffinity(None).unwrap();
        (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()
    }

    #[test]
    fn a_pinned_thread_may_run_on_one_cpu_only() {
        let cpus = allowed_cpus();
        let last = *cpus.last().unwrap();
        let seen = std::thread::spawn(move || {
            pin_current_thread(last).unwrap();
            (allowed_cpus(), rustix::thread::sched_getcpu())
        });
        assert_eq!(seen.join().unwrap(), (vec![last], last));
    }

    #[test]
    fn impossible_cpus_are_errors() {
        assert!(pin_current_thread(CpuSet::MAX_CPU - 1).is_err());
        assert!(pin_current_thread(usize::MAX).is_err());
    }

    #[test]
    fn counters_are_there_or_the_reason_is() {
        if let Err(reason) = hardware_counters() {
            assert!(reason.contains("os error"), "{reason}");
            assert!(!reason.contains("unexpected"), "{reason}");
        }
    }
}
