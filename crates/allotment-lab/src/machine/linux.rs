//! Linux alone: binding to a CPU, the end of the parent, and the limit on open files.

use rustix::process::{
    Resource, Rlimit, Signal, getppid, getrlimit, set_parent_process_death_signal, setrlimit,
};
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

/// Makes the kernel kill this process when its parent ends, so that no measuring process is left
/// over. Makes two system calls, and allocates nothing.
///
/// # Errors
/// `ESRCH` if the parent, whose process id is `parent`, has ended already; or the kernel refuses.
pub fn die_with_parent(parent: u32) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have ended before the call; then the signal would never come.
    let is_there = getppid().is_some_and(|pid| pid.as_raw_nonzero().get().unsigned_abs() == parent);
    if is_there { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
}

/// Raises the limit on open files to the hard limit.
///
/// # Errors
/// The kernel refuses.
pub fn raise_open_files() -> io::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    Ok(setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })?)
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
    fn as_many_files_as_allowed() {
        raise_open_files().unwrap();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
    }
}
