//! A plugin whose constructor runs before the initialisers of its types, and allocates with a
//! mutator that existed before it.

use allotment::{Field, Mutator, NewStr, Object, Root, Str, Word, alloc, root};

#[derive(Object)]
struct Early {
    next: Field<Option<Early>>,
    text: Field<Str>,
    key: u64,
}

#[derive(Object)]
struct Cell<T: Word> {
    value: Field<T>,
}

#[derive(Object)]
struct Other {
    key: u64,
}

fn allocate(mu: &mut Mutator<'_>) {
    let collect = std::env::var_os("PLUGIN_COLLECTS").is_some();
    root!(mu, text = alloc!(mu, NewStr::from("plugin")).unwrap());
    root!(mu, mut chain = alloc!(mu, NewEarly { next: None, text: text.get(mu), key: 0 }).unwrap());
    root!(mu, other = alloc!(mu, NewOther { key: 7 }).unwrap());
    root!(mu, cell = alloc!(mu, NewCell::<Early> { value: chain.get(mu) }).unwrap());
    root!(mu, first = chain.get(mu));
    assert!(first.get(mu).as_any().is::<Early>() && !first.get(mu).as_any().is::<Other>());
    assert!(other.get(mu).as_any().is::<Other>() && !other.get(mu).as_any().is::<Str>());
    // SAFETY: the header stands before the fields, and is 8 bytes.
    let header = |early: &Early| unsafe { std::ptr::from_ref(early).cast::<u64>().sub(1).read() };
    if header(first.get(mu).as_ref()) & 0b11 != 0b11 {
        // The program's other thread allocates, too, and may stop the world at any time.
        println!("plugin: a stop gave ids first");
    }
    // One that has asked for its hash, and so is settled alone.
    let hash = mu.identity_hash(first.get(mu));
    assert_eq!(mu.identity_hash(first.get(mu)), hash);
    assert_eq!(header(first.get(mu).as_ref()) & 0b11, 0);
    assert!(first.get(mu).as_any().is::<Early>());
    for key in 1..=5000 {
        let new = NewEarly { next: Some(chain.get(mu)), text: text.get(mu), key };
        let node = alloc!(mu, new).unwrap();
        chain.set(mu, node);
        if collect && key % 1000 == 0 {
            mu.collect();
        }
    }
    assert_eq!(mu.identity_hash(first.get(mu)), hash);
    assert_eq!(cell.get(mu).value.load(mu), first.get(mu));
    let mut kept = host::KEPT.lock().unwrap();
    kept.push(Root::new(mu, chain.get(mu).as_any()));
    kept.push(Root::new(mu, other.get(mu).as_any()));
    println!("plugin: {} {}", chain.get(mu).key, std::mem::needs_drop::<Early>());
}

extern "C" fn early() {
    if std::env::var_os("PLUGIN_OTHER_THREAD").is_some() {
        let mut call = host::CALL.lock().unwrap();
        *call = Some(allocate);
        drop(host::CALLED.wait_while(call, |call| call.is_some()).unwrap());
    } else {
        host::lent(allocate).expect("a mutator was lent");
    }
}

// SAFETY: the section holds pointers to functions that take no arguments.
#[used]
#[unsafe(link_section = ".init_array.00000")]
static EARLY: extern "C" fn() = early;

/// Reads the objects that the constructor kept.
#[unsafe(no_mangle)]
pub extern "C" fn check() {
    host::lent(|mu| {
        let kept = host::KEPT.lock().unwrap();
        let chain = kept[0].get(mu).downcast::<Early>().expect("an Early");
        assert_eq!(kept[1].get(mu).downcast::<Other>().expect("an Other").key, 7);
        let (mut at, mut count) = (Some(chain), 0);
        while let Some(node) = at {
            assert_eq!((&*node.text.load(mu), node.key), ("plugin", 5000 - count));
            (at, count) = (node.next.load(mu), count + 1);
        }
        println!("plugin: {count} are there");
    })
    .expect("a mutator was lent");
}
