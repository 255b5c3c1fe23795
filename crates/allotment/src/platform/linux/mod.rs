//! The system calls of the layer, one function each, and nothing else.
//!
//! Addresses go in as raw pointers, and answers come out as the kernel gave them. The callers add
//! the meaning.
//!
//! The calls go through `rustix`, not `libc`: its arguments are typed, and no `errno` can be
//! forgotten. One exception is `prctl`. `rustix` wants a slice for the range to be named, and a
//! slice over memory that may not be read is undefined behaviour.

pub(super) mod cgroup;
mod code_files;
mod elf;
#[cfg(test)]
pub(super) mod fake_tree;
mod loaded_files;
pub(super) mod pseudo_files;

pub(crate) use code_files::{CodeFile, code_files};
pub(crate) use loaded_files::{Pointers, find_loaded_types};
use std::ffi::{CStr, CString, c_ulong};
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::ptr::{self, NonNull};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use rustix::mm::{self, Advice, MapFlags, MprotectFlags, ProtFlags};
use rustix::thread::{CpuSet, Pid};
use rustix::time::{ClockId, clock_gettime};

use super::topology::cpu_list;
use pseudo_files::{field, read};

/// The number of the CPU that the caller runs on. The thread may have moved by the time the caller
/// uses the number.
///
/// The call does not enter the kernel (the vDSO answers) and takes a few nanoseconds: cheap for a
/// refill, too expensive for every allocation.
/// [`Topology::dense_index`](super::topology::Topology::dense_index) turns the number into an
/// index.
#[inline]
pub(crate) fn current_cpu() -> usize {
    rustix::thread::sched_getcpu()
}

/// Milliseconds of a clock that never runs backwards, to the precision of the scheduler's tick.
pub(super) fn coarse_ms() -> u64 {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}

/// The CPUs of a heap that the calling thread makes, ascending: the CPUs that the thread may run
/// on. If the thread is bound to one CPU, the CPUs of the process's first thread count, too: a
/// program binds a thread to one CPU for that thread's sake, but to several CPUs to place a part of
/// the program. Empty if the kernel does not tell.
pub(super) fn allowed_cpus() -> Vec<usize> {
    let mut cpus = own_cpus();
    if cpus.len() == 1 {
        cpus.extend(affinity(Some(rustix::process::getpid()), "/proc/self/status"));
        cpus.sort_unstable();
        cpus.dedup();
    }
    cpus
}

/// The CPUs that the calling thread may run on.
pub(crate) fn own_cpus() -> Vec<usize> {
    affinity(None, "/proc/thread-self/status")
}

