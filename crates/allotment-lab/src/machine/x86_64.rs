//! The time stamp counter.

/// Reads the time stamp counter, without waiting for earlier instructions to finish.
#[inline(always)]
pub fn time_stamp_counter() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and Linux lets programs use it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_rises() {
        let first = super::time_stamp_counter();
        let later = (0..1_000_000).map(|_| super::time_stamp_counter()).max().unwrap();
        assert!(later > first);
    }
}
