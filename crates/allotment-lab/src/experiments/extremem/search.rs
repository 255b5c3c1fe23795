//! Keyword search: the products that match all words of a query, and those that match any.
//!
//! With `AllowAnyMatch` both searches are always made, with sets of products. Without it, only the
//! first is, with sorted arrays of numbers. All sets and arrays are objects of the heap.

use super::goods::{Goods, ID, NewId, Product};
use super::shop::Common;
use super::table::{ENTRY, Set};
use super::text::{Dictionary, Text, Work, draw};
use allotment::{
    Array, Gc, Local, Mutator, NewArray, NewSlots, OutOfMemory, Slots, Stack, alloc, rebind, root,
};

/// Products that were found.
pub(super) type Found = Array<Option<Product>>;

/// Words of a query.
pub(super) type Query = Array<Option<Text>>;

/// `count` different random words of the dictionary. Nothing is copied.
///
/// # Errors
/// The heap is full.
pub(super) fn query<'m>(
    mutator: &'m mut Mutator<'_>,
    work: &mut Work,
    dictionary: Local<'_, Dictionary>,
    count: usize,
) -> Result<Gc<'m, Query>, OutOfMemory> {
    work.count(16 + 8 * count);
    let words = alloc!(mutator, NewArray::<Option<Text>>::new(count, None))?;
    let mut drawn = 0;
    while drawn < count {
        let word = draw(mutator, work, dictionary.get(mutator));
        let known = words.as_ref()[..drawn].iter().filter_map(|known| known.load(mutator));
        if known.into_iter().any(|known| known.chars(mutator) == word.chars(mutator)) {
            continue;
        }
        words.at(drawn).store(mutator, Some(word));
        drawn += 1;
    }
    Ok(rebind!(mutator, words))
}

/// A search by one thread. `'t` is its attachment.
pub(super) struct Search<'a, 't> {
    pub(super) common: &'a Common,
    /// Products between an index and what they are found for: no object.
    found: Stack<'t, Product>,
    /// Numbers, likewise.
    numbers: Vec<u64>,
}

impl<'a, 't> Search<'a, 't> {
    /// For a thread.
    pub(super) fn new(mutator: &Mutator<'t>, common: &'a Common) -> Self {
        Search { common, found: Stack::new(mutator), numbers: Vec::new() }
    }

