//! Tests of the instructions that each machine has by the same names.

use super::machine::*;
use core::ptr::NonNull;

#[test]
fn every_address_may_be_prefetched() {
    let local = 7_u64;
    let addresses = [0, 1, (&raw const local).addr(), 1 << 46, 0x8000_0000_0000_0000, usize::MAX];
    for addr in addresses {
        prefetch_write::<0>(addr);
        prefetch_write::<192>(addr);
    }
    assert_eq!(local, 7);
}

#[test]
fn a_short_copy_is_all_of_it_and_no_more() {
    let from: Vec<u64> = (1..40).collect();
    for words in 0..from.len() - 1 {
        let mut to = vec![u64::MAX; from.len()];
        // SAFETY: both have more words.
        unsafe { copy_short(from.as_ptr().cast(), to.as_mut_ptr().cast(), words * 8) };
        assert_eq!((&to[..words], to[words]), (&from[..words], u64::MAX));
    }
}

#[test]
fn two_pairs_are_all_of_it_and_no_more() {
    let from: Vec<u64> = (1..40).collect();
    for words in 2..=4 {
        let mut to = [u64::MAX; 5];
        // SAFETY: both have more words.
        unsafe { copy_two_pairs(from.as_ptr().cast(), to.as_mut_ptr().cast(), words * 8) };
        assert_eq!((&to[..words], to[words]), (&from[..words], u64::MAX));
    }
}

#[test]
fn a_word_and_zeroes_fill_any_size_and_no_more() {
    for words in 2..40 {
        for any_size in [false, true] {
            let mut to = [u64::MAX; 41];
            let start = NonNull::from(&mut to).cast();
            // SAFETY: it has more words.
            unsafe {
                if any_size {
                    assert_eq!(write_word_and_any_zeroes(start, 7, words * 8), start);
                } else {
                    write_word_and_zeroes(start.as_ptr(), 7, words * 8);
                }
            }
            let mut expected = [u64::MAX; 41];
            expected[..words].fill(0);
            expected[0] = 7;
            assert_eq!(to, expected, "{words} words");
        }
    }
}

#[test]
fn an_unread_exchange_changes_one_byte() {
    let mut bytes = [7_u8; 4];
    let base = bytes.as_mut_ptr().expose_provenance();
    // SAFETY: the sum is the address of the byte with index 2.
    unsafe { exchange_unread::<1>(base.wrapping_sub(10), 12) };
    assert_eq!(bytes, [7, 7, 1, 7]);
}

#[test]
fn touching_keeps_the_contents() {
    let mut word = 0x1234_5678_u32;
    // SAFETY: the word is aligned and alive.
    unsafe { touch_for_write((&raw mut word).cast()) };
    assert_eq!(word, 0x1234_5678);
}
