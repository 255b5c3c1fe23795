//! Consecutive numbers for keys, so that a list has an entry for each of them.

use std::collections::HashMap;
use std::hash::Hash;

/// Numbers for keys, in the order in which the keys were first asked for.
#[derive(Clone, Debug)]
pub(crate) struct Numbers<K> {
    numbers: HashMap<K, usize>,
    keys: Vec<K>,
}

impl<K> Default for Numbers<K> {
    fn default() -> Self {
        Numbers { numbers: HashMap::new(), keys: Vec::new() }
    }
}

impl<K: Copy + Eq + Hash> Numbers<K> {
    /// The number of a key.
    pub(crate) fn of(&mut self, key: K) -> usize {
        *self.numbers.entry(key).or_insert_with(|| {
            self.keys.push(key);
            self.keys.len() - 1
        })
    }

    /// The keys, by number.
    pub(crate) fn keys(&self) -> &[K] {
        &self.keys
    }
}