/// The CPUs of a thread. The file `status` describes them, too.
fn affinity(thread: Option<Pid>, status: &str) -> Vec<usize> {
    match rustix::thread::sched_getaffinity(thread) {
        Ok(set) => (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect(),
        // A kernel with room for more than `MAX_CPU` CPUs refuses the short mask. The text has no
        // such limit.
        Err(_) => read(status)
            .and_then(|status| cpu_list::parse(field(&status, "Cpus_allowed_list")?))
            .unwrap_or_default(),
    }
}

/// Lets the calling thread run on these CPUs and on no other. If the kernel refuses, nothing
/// changes.
pub(crate) fn run_on_cpus(cpus: &[usize]) {
    SystemThread::current().run_on_cpus(cpus.iter().copied());
}

/// A thread of this process, as the kernel knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SystemThread(Pid);

impl SystemThread {
    /// The calling thread.
    pub(crate) fn current() -> SystemThread {
        SystemThread(rustix::thread::gettid())
    }

    /// The kernel's number of the thread.
    pub(crate) fn number(self) -> i32 {
        self.0.as_raw_nonzero().get()
    }

    /// Lets the thread run on these CPUs, as [`run_on_cpus`]. The thread need not be running. If it
    /// has ended, nothing happens.
    pub(crate) fn run_on_cpus(self, cpus: impl Iterator<Item = usize>) {
        let mut set = CpuSet::new();
        cpus.filter(|&cpu| cpu < CpuSet::MAX_CPU).for_each(|cpu| set.set(cpu));
        // The kernel refuses an empty set, too.
        let _ = rustix::thread::sched_setaffinity(Some(self.0), &set);
    }
}

/// Maps `bytes` of fresh addresses that can be neither read nor written, and do not count against
/// any limit.
pub(super) fn map_inaccessible(bytes: usize) -> Result<NonNull<u8>, Errno> {
    // SAFETY: a null address lets the kernel choose a range that nothing else uses.
    let start = unsafe {
        mm::mmap_anonymous(
            ptr::null_mut(),
            bytes,
            ProtFlags::empty(),
            MapFlags::PRIVATE | MapFlags::NORESERVE,
        )?
    };
    NonNull::new(start.cast()).ok_or(Errno::NOMEM)
}

/// Maps `bytes` of writable memory that reads zero. It reads zero again in a child of `fork()`, and
/// in a child of that child.
pub(super) fn map_wiped_on_fork(bytes: usize) -> Result<NonNull<u8>, Errno> {
    // SAFETY: a null address lets the kernel choose a range that nothing else uses.
    let start = unsafe {
        mm::mmap_anonymous(ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)?
    };
    // SAFETY: the range was just mapped, and holds nothing yet.
    if let Err(errno) = unsafe { mm::madvise(start, bytes, Advice::LinuxWipeOnFork) } {
        // SAFETY: as above.
        let _ = unsafe { mm::munmap(start, bytes) };
        return Err(errno);
    }
    NonNull::new(start.cast()).ok_or(Errno::NOMEM)
}

/// Whether the calling thread is the first one of its process. In a child of `fork()` the first
/// thread is the one that forked.
pub(crate) fn is_first_thread() -> bool {
    rustix::thread::gettid() == rustix::process::getpid()
}

/// The addresses of the calling thread's stack, which may run on another one, such as a
/// coroutine's. The first thread's stack grows: addresses below its stack pointer may not be
/// mapped. `None` if the system does not tell.
pub(crate) fn own_stack() -> Option<Range<usize>> {
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut start, mut bytes) = (ptr::null_mut(), 0);
    // SAFETY: the attributes are initialised by the first call if it succeeds, used by the second
    // and destroyed once.
    let is_known = unsafe {
        libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) == 0 && {
            let known = libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut start, &raw mut bytes) == 0;
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
            known
        }
    };
    is_known.then(|| start.addr()..start.addr().saturating_add(bytes))
}

/// Puts one inaccessible page of a memory file called `name` at `address`. `/proc/self/maps` shows
/// that name.
///
/// # Safety
/// - The page at `address` lies in a mapping of the caller's, and nothing uses it.
pub(super) unsafe fn map_label(address: *mut u8, page: usize, name: &CStr) -> Result<(), Errno> {
    let file = label_file(name)?;
    // SAFETY: the caller owns the page that is replaced. The mapping keeps the file alive after it
    // is closed.
    unsafe {
        mm::mmap(address.cast(), page, ProtFlags::empty(), MapFlags::PRIVATE | MapFlags::FIXED, &file, 0)?;
    }
    Ok(())
}

fn label_file(name: &CStr) -> Result<OwnedFd, Errno> {
    // Linux 6.3 expects a flag for a file that is not executed. Older kernels do not know the flag.
    match memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::NOEXEC_SEAL) {
        Err(Errno::INVAL) => memfd_create(name, MemfdFlags::CLOEXEC),
        answer => answer,
    }
}

/// Names an anonymous range, which then shows as `[anon:name]`. Needs Linux 5.17 with
/// `CONFIG_ANON_VMA_NAME`.
pub(super) fn name_range(start: *mut u8, bytes: usize, name: &CStr) -> io::Result<()> {
    // SAFETY: the call reads `name` and changes nothing but the label of the mapping; a wrong range
    // is an error. The kernel takes the arguments after the first as unsigned long, and pointers
    // and `usize` have that size here.
    let answer = unsafe {
        libc::prctl(libc::PR_SET_VMA, libc::PR_SET_VMA_ANON_NAME as c_ulong, start, bytes, name.as_ptr())
    };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The first `most` characters of `name`, with `-` for each that is not a letter or digit of ASCII,
/// `.`, `_` or `-`.
pub(super) fn plain_name(name: &str, most: usize) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    name.chars().take(most).map(keep).collect()
}

/// `allotment-` and as much of `name` as the kernel accepts in both places: 64 letters, digits,
/// `.`, `_`, `-`.
pub(super) fn mapping_name(name: &str) -> CString {
    CString::new(format!("allotment-{}", plain_name(name, 64))).unwrap_or_default()
}