    /// The candidates of a query: all that match all words; if there are none, all that match any.
    ///
    /// # Errors
    /// The heap is full.
    pub(super) fn candidates<'m>(
        &mut self,
        mutator: &'m mut Mutator<'t>,
        work: &mut Work,
        goods: Local<'_, Goods>,
        query: Local<'_, Query>,
    ) -> Result<Gc<'m, Found>, OutOfMemory> {
        if !self.common.workload.allow_any_match {
            return self.all_by_arrays(mutator, work, goods, query);
        }
        root!(mutator, all = self.all_by_sets(mutator, work, goods, query)?);
        root!(mutator, any = self.any(mutator, work, goods, query)?);
        let all = all.get(mutator);
        Ok(if all.is_empty() { any.get(mutator) } else { all })
    }

    fn word<'g>(mutator: &'g Mutator<'_>, query: Local<'_, Query>, at: usize) -> Gc<'g, Text> {
        query.get(mutator).at(at).load(mutator).expect("a query is full when it is made")
    }

    /// Adds the products that have a word to a set.
    fn add(
        &mut self,
        mutator: &mut Mutator<'t>,
        work: &mut Work,
        goods: Local<'_, Goods>,
        query: Local<'_, Query>,
        at: usize,
        to: Local<'_, Set<Product>>,
    ) -> Result<(), OutOfMemory> {
        let (word, here) = (Self::word(mutator, query, at), goods.get(mutator));
        for index in [here.names.load(mutator), here.descriptions.load(mutator)] {
            let Some(ids) = index.get(mutator, word) else { continue };
            let products = ids.table(mutator).keys(mutator).filter_map(|id| here.product(mutator, id));
            products.for_each(|product| self.found.push(mutator, product));
        }
        self.insert(mutator, work, to)
    }

    /// Moves what was found to a set.
    fn insert(
        &mut self,
        mutator: &mut Mutator<'t>,
        work: &mut Work,
        to: Local<'_, Set<Product>>,
    ) -> Result<(), OutOfMemory> {
        while let Some(product) = self.found.pop(mutator) {
            root!(mutator, product = product);
            if Set::insert(mutator, to, product)? {
                work.count(ENTRY);
            }
        }
        Ok(())
    }

    fn all_by_sets<'m>(
        &mut self,
        mutator: &'m mut Mutator<'t>,
        work: &mut Work,
        goods: Local<'_, Goods>,
        query: Local<'_, Query>,
    ) -> Result<Gc<'m, Found>, OutOfMemory> {
        root!(mutator, all = Set::<Product>::make(mutator)?);
        self.add(mutator, work, goods, query, 0, all)?;
        for at in 1..query.get(mutator).len() {
            root!(mutator, these = Set::<Product>::make(mutator)?);
            self.add(mutator, work, goods, query, at, these)?;
            root!(mutator, missing = Set::<Product>::make(mutator)?);
            let table = these.get(mutator).table(mutator);
            for product in all.get(mutator).table(mutator).keys(mutator) {
                if table.get(mutator, product).is_none() {
                    self.found.push(mutator, product);
                }
            }
            self.insert(mutator, work, missing)?;
            let table = all.get(mutator).table(mutator);
            for product in missing.get(mutator).table(mutator).keys(mutator) {
                table.remove(mutator, product);
            }
            work.count(2 * Set::<Product>::BYTES);
        }
        self.array(mutator, work, all)
    }

    fn any<'m>(
        &mut self,
        mutator: &'m mut Mutator<'t>,
        work: &mut Work,
        goods: Local<'_, Goods>,
        query: Local<'_, Query>,
    ) -> Result<Gc<'m, Found>, OutOfMemory> {
        root!(mutator, any = Set::<Product>::make(mutator)?);
        for at in 0..query.get(mutator).len() {
            self.add(mutator, work, goods, query, at, any)?;
        }
        self.array(mutator, work, any)
    }

    /// The products of a set.
    fn array<'m>(
        &mut self,
        mutator: &'m mut Mutator<'t>,
        work: &mut Work,
        set: Local<'_, Set<Product>>,
    ) -> Result<Gc<'m, Found>, OutOfMemory> {
        let len = set.get(mutator).table(mutator).len();
        work.count(Set::<Product>::BYTES + 16 + 8 * len);
        let array = alloc!(mutator, NewArray::<Option<Product>>::new(len, None))?;
        for (at, product) in set.get(mutator).table(mutator).keys(mutator).enumerate() {
            array.at(at).store(mutator, Some(product));
        }
        Ok(rebind!(mutator, array))
    }

    /// The sorted numbers of the products that have a word; a product that has it in its name and
    /// in its description is there twice.
    fn sorted<'m>(
        &mut self,
        mutator: &'m mut Mutator<'t>,
        work: &mut Work,
        goods: Local<'_, Goods>,
        query: Local<'_, Query>,
        at: usize,
    ) -> Result<Gc<'m, Slots<u64>>, OutOfMemory> {
        let (word, here) = (Self::word(mutator, query, at), goods.get(mutator));
        self.numbers.clear();
        for index in [here.names.load(mutator), here.descriptions.load(mutator)] {
            let Some(ids) = index.get(mutator, word) else { continue };
            self.numbers.extend(ids.table(mutator).keys(mutator).map(|id| id.value));
        }
        self.numbers.sort_unstable();
        work.count(16 + 8 * self.numbers.len());
        alloc!(mutator, NewSlots::from(&self.numbers[..]))
    }

    fn all_by_arrays<'m>(
        &mut self,
        mutator: &'m mut Mutator<'t>,
        work: &mut Work,
        goods: Local<'_, Goods>,
        query: Local<'_, Query>,
    ) -> Result<Gc<'m, Found>, OutOfMemory> {
        root!(mutator, first = self.sorted(mutator, work, goods, query, 0)?);
        let mut len = distinct(first.get(mutator));
        for at in 1..query.get(mutator).len() {
            let other = rebind!(self.sorted(mutator, work, goods, query, at)?);
            len = intersect(first.get(mutator), len, other);
        }
        work.count(16 + 8 * len);
        root!(mutator, found = alloc!(mutator, NewArray::<Option<Product>>::new(len, None))?);
        for at in 0..len {
            work.count(ID);
            let value = first.get(mutator).at(at).get();
            let id = alloc!(mutator, NewId { value })?;
            let product = goods.get(mutator).product(mutator, id);
            found.get(mutator).at(at).store(mutator, product);
        }
        Ok(found.get(mutator))
    }
}

