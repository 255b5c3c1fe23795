//! The code in this process: its bytes, its names, its lines of source.
//!
//! Files are found through `/proc/self/maps` and read with [`addr2line`]: symbols, and lines where
//! there is debug information. Code made at run time is named by the perf map of this process, if
//! its maker has written one. Bytes are read through `/proc/self/mem`, which answers an unmapped
//! address with an error instead of a signal.

use addr2line::Loader;
use allotment_symbols::{JitCode, readable};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A named address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name in readable form.
    pub name: String,
    /// The address of its beginning in this process.
    pub address: u64,
}

/// Code that is mapped, from a file or without one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mapping {
    start: u64,
    end: u64,
    /// The difference between an address in the process and in the file.
    bias: u64,
    path: Option<PathBuf>,
    /// The kernel's own code in the process, `[vdso]`.
    kernels: bool,
}

/// The code of this process.
pub struct Image {
    mappings: Vec<Mapping>,
    made: JitCode,
    memory: Option<File>,
    /// Loaders by path, made on demand; `None` for files that cannot be read.
    files: RefCell<HashMap<PathBuf, Option<Loader>>>,
}

impl Image {
    /// The code that is mapped now.
    pub fn of_this_process() -> Image {
        let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
        Image {
            mappings: mappings(&maps),
            made: JitCode::of_this_process(),
            memory: File::open("/proc/self/mem").ok(),
            files: RefCell::new(HashMap::new()),
        }
    }

    /// The symbol that an address belongs to.
    pub fn symbol(&self, address: u64) -> Option<Symbol> {
        if let Some(made) = self.made.function(address) {
            return Some(Symbol { name: made.name.clone(), address: made.address });
        }
        self.in_file(address, |loader, bias| {
            let symbol = loader.find_symbol_info(address - bias)?;
            Some(Symbol { name: readable(symbol.name()), address: symbol.address() + bias })
        })
    }

    /// The line of source of an address: `alloc.rs:214`. Of inlined functions it is the innermost
    /// that is not of Rust's own library, whose lines (`cell.rs`, `atomic.rs`) do not identify the
    /// program.
    pub fn line(&self, address: u64) -> Option<String> {
        self.in_file(address, |loader, bias| {
            let mut frames = loader.find_frames(address - bias).ok()?;
            let mut found = None;
            while let Ok(Some(frame)) = frames.next() {
                let Some(location) = frame.location else { continue };
                let (Some(file), Some(line)) = (location.file, location.line) else { continue };
                let name = Path::new(file).file_name()?.to_str()?;
                let place = Some(format!("{name}:{line}"));
                if !file.contains("/library/") {
                    return place;
                }
                found = found.or(place);
            }
            found
        })
    }

    /// The origin of an address's code: a file's name, or that the code was made at run time.
    pub fn origin(&self, address: u64) -> String {
        match self.mapping(address) {
            None => "code that is gone".into(),
            Some(Mapping { kernels: true, .. }) => "the kernel's vdso: clocks".into(),
            Some(Mapping { path: None, .. }) => "made at run time".into(),
            Some(Mapping { path: Some(path), .. }) => {
                path.file_name().map_or("?".into(), |name| name.to_string_lossy().into())
            }
        }
    }

    /// An address as its file has it, for a disassembler; unchanged for code without a file.
    pub fn in_its_file(&self, address: u64) -> u64 {
        address - self.mapping(address).map_or(0, |mapping| mapping.bias)
    }

    /// The bytes from `start` up to `end`, as far as they are mapped.
    pub fn bytes(&self, start: u64, end: u64) -> Vec<u8> {
        let end = self.mapping(start).map_or(start, |mapping| end.min(mapping.end));
        let mut bytes = vec![0; end.saturating_sub(start) as usize];
        let read = self.memory.as_ref().and_then(|memory| memory.read_exact_at(&mut bytes, start).ok());
        if read.is_some() { bytes } else { Vec::new() }
    }

    fn mapping(&self, address: u64) -> Option<&Mapping> {
        self.mappings.iter().find(|mapping| (mapping.start..mapping.end).contains(&address))
    }

