//! A heap whose shapes, slots and texts have the names that a reader could trip over.

use super::super::heap;
use crate::mutator::Mutator;
use crate::object::{Element, Shape, SlotKind, WORD};

/// Names with what a format or a reader might take for something else.
pub(super) fn names() -> Vec<String> {
    let keys = crate::observe::snapshot::json::KEYS;
    let mut names: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
    for key in keys {
        names.extend([
            format!("a\"{key}"),
            format!("{key}\":[1"),
            format!("\"{key}\":[{{"),
            format!("\\\"{key}"),
        ]);
    }
    let others = [
        "",
        "\"",
        "\\",
        "\\\\\"",
        "]",
        "}]}",
        "{",
        "[",
        "[]",
        "[B",
        "[L",
        "[Lx;",
        "[[",
        "[T; 3]",
        "<div id=a>",
        "a b",
        "Detached <p a>",
        "Object",
        "Value[]",
        "byte[]",
        "int[]",
        "java.lang.Object",
        "java/lang/Class",
        "Window",
        "java.lang.String",
        "java.lang.ref.WeakReference",
        "java.util.HashMap",
        "__proto__",
        "constructor",
        "meta",
        "system / NativeContext",
        "\0\u{1}\u{7F}\t\r\n",
        "\u{FEFF}a",
        "é ключ 鍵 😀 \u{10FFFF}",
        "\u{2028}\u{FFFF}",
        "node_fields",
        "elements",
        "+8",
        "12",
        "a/b.c",
        "%00",
        "\u{85}\u{200B}\u{FFFD}",
    ];
    names.extend(others.map(str::to_owned));
    names.extend(["x".repeat(1 << 16), "\\".repeat(3000), "😀".repeat(1023) + "\"é", "\"".repeat(2000)]);
    names
}

/// Texts: the names, and bytes that are not UTF-8, such as halves of a pair of UTF-16.
pub(super) fn texts() -> Vec<Vec<u8>> {
    let mut texts: Vec<Vec<u8>> = names().into_iter().map(String::into_bytes).collect();
    texts.extend(
        [&b"\xED\xA0\x80"[..], b"a\xED\xB0\x80\xED\xA0\x80", b"\xFF\"nodes\"", b"\xC0\x80", b"caf\xC3"]
            .map(<[u8]>::to_vec),
    );
    texts
}

/// Makes a list in a heap, and calls `look` while a root holds its first object. For each name it
/// has an object of a shape of that name, with slots of that name; then come the texts.
pub(super) fn with_names<R>(look: impl FnOnce(&mut Mutator<'_>) -> R) -> R {
    let heap = heap(1 << 18, 16, "Collector=parallel");
    let array = Shape::array("Text", 24, Element::Plain { bytes: 1 }).slot("next", 16, SlotKind::Strong);
    let array = heap.register(array).unwrap();
    let shapes: Vec<_> = names()
        .into_iter()
        .map(|name| {
            let shape = Shape::fixed(name.clone(), 32).slot("next", 16, SlotKind::Strong);
            let shape = shape.slot(name.clone(), 8, SlotKind::Strong).slot(name, 24, SlotKind::Weak);
            heap.register(shape).unwrap()
        })
        .collect();
    heap.attach(|mutator| {
        // SAFETY: null refers to nothing.
        let list = unsafe { mutator.raw().new_root(0) };
        for text in texts() {
            // SAFETY: the shape is the heap's; its slot and its tail are those of a new object.
            unsafe {
                let new = mutator.raw_mut().alloc_raw(array, text.len()).expect("room");
                mutator
                    .raw()
                    .store(new.as_ptr().byte_add(16).cast(), list.get(mutator).expect("of this heap"));
                new.as_ptr().byte_add(24).copy_from_nonoverlapping(text.as_ptr(), text.len());
                list.set(mutator, new.as_ptr() as u64);
            }
        }
        for shape in shapes {
            // SAFETY: the shape is the heap's, and has three slots.
            unsafe {
                let new = mutator.raw_mut().alloc_raw(shape, 0).expect("room");
                let next = list.get(mutator).expect("of this heap");
                for word in [1, 2, 3] {
                    mutator.raw().store(new.as_ptr().byte_add(word * WORD).cast(), next);
                }
                list.set(mutator, new.as_ptr() as u64);
            }
        }
        let outcome = look(mutator);
        drop(list);
        outcome
    })
    .unwrap()
}
