//! How many bytes objects take in the JVM that wrote a file.
//!
//! HPROF has no sizes. It has the types of fields and the lengths of arrays, and ids that are
//! addresses. The layout of objects in a JVM depends on the width of references and headers, which
//! the file does not have either. But objects that follow each other leave room only for their own
//! size: an array of n references that ends before 8 n bytes has references of 4 bytes. Eclipse MAT
//! looks at arrays of references for that. Arrays of data show in the same way how wide the headers
//! are.
//!
//! FieldLayout are placed as HotSpot 15 and later do: the largest first, references last, each into a gap
//! of its superclasses where it fits. Not known from a file, so not counted: padding (`@Contended`),
//! and stacks of virtual threads in their `StackChunk`.
//!
//! Refused: the instance size that a class states. HotSpot writes the sum of the fields there, with
//! 8 bytes for each reference.

/// Objects begin at multiples of this, in bytes.
const ALIGNMENT: u64 = 8;

/// Arrays that are looked at before their headers are taken for large ones.
const ENOUGH_ARRAYS: u64 = 16;

/// The sizes on which the layout of objects depends, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    /// The header of an object.
    pub(super) header: u64,
    /// The header of an array, its length included.
    pub(super) array_header: u64,
    /// A reference.
    pub(super) reference: u64,
    /// The name of these sizes.
    pub(super) name: &'static str,
}

/// The sizes that occur.
pub(super) const KNOWN: [Sizes; 6] = [
    Sizes { header: 16, array_header: 24, reference: 8, name: "references of 8 bytes, headers of 16" },
    Sizes { header: 12, array_header: 16, reference: 8, name: "references of 8 bytes, headers of 12" },
    Sizes { header: 12, array_header: 16, reference: 4, name: "references of 4 bytes, headers of 12" },
    Sizes { header: 8, array_header: 12, reference: 8, name: "references of 8 bytes, headers of 8" },
    Sizes { header: 8, array_header: 12, reference: 4, name: "references of 4 bytes, headers of 8" },
    // The array of an object is a part of the object in the heap, whose header the object has.
    Sizes { header: 8, array_header: 0, reference: 8, name: "as in the heap that wrote the file" },
];

/// The place in [`KNOWN`] for ids of 4 bytes: 32-bit JVMs, and Android.
const SMALL_IDS: usize = 4;

/// The place in [`KNOWN`] for what our heaps write.
pub(super) const OURS: usize = 5;

impl Sizes {
    /// The bytes of an array of `elements` elements of `bytes` each; 0 bytes: of references.
    pub(super) fn array(&self, elements: u64, bytes: u64) -> u64 {
        let bytes = if bytes == 0 { self.reference } else { bytes };
        (self.array_header.next_multiple_of(bytes).saturating_add(elements.saturating_mul(bytes)))
            .checked_next_multiple_of(ALIGNMENT)
            .unwrap_or(u64::MAX)
    }
}

/// The evidence of the addresses so far.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// The array that came last: its address, elements, and bytes of one; 0: of references.
    last: Option<(u64, u64, u64)>,
    /// An array of references had no room for references of 8 bytes.
    narrow: bool,
    /// The least number of bytes between an array of data with a header of 16 bytes, and what
    /// follows it.
    least: Option<i64>,
    arrays: u64,
}

impl Evidence {
    /// An object has this address, and is an array where its elements and the bytes of one are
    /// given.
    pub(super) fn object(&mut self, address: u64, array: Option<(u64, u64)>) {
        let last =
            std::mem::replace(&mut self.last, array.map(|(elements, bytes)| (address, elements, bytes)));
        let Some((start, elements, bytes)) = last else { return };
        let Some(gap) = address.checked_sub(start).filter(|gap| *gap > 0) else { return };
        let wide = Sizes { array_header: 16, reference: 8, ..KNOWN[0] }.array(elements, bytes);
        if bytes == 0 {
            self.narrow |= gap < wide;
        } else {
            self.arrays += 1;
            let rest = (gap as i64).saturating_sub(i64::try_from(wide).unwrap_or(i64::MAX));
            self.least = Some(self.least.map_or(rest, |least| least.min(rest)));
        }
    }

    /// The place in [`KNOWN`] of the sizes that go with what was seen.
    pub(super) fn place(&self, id_bytes: u32) -> usize {
        if id_bytes == 4 {
            return SMALL_IDS;
        }
        let least = self.least.unwrap_or(0);
        match (least, self.narrow) {
            (..0, false) => 3,
            (..0, true) => 4,
            (_, true) => 2,
            (8.., false) if self.arrays >= ENOUGH_ARRAYS => 0,
            (_, false) => 1,
        }
    }
}

/// The end of the fields of a class, and the gaps before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldLayout {
    end: u64,
    /// Gaps of 1, 2 and 4 bytes.
    gaps: [u64; 3],
}

impl FieldLayout {
    /// An object without fields: its header, in bytes.
    pub(super) fn new(header: u64) -> FieldLayout {
        FieldLayout { end: header, gaps: [0; 3] }
    }