    fn in_file<R>(&self, address: u64, look: impl FnOnce(&Loader, u64) -> Option<R>) -> Option<R> {
        let mapping = self.mapping(address)?;
        let path = mapping.path.as_ref()?;
        let mut files = self.files.borrow_mut();
        let loader = files.entry(path.clone()).or_insert_with(|| Loader::new(path).ok());
        look(loader.as_ref()?, mapping.bias)
    }
}

/// The executable mappings among the lines of `/proc/self/maps`: `START-END r-xp OFFSET DEVICE
/// INODE PATH`. A file's addresses begin at its first mapping, as linkers lay out
/// position-independent executables.
fn mappings(maps: &str) -> Vec<Mapping> {
    let mut found = Vec::new();
    let mut first: HashMap<PathBuf, u64> = HashMap::new();
    for line in maps.lines() {
        let mut columns = line.splitn(6, ' ').map(str::trim);
        let (Some(range), Some(rights), Some(offset)) = (columns.next(), columns.next(), columns.next())
        else {
            continue;
        };
        let name = columns.nth(2).unwrap_or_default();
        let path = Some(name).filter(|path| path.starts_with('/') && !path.starts_with("/memfd:"));
        let hexadecimal = |text| u64::from_str_radix(text, 16).ok();
        let Some((start, end)) =
            range.split_once('-').and_then(|(start, end)| Some((hexadecimal(start)?, hexadecimal(end)?)))
        else {
            continue;
        };
        let path = path.map(PathBuf::from);
        if let (Some(path), Some(0)) = (&path, hexadecimal(offset)) {
            first.entry(path.clone()).or_insert(start);
        }
        if rights.contains('x') {
            let bias = path.as_ref().and_then(|path| first.get(path).copied()).unwrap_or(0);
            found.push(Mapping { start, end, bias, path, kernels: name == "[vdso]" });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    extern "C" fn marked(number: u64) -> u64 {
        std::hint::black_box(number) + 1
    }

    #[test]
    fn this_function_is_found_by_its_address() {
        let image = Image::of_this_process();
        let address = marked as *const () as u64;
        let symbol = image.symbol(address).unwrap();
        assert!(symbol.name.ends_with("image::tests::marked"), "{symbol:?}");
        assert_eq!(symbol.address, address);
        assert!(image.line(address).unwrap().starts_with("image.rs:"));
        assert!(image.origin(address).starts_with("allotment_lab"), "{}", image.origin(address));
        let bytes = image.bytes(address, address + 4);
        // SAFETY: the function, with the bytes behind it on its page, has at least four bytes.
        assert_eq!(bytes, unsafe { std::slice::from_raw_parts(marked as *const u8, 4) });
        assert_eq!(marked(1), 2);
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        let image = Image::of_this_process();
        assert_eq!((image.symbol(8), image.line(8), image.bytes(8, 24)), (None, None, vec![]));
        assert_eq!(image.origin(8), "code that is gone");
        assert_eq!(image.in_its_file(8), 8);
    }

    #[test]
    fn maps_are_read() {
        let maps = "\
55550000-55551000 r--p 00000000 08:01 77                         /usr/bin/a program
55551000-55553000 r-xp 00001000 08:01 77                         /usr/bin/a program
7f000000-7f001000 rwxp 00000000 00:00 0 
7f100000-7f101000 r-xp 00000000 00:01 12                         /memfd:code (deleted)
7fff0000-7fff1000 r-xp 00000000 00:00 0                          [vdso]
nonsense
";
        let of = |mapping: &Mapping| (mapping.start, mapping.bias, mapping.path.clone());
        assert_eq!(mappings(maps).iter().filter(|mapping| mapping.kernels).count(), 1);
        assert_eq!(
            mappings(maps).iter().map(of).collect::<Vec<_>>(),
            [
                (0x5555_1000, 0x5555_0000, Some(PathBuf::from("/usr/bin/a program"))),
                (0x7f00_0000, 0, None),
                (0x7f10_0000, 0, None),
                (0x7fff_0000, 0, None),
            ]
        );
    }
}
