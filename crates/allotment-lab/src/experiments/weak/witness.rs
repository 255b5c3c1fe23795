//! The expected contents of a cache, kept outside the heap: the newest value of each key, and the
//! held values.

use anyhow::bail;

/// For each key, the number of times its value was made, and the number of window places that hold
/// it.
pub(super) struct Witness {
    keys: Vec<Known>,
    /// The key that each place of the window holds.
    window: Vec<Option<u32>>,
    /// The place to use next.
    next: usize,
}

#[derive(Clone, Copy, Default)]
struct Known {
    serial: u64,
    holders: u32,
}

impl Witness {
    /// A witness for `entries` keys and an empty window of `window` places.
    pub(super) fn new(entries: usize, window: usize) -> Witness {
        Witness { keys: vec![Known::default(); entries], window: vec![None; window], next: 0 }
    }

    /// Checks that a lookup of `key` may return a value with these numbers, or none.
    ///
    /// # Errors
    /// The result is wrong. The error names the collector's fault.
    pub(super) fn see(&self, key: usize, found: Option<(u64, u64)>) -> anyhow::Result<()> {
        let Known { serial, holders } = self.keys[key];
        match found {
            Some((its_key, _)) if its_key != key as u64 => {
                bail!("the entry of key {key} has the value of {its_key}")
            }
            Some((_, its_serial)) if its_serial != serial => {
                bail!(
                    "key {key} has been made {serial} times, and its entry has the value made as number {its_serial}"
                )
            }
            None if holders > 0 => {
                bail!("the entry of key {key} was cleared although {holders} places hold its value")
            }
            _ => Ok(()),
        }
    }

    /// Checks the result of a lookup after a collection of the whole heap: held values are present,
    /// and all others are gone.
    ///
    /// # Errors
    /// As [`Witness::see`]; also a value that the window does not hold was found.
    pub(super) fn see_collected(&self, key: usize, found: Option<(u64, u64)>) -> anyhow::Result<()> {
        self.see(key, found)?;
        if found.is_some() && self.keys[key].holders == 0 {
            bail!(
                "the entry of key {key} still has its value, which the window does not hold, after a collection of all"
            );
        }
        Ok(())
    }

    /// Records that the value of `key` is made anew, and returns its number. The first number is 1.
    pub(super) fn make(&mut self, key: usize) -> u64 {
        self.keys[key].serial += 1;
        self.keys[key].serial
    }

    /// Lets the window hold `key` in place of its oldest key, and returns the place.
    pub(super) fn hold(&mut self, key: usize) -> usize {
        let place = self.next;
        self.next = (place + 1) % self.window.len();
        if let Some(old) = self.window[place].replace(key as u32) {
            self.keys[old as usize].holders -= 1;
        }
        self.keys[key].holders += 1;
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_to_break_the_promise_is_seen() {
        let mut witness = Witness::new(4, 2);
        witness.see(3, None).unwrap();
        assert_eq!((witness.make(3), witness.hold(3)), (1, 0));
        witness.see(3, Some((3, 1))).unwrap();
        let fault = |witness: &Witness, found| witness.see(3, found).unwrap_err().to_string();
        assert!(fault(&witness, None).contains("cleared although 1 places hold"));
        assert!(fault(&witness, Some((2, 1))).contains("the value of 2"));
        assert!(fault(&witness, Some((3, 0))).contains("made as number 0"));

        assert_eq!((witness.hold(1), witness.hold(1)), (1, 0));
        witness.see(3, None).unwrap();
        witness.see(3, Some((3, 1))).unwrap();
        witness.see_collected(3, None).unwrap();
        let kept = witness.see_collected(3, Some((3, 1))).unwrap_err().to_string();
        assert!(kept.contains("which the window does not hold"), "{kept}");
        assert_eq!(witness.make(3), 2);
        assert!(fault(&witness, Some((3, 1))).contains("made as number 1"));
    }
}
