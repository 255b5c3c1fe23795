//! The products, and the data base of products: which there are, and which words each has.
//!
//! The data base is replaced as a whole: its four fields are published together, under a lock that
//! is held for these four stores. What they lead to never changes after that. So readers take the
//! four references and read without a lock, and the old indexes die at once when the last reader
//! has left them.

use super::locks::{DataBaseLocks, Locks};
use super::queue::{Change, Queue};
use super::shop::{DataBase, Shop};
use super::table::{Hashed, Set};
use super::text::{Draws, Made, Text};
use super::tree::{Ordered, Tree};
use crate::hold::hold;
use allotment::{Array, Field, Gc, Local, Mutator, NewArray, Object, OutOfMemory, alloc, rebind, root};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A number in an object of its own. Each posting of an index has one.
#[derive(Object)]
pub(super) struct Id {
    pub(super) value: u64,
}

impl Hashed for Id {
    fn hash<'g>(_: &'g Mutator<'_>, id: Gc<'g, Id>) -> u32 {
        (id.value ^ id.value >> 32) as u32
    }

    fn same<'g>(_: &'g Mutator<'_>, one: Gc<'g, Id>, other: Gc<'g, Id>) -> bool {
        one.value == other.value
    }
}

impl Ordered for Id {
    fn order<'g>(_: &'g Mutator<'_>, one: Gc<'g, Id>, other: Gc<'g, Id>) -> Ordering {
        one.value.cmp(&other.value)
    }
}

/// A product.
#[derive(Object)]
pub(super) struct Product {
    pub(super) id: u64,
    name: Field<Text>,
    description: Field<Text>,
}

/// Products are the same if they have the same number.
impl Hashed for Product {
    fn hash<'g>(_: &'g Mutator<'_>, product: Gc<'g, Product>) -> u32 {
        product.id as u32
    }

    fn same<'g>(_: &'g Mutator<'_>, one: Gc<'g, Product>, other: Gc<'g, Product>) -> bool {
        one.id == other.id
    }
}

/// Products by place.
type Products = Array<Option<Product>>;

/// Their numbers by place.
type Ids = Array<Option<Id>>;

/// For each word the numbers of the products that have it.
pub(super) type Index = Tree<Text, Set<Id>>;

/// The data base of products.
#[derive(Object)]
pub(super) struct Goods {
    ids: Field<Ids>,
    by_id: Field<Tree<Id, Product>>,
    pub(super) names: Field<Index>,
    pub(super) descriptions: Field<Index>,
}

/// How long the texts of a product are, in words, and the number of the next product.
#[derive(Debug)]
pub(super) struct Catalogue {
    name_length: usize,
    description_length: usize,
    next_id: AtomicU64,
}

impl Catalogue {
    /// A catalogue whose products have names and descriptions of these lengths, in words.
    pub(super) fn new(name_length: usize, description_length: usize) -> Catalogue {
        Catalogue { name_length, description_length, next_id: AtomicU64::new(0) }
    }

    /// A new product with random texts.
    pub(super) fn product<'m>(
        &self,
        mutator: &'m mut Mutator<'_>,
        draws: &mut Draws<'_>,
    ) -> Made<'m, Product> {
        root!(mutator, name = draws.concatenation(mutator, self.name_length)?);
        let description = rebind!(draws.concatenation(mutator, self.description_length)?);
        let (id, name) = (self.next_id.fetch_add(1, Relaxed), name.get(mutator));
        alloc!(mutator, NewProduct { id, name, description })
    }

    /// A data base of `count` new products.
    pub(super) fn build<'m>(
        &self,
        mutator: &'m mut Mutator<'_>,
        draws: &mut Draws<'_>,
        count: usize,
    ) -> Made<'m, Goods> {
        root!(mutator, products = alloc!(mutator, NewArray::<Option<Product>>::new(count, None))?);
        for place in 0..count {
            let product = rebind!(self.product(mutator, draws)?);
            products.get(mutator).at(place).store(mutator, Some(product));
        }
        index(mutator, products)
    }
}

