//! Keyword search: the products that match all words of a query, and those that match any.
//!
//! With `AllowAnyMatch` both searches are always made, with sets of products. Without it, only the
//! first is, with sorted arrays of numbers. All sets and arrays are objects of the heap.

use super::goods::{Goods, Id, NewId, Product};
use super::table::Set;
use super::text::{Draws, Made, Text};
use allotment::{
    Array, Gc, Local, Mutator, NewArray, NewSlots, OutOfMemory, Slots, Stack, alloc, rebind, root,
};

/// Products that were found.
pub(super) type Found = Array<Option<Product>>;

/// Words of a query.
pub(super) type Words = Array<Option<Text>>;

/// A query: words, and where they are looked up.
#[derive(Clone, Copy)]
pub(super) struct Query<'q> {
    pub(super) goods: Local<'q, Goods>,
    pub(super) words: Local<'q, Words>,
}

impl Query<'_> {
    fn len(self, mutator: &Mutator<'_>) -> usize {
        self.words.get(mutator).len()
    }

    /// The numbers of the products that have the word at a place: in their names, and in their
    /// descriptions.
    fn ids<'g>(self, mutator: &'g Mutator<'_>, at: usize) -> impl Iterator<Item = Gc<'g, Id>> {
        let word = self.words.get(mutator).at(at).load(mutator).expect("a query is full when it is made");
        let goods = self.goods.get(mutator);
        let indexes = [goods.names.load(mutator), goods.descriptions.load(mutator)];
        let sets = indexes.into_iter().filter_map(move |index| index.get(mutator, word));
        sets.flat_map(move |ids| ids.table(mutator).keys(mutator))
    }
}

/// `count` different random words of the dictionary. Nothing is copied.
pub(super) fn words<'m>(
    mutator: &'m mut Mutator<'_>,
    draws: &mut Draws<'_>,
    count: usize,
) -> Made<'m, Words> {
    let words = alloc!(mutator, NewArray::<Option<Text>>::new(count, None))?;
    let mut drawn = 0;
    while drawn < count {
        let word = draws.draw(mutator);
        let mut known = words.as_ref()[..drawn].iter().filter_map(|known| known.load(mutator));
        if known.any(|known| known.chars(mutator) == word.chars(mutator)) {
            continue;
        }
        words.at(drawn).store(mutator, Some(word));
        drawn += 1;
    }
    Ok(rebind!(mutator, words))
}

/// A thread that searches. `'t` is its attachment.
pub(super) struct Search<'t> {
    /// `AllowAnyMatch` of the workload.
    allows_any: bool,
    /// Products on their way from an index to a set or an array, outside the heap.
    found: Stack<'t, Product>,
    /// Numbers on the same way.
    numbers: Vec<u64>,
}

impl<'t> Search<'t> {
    /// For a thread.
    pub(super) fn new(mutator: &Mutator<'t>, allows_any: bool) -> Self {
        Search { allows_any, found: Stack::new(mutator), numbers: Vec::new() }
    }