/// Moves the different numbers of a sorted array to its front, and returns how many they are.
fn distinct(array: Gc<'_, Slots<u64>>) -> usize {
    let mut len = 0;
    for at in 0..array.len() {
        let number = array.at(at).get();
        if len == 0 || array.at(len - 1).get() != number {
            array.at(len).set(number);
            len += 1;
        }
    }
    len
}

/// Keeps those of the first `len` numbers of an array that another array has too; both are sorted.
/// Returns how many are left.
fn intersect(array: Gc<'_, Slots<u64>>, len: usize, other: Gc<'_, Slots<u64>>) -> usize {
    let (mut kept, mut place) = (0, 0);
    for at in 0..len {
        let number = array.at(at).get();
        while place < other.len() && other.at(place).get() < number {
            place += 1;
        }
        if place < other.len() && other.at(place).get() == number {
            array.at(kept).set(number);
            kept += 1;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::super::words::tests::with_dictionary;
    use super::super::workload::Workload;
    use super::*;
    use crate::experiments::first_collection::FirstCollection;

    /// The numbers of the products that a search for words finds, and those that it should find:
    /// all that have all words, or else all that have any of them.
    fn searched(any: bool, keywords: usize, seed: u64) -> (Vec<u64>, Vec<u64>) {
        let words: Vec<String> = (0..30).map(|word| format!("w{word}")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut outcome = (Vec::new(), Vec::new());
        with_dictionary(&words, |mutator, dictionary| {
            let workload = Workload {
                allow_any_match: any,
                product_name_length: 2,
                product_description_length: 6,
                ..Workload::new()
            };
            let common = Common::new(workload, FirstCollection::default());
            let work = &mut Work::new(seed, FirstCollection::default());
            root!(mutator, goods = common.catalogue.build(mutator, work, dictionary, 40)?);
            root!(mutator, words = query(mutator, work, dictionary, keywords)?);
            let mut search = Search::new(mutator, &common);
            root!(mutator, found = search.candidates(mutator, work, goods, words)?);
            mutator.collect();
            let found = found.get(mutator).iter(mutator).flatten().map(|product| product.id);
            outcome.0 = found.collect();
            outcome.0.sort_unstable();
            let words: Vec<&str> =
                words.get(mutator).iter(mutator).flatten().map(|word| word.chars(mutator)).collect();
            let matching = |enough: &dyn Fn(usize) -> bool| -> Vec<u64> {
                let has = |product: &Gc<'_, Product>| {
                    let texts = product.texts(mutator);
                    let has = |word: &str| texts.iter().any(|text| text.split(' ').any(|one| one == word));
                    enough(words.iter().filter(|word| has(word)).count())
                };
                goods.get(mutator).products(mutator).filter(has).map(|product| product.id).collect()
            };
            let all = matching(&|count| count == keywords);
            outcome.1 = if all.is_empty() && any { matching(&|count| count > 0) } else { all };
            outcome.1.sort_unstable();
            Ok(())
        });
        outcome
    }

    #[test]
    fn a_search_finds_what_looking_at_every_product_finds() {
        let mut sizes = Vec::new();
        for seed in 0..12 {
            for (any, keywords) in [(true, 1), (false, 1), (true, 2), (false, 2), (true, 3), (false, 3)] {
                let (found, expected) = searched(any, keywords, seed);
                assert_eq!(found, expected, "any {any}, {keywords} words, seed {seed}");
                sizes.push(found.len());
            }
        }
        assert!(sizes.contains(&0) && sizes.iter().any(|size| *size > 10), "{sizes:?}");
    }
}