impl Goods {
    /// The product with that number.
    pub(super) fn product<'g>(&self, mutator: &'g Mutator<'_>, id: Gc<'g, Id>) -> Option<Gc<'g, Product>> {
        self.by_id.load(mutator).get(mutator, id)
    }
}

impl DataBase for Goods {
    type Row = Product;

    fn published(shop: &Shop) -> &Field<Goods> {
        &shop.goods
    }

    fn changes(shop: &Shop) -> &Field<Queue<Change<Product>>> {
        &shop.product_changes
    }

    fn locks(locks: &Locks) -> &DataBaseLocks {
        &locks.goods
    }

    fn snapshot<'m>(
        mutator: &'m mut Mutator<'_>,
        shop: Local<'_, Shop>,
        lock: &Mutex<()>,
    ) -> Made<'m, Goods> {
        let goods = shop.get(mutator).goods.load(mutator);
        let new = {
            let _held = hold(lock);
            NewGoods {
                ids: goods.ids.load(mutator),
                by_id: goods.by_id.load(mutator),
                names: goods.names.load(mutator),
                descriptions: goods.descriptions.load(mutator),
            }
        };
        alloc!(mutator, new)
    }

    fn publish(&self, mutator: &Mutator<'_>, new: Gc<'_, Goods>) {
        self.ids.store(mutator, new.ids.load(mutator));
        self.by_id.store(mutator, new.by_id.load(mutator));
        self.names.store(mutator, new.names.load(mutator));
        self.descriptions.store(mutator, new.descriptions.load(mutator));
    }

    /// The indexes are built from the texts of all products. Nothing of the old indexes is used
    /// again.
    fn rebuild<'m>(
        mutator: &'m mut Mutator<'_>,
        old: Local<'_, Goods>,
        changes: Local<'_, Option<Change<Product>>>,
    ) -> Result<(Gc<'m, Goods>, usize), OutOfMemory> {
        let count = old.get(mutator).ids.load(mutator).len();
        let products = alloc!(mutator, NewArray::<Option<Product>>::new(count, None))?;
        let (goods, mut changed) = (old.get(mutator), 0);
        for (place, id) in goods.ids.load(mutator).iter(mutator).enumerate() {
            products.at(place).store(mutator, id.and_then(|id| goods.product(mutator, id)));
        }
        let mut next = changes.get(mutator);
        while let Some(change) = next {
            products.at(change.index).store(mutator, Some(change.replacement.load(mutator)));
            changed += 1;
            next = Queue::after(mutator, change);
        }
        root!(mutator, products = products);
        Ok((index(mutator, products)?, changed))
    }
}

/// The data base of these products.
fn index<'m>(mutator: &'m mut Mutator<'_>, products: Local<'_, Products>) -> Made<'m, Goods> {
    let count = products.get(mutator).len();
    root!(mutator, ids = alloc!(mutator, NewArray::<Option<Id>>::new(count, None))?);
    root!(mutator, by_id = Tree::<Id, Product>::make(mutator)?);
    root!(mutator, names = Index::make(mutator)?, descriptions = Index::make(mutator)?);
    for place in 0..count {
        let Some(product) = products.get(mutator).at(place).load(mutator) else { continue };
        root!(mutator, product = product);
        root!(mutator, id = alloc!(mutator, NewId { value: product.get(mutator).id })?);
        ids.get(mutator).at(place).store(mutator, Some(id.get(mutator)));
        Tree::insert(mutator, by_id, id, product)?;
        let number = product.get(mutator).id;
        root!(mutator, name = product.get(mutator).name.load(mutator));
        add(mutator, names, name, number)?;
        root!(mutator, description = product.get(mutator).description.load(mutator));
        add(mutator, descriptions, description, number)?;
    }
    let (ids, by_id) = (ids.get(mutator), by_id.get(mutator));
    let (names, descriptions) = (names.get(mutator), descriptions.get(mutator));
    alloc!(mutator, NewGoods { ids, by_id, names, descriptions })
}