    /// The candidates of a query: all that match all words; if there are none, all that match any.
    pub(super) fn candidates<'m>(
        &mut self,
        mutator: &'m mut Mutator<'t>,
        query: Query<'_>,
    ) -> Made<'m, Found> {
        if !self.allows_any {
            return self.all_by_arrays(mutator, query);
        }
        root!(mutator, all = self.all_by_sets(mutator, query)?);
        root!(mutator, any = self.any(mutator, query)?);
        let all = all.get(mutator);
        Ok(if all.is_empty() { any.get(mutator) } else { all })
    }

    /// Adds the products that have the word at a place to a set.
    fn add(
        &mut self,
        mutator: &mut Mutator<'t>,
        query: Query<'_>,
        at: usize,
        to: Local<'_, Set<Product>>,
    ) -> Result<(), OutOfMemory> {
        let goods = query.goods.get(mutator);
        let products = query.ids(mutator, at).filter_map(|id| goods.product(mutator, id));
        products.for_each(|product| self.found.push(mutator, product));
        self.insert(mutator, to)
    }

    /// Moves what was found to a set.
    fn insert(&mut self, mutator: &mut Mutator<'t>, to: Local<'_, Set<Product>>) -> Result<(), OutOfMemory> {
        while let Some(product) = self.found.pop(mutator) {
            root!(mutator, product = product);
            Set::insert(mutator, to, product)?;
        }
        Ok(())
    }

    fn all_by_sets<'m>(&mut self, mutator: &'m mut Mutator<'t>, query: Query<'_>) -> Made<'m, Found> {
        root!(mutator, all = Set::<Product>::make(mutator)?);
        self.add(mutator, query, 0, all)?;
        for at in 1..query.len(mutator) {
            root!(mutator, these = Set::<Product>::make(mutator)?);
            self.add(mutator, query, at, these)?;
            root!(mutator, missing = Set::<Product>::make(mutator)?);
            let table = these.get(mutator).table(mutator);
            for product in all.get(mutator).table(mutator).keys(mutator) {
                if table.get(mutator, product).is_none() {
                    self.found.push(mutator, product);
                }
            }
            self.insert(mutator, missing)?;
            let table = all.get(mutator).table(mutator);
            for product in missing.get(mutator).table(mutator).keys(mutator) {
                table.remove(mutator, product);
            }
        }
        self.array(mutator, all)
    }

    fn any<'m>(&mut self, mutator: &'m mut Mutator<'t>, query: Query<'_>) -> Made<'m, Found> {
        root!(mutator, any = Set::<Product>::make(mutator)?);
        for at in 0..query.len(mutator) {
            self.add(mutator, query, at, any)?;
        }
        self.array(mutator, any)
    }

    /// The products of a set.
    fn array<'m>(&mut self, mutator: &'m mut Mutator<'t>, set: Local<'_, Set<Product>>) -> Made<'m, Found> {
        let len = set.get(mutator).table(mutator).len();
        let array = alloc!(mutator, NewArray::<Option<Product>>::new(len, None))?;
        for (at, product) in set.get(mutator).table(mutator).keys(mutator).enumerate() {
            array.at(at).store(mutator, Some(product));
        }
        Ok(rebind!(mutator, array))
    }

    /// The sorted numbers of the products that have the word at a place; a product that has it in
    /// its name and in its description is there twice.
    fn sorted<'m>(
        &mut self,
        mutator: &'m mut Mutator<'t>,
        query: Query<'_>,
        at: usize,
    ) -> Made<'m, Slots<u64>> {
        self.numbers.clear();
        self.numbers.extend(query.ids(mutator, at).map(|id| id.value));
        self.numbers.sort_unstable();
        alloc!(mutator, NewSlots::from(&self.numbers[..]))
    }

    fn all_by_arrays<'m>(&mut self, mutator: &'m mut Mutator<'t>, query: Query<'_>) -> Made<'m, Found> {
        root!(mutator, first = self.sorted(mutator, query, 0)?);
        let mut len = distinct(first.get(mutator));
        for at in 1..query.len(mutator) {
            let other = rebind!(self.sorted(mutator, query, at)?);
            len = intersect(first.get(mutator), len, other);
        }
        root!(mutator, found = alloc!(mutator, NewArray::<Option<Product>>::new(len, None))?);
        for at in 0..len {
            let value = first.get(mutator).at(at).get();
            let id = alloc!(mutator, NewId { value })?;
            let product = query.goods.get(mutator).product(mutator, id);
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
    use super::super::goods::Catalogue;
    use super::super::words::tests::with_dictionary;
    use super::*;

    /// The numbers of the products that a search for words finds, and those that it should find:
    /// all that have all words, or else all that have any of them.
    fn searched(any: bool, keywords: usize, seed: u64) -> (Vec<u64>, Vec<u64>) {
        let vocabulary: Vec<String> = (0..30).map(|word| format!("w{word}")).collect();
        let vocabulary: Vec<&str> = vocabulary.iter().map(String::as_str).collect();
        let mut outcome = (Vec::new(), Vec::new());
        with_dictionary(&vocabulary, |mutator, dictionary| {
            let mut draws = Draws::new(seed, dictionary);
            root!(mutator, goods = Catalogue::new(2, 6).build(mutator, &mut draws, 40)?);
            root!(mutator, words = words(mutator, &mut draws, keywords)?);
            let mut search = Search::new(mutator, any);
            root!(mutator, found = search.candidates(mutator, Query { goods, words })?);
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
