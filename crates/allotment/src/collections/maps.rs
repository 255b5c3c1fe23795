//! What both maps are: a type, its initialiser and its operations, over a rule that says under which hash a key is looked
//! for, and when two keys are one.
//!
//! Written once, as a macro. Refused: one generic type with the rule as a parameter. All instances of a generic object have one
//! layout, so a map by identity would carry a hasher that it never asks; both would have one name in a histogram; and of
//! `Map` and `IdMap`, then aliases, the compiler's messages would speak by another name.

/// The map `$map`, made by `$new`, whose keys are `$key`, and what its [`Lookup`] keeps beside the entries.
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
            /// An empty map, without room yet.
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
            /// # Errors
            /// [`OutOfMemory`] where there is none for it.
            pub fn with_capacity<'m>(
                mu: &'m mut Mutator<'_>,
                capacity: usize,
            ) -> Result<Gc<'m, $map<K, V>>, OutOfMemory> {
                allotment::root!(mu, map = allotment::alloc!(mu, $new::new())?);
                table::reserve(mu, map, capacity)?;
                Ok(map.get(mu))
            }

            /// Makes `value` what the map holds for `key`. A safepoint where the map is full and has no equal key.
            ///
            /// An equal key that is there stays, and its place in the order with it.
            ///
            /// # Errors
            /// [`OutOfMemory`] where the map cannot grow. It has not changed then.
            pub fn insert(
                mu: &mut Mutator<'_>,
                map: Local<'_, Self>,
                key: Local<'_, K>,
                value: Local<'_, V>,
            ) -> Result<(), OutOfMemory> {
                table::insert(mu, map, key, value)
            }

            /// Makes room for `additional` more entries, and for twice as many as there are if it has to make any. A safepoint.
            ///
            /// # Errors
            /// [`OutOfMemory`] where there is none for them. The map has not changed then.
            pub fn reserve(
                mu: &mut Mutator<'_>,
                map: Local<'_, Self>,
                additional: usize,
            ) -> Result<(), OutOfMemory> {
                table::reserve(mu, map, additional)
            }

            /// What the map holds for `key`.
            pub fn get<'g>(&self, mu: &'g Mutator<'_>, key: K::Of<'g>) -> Option<V::Of<'g>> {
                self.entries().value(mu, self.find(mu, key).1?)
            }

            /// Whether the map holds anything for `key`.
            pub fn contains<'g>(&self, mu: &'g Mutator<'_>, key: K::Of<'g>) -> bool {
                self.find(mu, key).1.is_some()
            }

            /// Takes an entry out; its value.
            pub fn remove<'g>(&self, mu: &'g Mutator<'_>, key: K::Of<'g>) -> Option<V::Of<'g>> {
                self.entries().remove(mu, self.find(mu, key).1?)
            }

            /// How many entries it has.
            pub fn len(&self) -> usize {
                self.len.get()
            }

            /// Whether it has none.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// How many entries it can have without growing, if none is removed.
            pub fn capacity(&self, mu: &Mutator<'_>) -> usize {
                self.entries().capacity(mu)
            }

            /// Takes all entries out, and gives up the room.
            pub fn clear(&self, mu: &Mutator<'_>) {
                self.entries().clear(mu);
            }

            /// Keys and values in the order of insertion, as many as there are now. What is removed meanwhile is not met.
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
