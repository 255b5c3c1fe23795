//! `allotment layout`, from the outside: alone, and with JDKs that are scripts.

use super::{allotment, fake_jdk, fake_maven, path_to_tools, script, texts};
use std::fs;
use std::path::Path;

/// The exit code, standard output and standard error. `folder` has the tools and the cache.
fn layout(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = allotment(&folder.join("cache"));
    command.env("PATH", path_to_tools(folder)).arg("layout").args(arguments);
    let output = command.output().unwrap();
    let (out, told) = texts(&output);
    (output.status.code().unwrap(), out, told)
}

const NODE: &str = "\
lists: Node: 32 bytes
  offset    bytes  what    name
       0        8  header
       8        8  strong  next
      16       16  plain
alignment loses nothing
";

#[test]
fn objects_are_told_by_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, _) = layout(folder.path(), &["lists"]);
    assert_eq!((code, out.trim_end()), (0, NODE.trim_end()));
    let (code, out, _) = layout(folder.path(), &[]);
    assert!(code == 0 && out.contains(NODE) && out.contains("graph: Vertex: 96 bytes"), "{out}");
    let (code, _, said) = layout(folder.path(), &["clock"]);
    assert!(code == 2 && said.contains("`clock` has no objects of its own"), "{said}");
    let (code, _, said) = layout(folder.path(), &["lists", "--jvm", "/no/such/jdk"]);
    assert!(code == 2 && said.contains("/no/such/jdk"), "{said}");
}

#[test]
fn the_layouts_of_a_jvm_stand_beside_ours() {
    let folder = tempfile::tempdir().unwrap();
    fake_maven(folder.path());
    let jdk = |name: &str, behaviour: &str| {
        fake_jdk(&folder.path().join(name), behaviour).to_str().unwrap().to_owned()
    };
    let tells = "printf 'class\\tLists$Padded\\t32\\t12\\nfield\\t12\\t4\\tNode\\tnext\\nfield\\t16\\t8\\tlong\\tkey\\n'";
    let good = jdk("good", tells);
    let (code, out, said) = layout(folder.path(), &["lists", "--jvm", &good]);
    let theirs = "\
25-parallel: Lists$Padded: 32 bytes
  offset    bytes  what    name
       0       12  header
      12        4  Node    next
      16        8  long    key
alignment loses 8 bytes of each object
";
    assert_eq!((code, out.trim_end()), (0, format!("{NODE}\n{theirs}").trim_end()), "{said}");
    // Ours are printed in any case.
    let bad = jdk("bad", "echo Error: no JOL >&2; exit 1");
    let (code, out, said) = layout(folder.path(), &["lists", "--jvm", &bad]);
    assert_eq!((code, out.trim_end()), (1, NODE.trim_end()));
    assert!(said.contains("25-parallel does not tell its layouts: Error: no JOL"), "{said}");
    let (code, out, said) = layout(folder.path(), &["weak", "--jvm", &good]);
    assert!(code == 1 && out.contains("weak: WeakEntry"), "{out}");
    assert!(said.contains("no Java classes stand beside these objects"), "{said}");
    // Without Maven there is no jar.
    fs::remove_dir_all(folder.path().join("cache")).unwrap();
    script(&folder.path().join("tools/mvn"), "echo no network; exit 1");
    let (code, out, said) = layout(folder.path(), &["lists", "--jvm", &good]);
    assert_eq!((code, out.trim_end()), (1, NODE.trim_end()));
    assert!(said.contains("only our layouts are shown"), "{said}");
}
