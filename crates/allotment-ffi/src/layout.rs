//! The constants of `allotment/layout.h`, from the core's tables.
//!
//! A test prints the header from these rows, and fails if the file differs. `al_layout` returns the
//! same rows at run time.

use allotment::raw::{
    ADDRESS_MASK, BarrierKind, HEADER_BYTES, Hot, IMMEDIATE_BIT, LENGTH_OFFSET, MIN_OBJECT_BYTES, WORD,
};
use std::ffi::{CString, c_char};
use std::sync::OnceLock;

/// A constant of the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutRow {
    /// Its name, without `AL_`.
    pub name: String,
    /// Its value.
    pub value: u64,
    /// What it is.
    pub text: String,
}

/// The constants of `allotment/layout.h`, in their order.
pub fn layout() -> Vec<LayoutRow> {
    let row = |name: &str, value: u64, text: &str| LayoutRow { name: name.into(), value, text: text.into() };
    let mut rows = vec![row("HOT_VERSION", Hot::VERSION.into(), "version of these offsets")];
    for field in Hot::layout() {
        let name = format!("{}_OFFSET", field.name.to_uppercase());
        rows.push(row(&name, field.offset as u64, field.text));
    }
    for kind in BarrierKind::ALL {
        let name = format!("{}_BITS", kind.name().to_uppercase());
        rows.push(row(
            &name,
            kind.bits().into(),
            &format!("bits of `barriers` that send a {} to its slow path", kind.name().replace('_', " ")),
        ));
    }
    let copy = BarrierKind::Load.bits() | BarrierKind::Store.bits();
    rows.extend([
        row("COPY_BITS", copy.into(), "bits of `barriers` that send a copy of slots to its slow path"),
        row("MARKING_BIT", Hot::MARKING.into(), "bit of `barriers`: a store hands over the old word"),
        row("WEAK_BIT", Hot::WEAK.into(), "bit of `barriers`: a weak slot may hold a dead reference"),
        row("FORWARDING_BIT", Hot::FORWARDING.into(), "bit of `barriers`: objects are on the move"),
        row("HOOK_BIT", Hot::HOOK.into(), "bit of `barriers`: loads call the hook of generated code"),
        row("CARD_SHIFT", Hot::CARD_SHIFT.into(), "a slot's address shifted right by this is its card"),
        row("DIRTY_CARD", Hot::DIRTY_CARD.into(), "the byte of a dirty card"),
        row("REGION_TOP_OFFSET", Hot::REGION_TOP_OFFSET as u64, "from a region: its next free byte"),
        row("REGION_END_OFFSET", Hot::REGION_END_OFFSET as u64, "from a region: the end of its memory"),
        row("RANGE_BIT", Hot::RANGE_LINK as u64, "added to a frame's address on the list of roots"),
        row("BLOCKED_LINKS", Hot::BLOCKED_LINKS as u64, "the head of that list while its thread is blocked"),
        row("ADDRESS_MASK", ADDRESS_MASK, "the bits of a reference that are its address"),
        row("IMMEDIATE_BIT", IMMEDIATE_BIT, "the bit that immediates have set"),
        row("WORD_BYTES", WORD as u64, "bytes of a word"),
        row("HEADER_BYTES", HEADER_BYTES as u64, "bytes of an object's header"),
        row("LENGTH_OFFSET", LENGTH_OFFSET as u64, "offset of the length of an object with a tail"),
        row("MIN_OBJECT_BYTES", MIN_OBJECT_BYTES as u64, "bytes of the smallest object"),
        row("MAX_LENGTH", 1 << 43, "the largest length"),
    ]);
    rows
}

/// `al_layout_row`. Its texts are constants of the process.
#[repr(C)]
struct al_layout_row {
    name: *const c_char,
    value: u64,
    text: *const c_char,
}

// SAFETY: the texts are constants.
unsafe impl Send for al_layout_row {}
// SAFETY: as above.
unsafe impl Sync for al_layout_row {}

/// A text that C code may keep. It is never freed.
fn constant(text: String) -> *const c_char {
    CString::new(text).expect("a text of this library has no NUL").into_raw()
}

/// `al_layout`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_layout(count: *mut usize) -> *const al_layout_row {
    static ROWS: OnceLock<Box<[al_layout_row]>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| {
        let row = |row: LayoutRow| al_layout_row {
            name: constant(row.name),
            value: row.value,
            text: constant(row.text),
        };
        layout().into_iter().map(row).collect()
    });
    if !count.is_null() {
        // SAFETY: the caller's place is writable.
        unsafe { count.write(rows.len()) };
    }
    rows.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    fn header() -> String {
        let mut text = "/* allotment/layout.h: constants of the library, which printed this file.\n \
             * Do not edit it: `ALLOTMENT_WRITE_LAYOUT=1 cargo test -p allotment-ffi layout` prints it. */\n\
             #ifndef ALLOTMENT_LAYOUT_H\n#define ALLOTMENT_LAYOUT_H\n\n"
            .to_owned();
        for LayoutRow { name, value, text: what } in layout() {
            let number = if value > u64::from(u32::MAX) { format!("{value:#x}u") } else { value.to_string() };
            writeln!(text, "#define AL_{name} {number} /* {what} */").unwrap();
        }
        text.push_str("\n#endif /* ALLOTMENT_LAYOUT_H */\n");
        text
    }

    #[test]
    fn the_layout_in_the_header_is_the_one_of_the_library() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/include/allotment/layout.h");
        if std::env::var_os("ALLOTMENT_WRITE_LAYOUT").is_some() {
            std::fs::write(path, header()).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), header(), "print it again: see its head");
    }
}