/// Enters each word of `text` in an index: the word is cut out as a new string, and the number is
/// put into a new object, whether or not the index keeps them.
fn add(
    mutator: &mut Mutator<'_>,
    index: Local<'_, Index>,
    text: Local<'_, Text>,
    number: u64,
) -> Result<(), OutOfMemory> {
    let mut begin = 0;
    while let Some(word) = next_word(text.get(mutator).chars(mutator), begin) {
        begin = word.end + 1;
        root!(mutator, word = Text::piece(mutator, text, word)?);
        root!(mutator, mut set = index.get(mutator).get(mutator, word.get(mutator)));
        if set.get(mutator).is_none() {
            root!(mutator, new = Set::<Id>::make(mutator)?);
            Tree::insert(mutator, index, word, new)?;
            set.set(mutator, Some(new.get(mutator)));
        }
        root!(mutator, id = alloc!(mutator, NewId { value: number })?);
        let Some(set) = set.get(mutator) else { continue };
        root!(mutator, set = set);
        Set::insert(mutator, set, id)?;
    }
    Ok(())
}

/// The word that begins at `begin`.
fn next_word(text: &str, begin: usize) -> Option<Range<usize>> {
    let rest = text.get(begin..).filter(|rest| !rest.is_empty())?;
    let length = rest.find(' ').unwrap_or(rest.len());
    Some(begin..begin + length)
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::words::tests::with_dictionary;
    use super::*;

    impl Product {
        /// Name and description.
        pub(in super::super) fn texts<'g>(&self, mutator: &'g Mutator<'_>) -> [&'g str; 2] {
            [&self.name, &self.description].map(|text| text.load(mutator).chars(mutator))
        }
    }

    impl Goods {
        /// The products, by place.
        pub(in super::super) fn products<'g>(
            &self,
            mutator: &'g Mutator<'_>,
        ) -> impl Iterator<Item = Gc<'g, Product>> {
            let ids = self.ids.load(mutator).iter(mutator).flatten();
            let by_id = self.by_id.load(mutator);
            ids.map(move |id| by_id.get(mutator, id).expect("each number is that of a product"))
        }
    }

    #[test]
    fn a_rebuild_has_the_changes_and_new_indexes() {
        with_dictionary(&["a", "b", "c", "d"], |mutator, dictionary| {
            let draws = &mut Draws::new(5, dictionary);
            let catalogue = Catalogue::new(1, 2);
            root!(mutator, old = catalogue.build(mutator, draws, 10)?);
            root!(mutator, queue = Queue::<Change<Product>>::make(mutator)?);
            for place in [3, 7, 3] {
                root!(mutator, new = catalogue.product(mutator, draws)?);
                let change = alloc!(mutator, super::super::queue::NewChange::of(place, new.get(mutator)))?;
                queue.get(mutator).push(mutator, change);
            }
            root!(mutator, changes = queue.get(mutator).take(mutator));
            let (new, changed) = rebind!(Goods::rebuild(mutator, old, changes)?);
            root!(mutator, new = new);
            mutator.collect();
            assert_eq!(changed, 3);
            let numbers =
                |goods: Gc<'_, Goods>| goods.products(mutator).map(|product| product.id).collect::<Vec<_>>();
            assert_eq!(numbers(old.get(mutator)), (0..10).collect::<Vec<_>>());
            assert_eq!(
                numbers(new.get(mutator)),
                [0, 1, 2, 12, 4, 5, 6, 11, 8, 9],
                "the last change of a place counts"
            );
            let goods = new.get(mutator);
            assert_eq!(goods.by_id.load(mutator).len(), 10, "replaced products are gone");
            // Each word of the dictionary leads to the products that have it.
            for word in dictionary.get(mutator).iter(mutator).flatten() {
                for (part, index) in [(0, &goods.names), (1, &goods.descriptions)] {
                    let set = index.load(mutator).get(mutator, word);
                    let mut found: Vec<u64> = set.map_or(Vec::new(), |set| {
                        set.table(mutator).keys(mutator).map(|id| id.value).collect()
                    });
                    found.sort_unstable();
                    let has = |product: &Gc<'_, Product>| {
                        product.texts(mutator)[part].split(' ').any(|one| one == word.chars(mutator))
                    };
                    let mut expected: Vec<u64> =
                        goods.products(mutator).filter(has).map(|product| product.id).collect();
                    expected.sort_unstable();
                    assert_eq!(found, expected);
                }
            }
            Ok(())
        });
    }
}
