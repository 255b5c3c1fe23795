//! Putting a tick.
//!
//! A tick is put without a safepoint where its block has room. Otherwise one new block or node is
//! allocated, which may reach a safepoint, one full node is split, and the put begins again. So no
//! pointer is kept over a safepoint, and after each step the tree is valid: if there is no more
//! memory, the store has lost nothing.

use crate::block::Block;
use crate::inner::{At, Inner};
use crate::place::Way;
use crate::store::Store;
use crate::tick::{Key, Quote, Tick, key_of};
use allotment::{Gc, Local, Mutator, NewSlots, OutOfMemory, Slots, alloc, rebind};

/// The object that a put needs first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Block,
    Inner,
}

impl Store {
    /// Puts a tick. Returns the replaced quote, if the store had one for this key.
    ///
    /// # Errors
    /// The heap is full. The store is as before.
    #[inline]
    pub fn put(
        mu: &mut Mutator<'_>,
        store: Local<'_, Store>,
        tick: Tick,
    ) -> Result<Option<Quote>, OutOfMemory> {
        loop {
            match store.get(mu).try_put(mu, &tick) {
                Ok(replaced) => return Ok(replaced),
                Err(needs) => make_room(mu, store, tick.key, needs)?,
            }
        }
    }

    #[inline]
    fn try_put(&self, mu: &Mutator<'_>, tick: &Tick) -> Result<Option<Quote>, Needs> {
        let root = self.root.load(mu);
        let Some(leaf) = root.leaf(mu, tick.key) else { return Err(Needs::Block) };
        let at = leaf.block.below(tick.key);
        if let Some(words) = leaf.block.ticks().get(at).filter(|words| key_of(words) == tick.key) {
            let replaced = Tick::read(words).quote;
            tick.write_quote(words);
            return Ok(Some(replaced));
        }
        if leaf.block.is_full() {
            let Way { top, parent } = root.way(mu, tick.key);
            let is_block = matches!(top, At::Block(_)) && parent.is_some();
            return Err(if is_block { Needs::Block } else { Needs::Inner });
        }
        leaf.block.insert(at, tick);
        self.len.set(self.len.get() + 1);
        Ok(None)
    }

    /// Gives the tree one more block: the first, or one that takes ticks of a full one.
    fn add_block(&self, mu: &Mutator<'_>, key: Key, new: Gc<'_, Slots<u64>>) {
        let Way { top, parent } = self.root.load(mu).way(mu, key);
        match (top, parent) {
            (At::Block(full), Some((parent, index))) => {
                let (full, right) = (Block(full), Block(new));
                let cut = full.cut(key);
                let border = full.ticks().get(cut).map_or(key, key_of);
                full.move_to(cut, right);
                parent.insert(mu, index + 1, border, At::Block(new));
            }
            (At::Nothing, None) => self.root.store(mu, At::Block(new)),
            // The put begins again, and finds out what it needs now.
            _ => {}
        }
    }

    /// Gives the tree one more node: a root above the old one, or one that takes half the children
    /// of a full one.
    fn add_inner(&self, mu: &Mutator<'_>, key: Key, new: Gc<'_, Inner>) {
        let Way { top, parent } = self.root.load(mu).way(mu, key);
        match (top, parent) {
            (At::Inner(full), Some((parent, index))) => {
                let half = full.len() / 2;
                let border = full.key(mu, half);
                full.move_to(mu, half, new.as_ref());
                parent.insert(mu, index + 1, border, At::Inner(new));
            }
            (At::Block(_) | At::Inner(_), None) => {
                new.insert(mu, 0, Key::MIN, top);
                self.root.store(mu, At::Inner(new));
            }
            _ => {}
        }
    }
}

#[cold]
#[inline(never)]
fn make_room(
    mu: &mut Mutator<'_>,
    store: Local<'_, Store>,
    key: Key,
    needs: Needs,
) -> Result<(), OutOfMemory> {
    match needs {
        Needs::Block => {
            let words = store.get(mu).block_words;
            let block = alloc!(mu, NewSlots::new(words, 0_u64))?;
            store.get(mu).add_block(mu, key, block);
        }
        Needs::Inner => {
            let inner = rebind!(Inner::make(mu)?);
            store.get(mu).add_inner(mu, key, inner);
        }
    }
    Ok(())
}