    /// Places a field of 1, 2, 4 or 8 bytes.
    pub(super) fn place(&mut self, bytes: u64) {
        let size = bytes.ilog2() as usize;
        if let Some(gap) = (size..3).find(|gap| self.gaps[*gap] > 0) {
            // The rest of a gap: its second half, the second quarter, and so on.
            self.gaps[gap] -= 1;
            self.gaps[size..gap].iter_mut().for_each(|gaps| *gaps += 1);
            return;
        }
        for smaller in 0..size {
            let gap = 1 << smaller;
            if self.end & gap != 0 {
                self.gaps[smaller] += 1;
                self.end += gap;
            }
        }
        self.end += bytes;
    }

    /// The bytes of an object with these fields.
    pub(super) fn size(&self) -> u64 {
        self.end.next_multiple_of(ALIGNMENT)
    }
}

/// FieldLayout of 8 bytes that HotSpot adds to a class, and that are in no file.
pub(super) fn hidden_fields(class: &str) -> usize {
    match class {
        "java.lang.invoke.MethodHandleNatives$CallSiteContext" => 2,
        "java.lang.invoke.MemberName"
        | "java.lang.invoke.ResolvedMethodName"
        | "java.lang.ClassLoader"
        | "java.lang.Module" => 1,
        // Two addresses and two numbers of 4 bytes.
        CLASS => 3,
        _ => 0,
    }
}

/// The class of classes.
pub(super) const CLASS: &str = "java.lang.Class";

/// References that HotSpot adds to `java.lang.Class`, whose own fields are named here.
pub(super) fn hidden_references<'f>(mut fields: impl Iterator<Item = &'f str>) -> usize {
    // Later versions have fields for the signers and the protection domain.
    if fields.any(|name| name == "signers") { 2 } else { 3 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(header: u64, classes: &[&[u64]]) -> u64 {
        let mut fields = FieldLayout::new(header);
        classes.iter().for_each(|class| class.iter().for_each(|bytes| fields.place(*bytes)));
        fields.size()
    }

    #[test]
    fn fields_lie_as_in_hotspot() {
        // java.lang.Object, String, HashMap.Node; a long after a header of 12 bytes.
        assert_eq!([8, 12, 16].map(|header| size(header, &[])), [8, 16, 16]);
        assert_eq!(size(12, &[&[4, 1, 1, 4]]), 24);
        assert_eq!(size(12, &[&[4, 4, 4, 4]]), 32);
        assert_eq!(size(12, &[&[8]]), 24);
        // The gap before the long is the subclass's.
        assert_eq!(size(12, &[&[8], &[4]]), 24);
        assert_eq!(size(12, &[&[8], &[1], &[2], &[1]]), 24);
        assert_eq!(size(12, &[&[8], &[1], &[2], &[1], &[1]]), 32);
        // A byte, then two references: one of them lies after the other bytes of the first word.
        assert_eq!(size(12, &[&[1], &[4, 4]]), 24);
        assert_eq!(size(16, &[&[1], &[8]]), 32);
    }

    #[test]
    fn arrays_are_a_header_and_elements() {
        let sizes = |elements, bytes| KNOWN.map(|sizes| sizes.array(elements, bytes));
        assert_eq!(sizes(0, 1), [24, 16, 16, 16, 16, 0]);
        assert_eq!(sizes(5, 1), [32, 24, 24, 24, 24, 8]);
        assert_eq!(sizes(4, 1), [32, 24, 24, 16, 16, 8]);
        assert_eq!(sizes(3, 8), [48, 40, 40, 40, 40, 24]);
        assert_eq!(sizes(3, 0), [48, 40, 32, 40, 24, 24]);
        assert_eq!(sizes(u64::MAX, 8), [u64::MAX; 6]);
    }

    #[test]
    fn sizes_are_those_that_addresses_leave_room_for() {
        let place = |objects: &[(u64, Option<(u64, u64)>)]| {
            let mut evidence = Evidence::default();
            objects.iter().for_each(|(address, array)| evidence.object(*address, *array));
            [evidence.place(8), evidence.place(4)]
        };
        assert_eq!(place(&[]), [1, 4]);
        // Ten references in 56 bytes; in 96 they may be either.
        assert_eq!(place(&[(800, Some((10, 0))), (856, None)]), [2, 4]);
        assert_eq!(place(&[(800, Some((10, 0))), (896, None)]), [1, 4]);
        // Four bytes in 16, whatever references are.
        assert_eq!(place(&[(800, Some((4, 1))), (816, None)]), [3, 4]);
        assert_eq!(place(&[(800, Some((4, 1))), (816, Some((10, 0))), (872, None)]), [4, 4]);
        // Bytes after headers of 24, again and again.
        let wide: Vec<_> = (0..20).map(|at| (800 + at * 32, Some((8, 1)))).collect();
        assert_eq!((place(&wide)[0], place(&wide[..10])[0]), (0, 1));
        // Objects in another order say nothing.
        assert_eq!(place(&[(800, Some((10, 0))), (792, None), (800, None)]), [1, 4]);
    }
}
