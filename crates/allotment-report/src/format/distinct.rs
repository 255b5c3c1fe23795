//! Items in the order of their first appearance.

/// Each item once.
pub fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}

/// Each key once, with its values.
pub fn grouped<K: PartialEq, V>(items: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut found: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in items {
        match found.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => found.push((key, vec![value])),
        }
    }
    found
}