/// Removes the mappings of a range. An empty range is left alone.
///
/// # Safety
/// - The range is page-aligned, belongs to the caller, and nothing uses it now or later.
pub(super) unsafe fn unmap(start: *mut u8, bytes: usize) -> Result<(), Errno> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller's promise is the one that `munmap` asks for.
    unsafe { mm::munmap(start.cast(), bytes) }
}

/// Makes a range readable and writable.
///
/// # Safety
/// - The range is page-aligned and lies in a mapping of the caller's.
pub(super) unsafe fn allow_access(start: *mut u8, bytes: usize) -> Result<(), Errno> {
    // SAFETY: more access cannot break a promise made about less; the mapping is the caller's.
    unsafe { mm::mprotect(start.cast(), bytes, MprotectFlags::READ | MprotectFlags::WRITE) }
}

/// Makes every access to a range a fault.
///
/// # Safety
/// - The range is page-aligned and lies in a mapping of the caller's.
/// - No reference into the range is alive.
pub(super) unsafe fn forbid_access(start: *mut u8, bytes: usize) -> Result<(), Errno> {
    // SAFETY: the caller's promise.
    unsafe { mm::mprotect(start.cast(), bytes, MprotectFlags::empty()) }
}

/// Gives the memory of a range back. The range reads zero afterwards.
///
/// # Safety
/// - The range is page-aligned and lies in a private anonymous mapping of the caller's.
/// - No reference into the range is alive.
pub(super) unsafe fn discard(start: *mut u8, bytes: usize) -> Result<(), Errno> {
    // SAFETY: the caller's promise.
    unsafe { mm::madvise(start.cast(), bytes, Advice::LinuxDontNeed) }
}

/// Asks for transparent huge pages in a range, committed or not.
///
/// # Safety
/// - The range is page-aligned and lies in a mapping of the caller's.
pub(super) unsafe fn advise_huge_pages(start: *mut u8, bytes: usize) -> Result<(), Errno> {
    // SAFETY: the advice changes how memory is backed, not what it holds.
    unsafe { mm::madvise(start.cast(), bytes, Advice::LinuxHugepage) }
}

/// Whether the kernel supports [`advise_huge_pages`]. A kernel built without huge pages refuses the
/// advice for any range.
pub(crate) fn can_advise_huge_pages() -> bool {
    takes_advice(Advice::LinuxHugepage)
}

/// Whether the kernel has [`populate`] (Linux 5.14).
pub(super) fn can_populate() -> bool {
    takes_advice(Advice::LinuxPopulateWrite)
}

/// Whether the kernel takes the advice. A length of zero asks without doing anything.
fn takes_advice(advice: Advice) -> bool {
    // SAFETY: an empty range holds nothing that could be changed.
    unsafe { mm::madvise(ptr::null_mut(), 0, advice) }.is_ok()
}

/// Backs a range by memory as a write to each page would, without changing what it holds.
///
/// # Safety
/// - The range is page-aligned and lies in a mapping of the caller's.
pub(super) unsafe fn populate(start: *mut u8, bytes: usize) -> Result<(), Errno> {
    // SAFETY: contents are unchanged, and a range that may not be written is an error, not a fault.
    rustix::io::retry_on_intr(|| unsafe { mm::madvise(start.cast(), bytes, Advice::LinuxPopulateWrite) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_current_cpu_is_an_allowed_one() {
        let allowed = allowed_cpus();
        assert!(allowed.is_sorted());
        assert!(allowed.contains(&current_cpu()), "{} not in {allowed:?}", current_cpu());
    }

    #[test]
    fn a_thread_that_is_bound_to_one_cpu_sees_those_of_the_process_and_of_two_its_own() {
        let all = allowed_cpus();
        for own in [1, 2].map(|count| all[..count.min(all.len())].to_vec()) {
            let seen = std::thread::spawn({
                let own = own.clone();
                move || {
                    run_on_cpus(&own);
                    allowed_cpus()
                }
            });
            assert_eq!(seen.join().unwrap(), if own.len() == 1 { all.clone() } else { own });
        }
    }

    #[test]
    fn names_keep_to_what_the_kernel_takes() {
        assert_eq!(mapping_name("heap 1/[x]$\0é").to_bytes(), b"allotment-heap-1--x----");
        assert_eq!(mapping_name(&"x".repeat(1000)).to_bytes().len(), 10 + 64);
        assert_eq!(mapping_name("").to_bytes(), b"allotment-");
    }
}
