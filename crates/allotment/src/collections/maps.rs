//! The common definition of both maps: a type, its initialiser and its operations. A rule supplies
//! the hash under which a key is searched, and decides when two keys are equal.
//!
//! The definition is a macro, so that it is written once.
//!
//! Refused: one generic type with the rule as a parameter. All instances of a generic object have
//! one layout, so a map by identity would carry a hasher that it never uses. Both maps would have
//! one name in a histogram. `Map` and `IdMap` would be aliases, and the compiler's messages would
//! use another name.

/// An example of a method of `$map`: a map of one entry, and the lines that show the method. A
/// function on the map is named between two parts of the lines.
macro_rules! example {
    ($map:ident, $new:ident, $lines:literal $(, $name:ident, $more:literal)?) => {
        concat!(
            "```\n# use allotment::{Heap, ",
            stringify!($map),
            ", ",
            stringify!($new),
            ", OutOfMemory, Unboxed, alloc, pass, root};\n\
             # let heap = Heap::builder().max_heap_size(16 << 20).build()?;\n\
             # heap.attach(|mu| {\n\
             root!(mu, map = alloc!(mu, ",
            stringify!($new),
            "::<Unboxed<u32>, Unboxed<char>>::new())?);\npass!(",
            stringify!($map),
            "::insert(mu, map, =Unboxed(1), =Unboxed('a'))?);\n",
            $lines,
            $(stringify!($name), $more,)?
            "\n# Ok::<(), OutOfMemory>(())\n# })??;\n# Ok::<(), Box<dyn std::error::Error>>(())\n```"
        )
    };
}
pub(super) use example;

