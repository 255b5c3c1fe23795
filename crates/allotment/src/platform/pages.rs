//! Page sizes, and whether the kernel hands out huge pages.
//!
//! The kernel's files are the only source. `AT_PAGESZ` does not include huge pages, and `CPUID`
//! describes the abilities of the processor, not the choices of the kernel.

use std::path::Path;

use super::linux::pseudo_files::{below, read, read_number};

/// The kernel's directory of settings for transparent huge pages.
const DIRECTORY: &str = "/sys/kernel/mm/transparent_hugepage";

/// The largest huge page that a heap is laid out for. With pages of 64 KiB a huge page of AArch64
/// has 512 MiB, which is too much to align a heap to, and to commit at once.
const MAX_HUGE_PAGE: usize = 32 << 20;

/// Size of an ordinary page, in bytes.
#[inline]
pub fn page_size() -> usize {
    rustix::param::page_size()
}

/// Size of a transparent huge page, in bytes: 2 MiB on x86-64; 2 or 32 MiB on AArch64 with pages of
/// 4 or 16 KiB. Larger huge pages count as 32 MiB. The call reads a file, so ask once.
pub fn huge_page_size() -> usize {
    huge_page_size_in(Path::new("/"))
}

/// The kernel's mode of backing memory by transparent huge pages, in its own word: `always`,
/// `madvise` or `never`; or `unavailable` where the kernel has no huge pages, or does not tell. The
/// call reads a file, so ask once.
///
/// [`Reservation::advise_huge_pages`](super::Reservation::advise_huge_pages) has an effect only
/// under `madvise`.
pub fn transparent_huge_pages() -> String {
    transparent_huge_pages_in(Path::new("/"))
}

fn huge_page_size_in(root: &Path) -> usize {
    let told = read_number::<usize>(below(root, DIRECTORY).join("hpage_pmd_size"));
    // Where the kernel does not tell: a page of entries of 8 bytes, each for a page.
    let pmd_bytes = page_size() / 8 * page_size();
    told.filter(|bytes| bytes.is_power_of_two()).unwrap_or(pmd_bytes).min(MAX_HUGE_PAGE)
}

fn transparent_huge_pages_in(root: &Path) -> String {
    let directory = below(root, DIRECTORY);
    // Since Linux 6.8 each size has its own switch, which may say `inherit`.
    let own = format!("hugepages-{}kB/enabled", huge_page_size_in(root) / 1024);
    let mode = |file: &str| chosen(&read(directory.join(file))?);
    mode(&own).or_else(|| mode("enabled")).unwrap_or_else(|| "unavailable".to_owned())
}

/// The word in brackets, as in `always [madvise] never`; `None` for `inherit`.
fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    let (word, _) = rest.split_once(']')?;
    (word != "inherit").then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::linux::fake_tree::FakeTree;
    use super::*;

    #[test]
    fn page_sizes_of_this_machine_nest() {
        assert!(page_size().is_power_of_two());
        assert!(huge_page_size() > page_size());
    }

    #[test]
    fn the_bracketed_mode_counts() {
        for (text, mode) in [
            ("[always] madvise never\n", "always"),
            ("always [madvise] never\n", "madvise"),
            ("always madvise [never]\n", "never"),
            ("always madvise never\n", "unavailable"),
        ] {
            let tree = FakeTree::new();
            tree.file("/sys/kernel/mm/transparent_hugepage/enabled", text);
            assert_eq!(transparent_huge_pages_in(tree.root()), mode, "{text}");
        }
    }

    #[test]
    fn the_switch_of_the_size_goes_before_the_common_one() {
        let tree = FakeTree::new();
        tree.file("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
        let own = "/sys/kernel/mm/transparent_hugepage/hugepages-2048kB/enabled";
        tree.file(own, "always inherit [madvise] never\n");
        assert_eq!(transparent_huge_pages_in(tree.root()), "madvise");
        tree.file(own, "always [inherit] madvise never\n");
        assert_eq!(transparent_huge_pages_in(tree.root()), "never");
    }

    #[test]
    fn a_kernel_without_huge_pages_has_a_size_all_the_same() {
        let tree = FakeTree::new();
        assert_eq!(transparent_huge_pages_in(tree.root()), "unavailable");
        assert_eq!(huge_page_size_in(tree.root()), 2 << 20);
        tree.file("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "4194304\n");
        assert_eq!(huge_page_size_in(tree.root()), 4 << 20);
        tree.file("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "0\n");
        assert_eq!(huge_page_size_in(tree.root()), 2 << 20);
    }
}