/// Defines the map `$map`, made by `$new`, with keys `$key`, and the data that its [`Lookup`] keeps
/// beside the entries.
macro_rules! define_map {
    (
        $(#[$about:meta])*
        pub struct $map:ident<K: $key:ident>, $new:ident { $($field:ident: $type:ident = $value:expr,)* }
    ) => {
        $(#[$about])*
        #[derive(allotment::Object)]
        pub struct $map<K: $key, V: Word> {
            buckets: Field<Option<Slots<u32>>>,
            hashes: Field<Option<Slots<u32>>>,
            keys: Field<Option<Array<Maybe<K>>>>,
            values: Field<Option<Array<Maybe<V>>>>,
            made: Plain<usize>,
            len: Plain<usize>,
            $($field: $type,)*
        }

        impl<K: $key, V: Word> $new<'_, K, V> {
            /// An empty map, which has no room for entries yet.
            ///
            #[doc = example!($map, $new, "assert_eq!(map.get(mu).len(), 1);")]
            pub fn new() -> Self {
                $new {
                    buckets: None,
                    hashes: None,
                    keys: None,
                    values: None,
                    made: Plain::new(0),
                    len: Plain::new(0),
                    $($field: $value,)*
                }
            }
        }

        impl<K: $key, V: Word> Default for $new<'_, K, V> {
            fn default() -> Self {
                Self::new()
            }
        }

        impl<K: $key, V: Word> Table for $map<K, V> {
            type Value = V;

            fn entries(&self) -> Entries<'_, K, V> {
                let $map { buckets, hashes, keys, values, made, len, .. } = self;
                Entries { buckets, hashes, keys, values, made, len }
            }
        }

        impl<K: $key, V: Word> $map<K, V> {
            /// A map with room for `capacity` entries. A safepoint.
            ///
            #[doc = example!($map, $new, "root!(mu, large = ", $map, "::<Unboxed<u32>, Unboxed<char>>::with_capacity(mu, 100)?);\n\
                assert!(large.get(mu).capacity(mu) >= 100);")]
            ///
            /// # Errors
            /// [`OutOfMemory`] if there is no memory for the map.
            pub fn with_capacity<'m>(
                mu: &'m mut Mutator<'_>,
                capacity: usize,
            ) -> Result<Gc<'m, $map<K, V>>, OutOfMemory> {
                allotment::root!(mu, map = allotment::alloc!(mu, $new::new())?);
                table::reserve(mu, map, capacity)?;
                Ok(map.get(mu))
            }

            /// Sets the value for `key`. A safepoint if the map is full and has no equal key.
            ///
            /// If the map has an equal key, that key stays, and so does its place in the order.
            ///
            #[doc = example!($map, $new, "pass!(", $map, "::insert(mu, map, =Unboxed(1), =Unboxed('b'))?);\n\
                assert_eq!(map.get(mu).get(mu, Unboxed(1)), Some(Unboxed('b')));")]
            ///
            /// # Errors
            /// [`OutOfMemory`] if the map cannot grow. The map is then unchanged.
            pub fn insert(
                mu: &mut Mutator<'_>,
                map: Local<'_, Self>,
                key: Local<'_, K>,
                value: Local<'_, V>,
            ) -> Result<(), OutOfMemory> {
                table::insert(mu, map, key, value)
            }

            /// Makes room for `additional` more entries. If there is not enough room yet, the map
            /// gets room for at least twice its entries. A safepoint.
            ///
            #[doc = example!($map, $new, "", $map, "::reserve(mu, map, 100)?;\n\
                assert!(map.get(mu).capacity(mu) >= 101);")]
            ///
            /// # Errors
            /// [`OutOfMemory`] if there is no memory for the entries. The map is then unchanged.
            pub fn reserve(
                mu: &mut Mutator<'_>,
                map: Local<'_, Self>,
                additional: usize,
            ) -> Result<(), OutOfMemory> {
                table::reserve(mu, map, additional)
            }

            /// The value for `key`.
            ///
            #[doc = example!($map, $new, "assert_eq!(map.get(mu).get(mu, Unboxed(1)), Some(Unboxed('a')));\n\
                assert_eq!(map.get(mu).get(mu, Unboxed(2)), None);")]
            pub fn get<'g>(&self, mu: &'g Mutator<'_>, key: K::Of<'g>) -> Option<V::Of<'g>> {
                self.entries().value(mu, self.find(mu, key).1?)
            }

            /// Whether the map has a value for `key`.
            ///
            #[doc = example!($map, $new, "assert!(map.get(mu).contains(mu, Unboxed(1)));\n\
                assert!(!map.get(mu).contains(mu, Unboxed(2)));")]
            pub fn contains<'g>(&self, mu: &'g Mutator<'_>, key: K::Of<'g>) -> bool {
                self.find(mu, key).1.is_some()
            }

            /// Removes an entry and returns its value.
            ///
            #[doc = example!($map, $new, "assert_eq!(map.get(mu).remove(mu, Unboxed(1)), Some(Unboxed('a')));\n\
                assert_eq!(map.get(mu).remove(mu, Unboxed(1)), None);")]
            pub fn remove<'g>(&self, mu: &'g Mutator<'_>, key: K::Of<'g>) -> Option<V::Of<'g>> {
                self.entries().remove(mu, self.find(mu, key).1?)
            }

            /// The number of entries.
            ///
            #[doc = example!($map, $new, "assert_eq!(map.get(mu).len(), 1);")]
            pub fn len(&self) -> usize {
                self.len.get()
            }

            /// Whether the map has no entries.
            ///
            #[doc = example!($map, $new, "assert!(!map.get(mu).is_empty());")]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The number of entries that fit without growth, if none is removed.
            ///
            #[doc = example!($map, $new, "assert!(map.get(mu).capacity(mu) >= 1);")]
            pub fn capacity(&self, mu: &Mutator<'_>) -> usize {
                self.entries().capacity(mu)
            }

            /// Removes all entries and releases the arrays.
            ///
            #[doc = example!($map, $new, "map.get(mu).clear(mu);\n\
                assert_eq!((map.get(mu).len(), map.get(mu).capacity(mu)), (0, 0));")]
            pub fn clear(&self, mu: &Mutator<'_>) {
                self.entries().clear(mu);
            }

            /// Keys and values in the order of insertion, as many as there are now. Entries removed
            /// meanwhile are skipped.
            ///
            #[doc = example!($map, $new, "assert!(map.get(mu).iter(mu).eq([(Unboxed(1), Unboxed('a'))]));")]
            pub fn iter<'g, 't>(
                &self,
                mu: &'g Mutator<'t>,
            ) -> impl DoubleEndedIterator<Item = (K::Of<'g>, V::Of<'g>)> + use<'g, 't, K, V> {
                self.entries().iter(mu)
            }
        }
    };
}
pub(super) use define_map;
