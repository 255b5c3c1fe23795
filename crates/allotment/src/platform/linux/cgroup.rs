//! The control groups that bind this process, versions 1 and 2.
//!
//! A limit may apply at any level above a process. So the reader walks from the process's group to
//! the top of the mount and takes the least limit. A reader of the process's own group alone misses
//! the limits of its parents (JDK-8343191).
//!
//! Two files tell where a group lies in the file system. `/proc/self/cgroup` names the group;
//! `/proc/self/mountinfo` says where each hierarchy is mounted and which of its groups is the top
//! there.
//!
//! Refused: `/sys/fs/cgroup` and the name alone. This fails in a container that mounts its own
//! group as the top.

use std::path::{Component, Path, PathBuf};

use super::pseudo_files::{below, read};

/// The interface of a control group. The two interfaces differ in the names of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::platform) enum CgroupVersion {
    /// One hierarchy per controller.
    V1,
    /// The unified hierarchy.
    V2,
}

/// A group that binds this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::platform) struct Cgroup {
    pub(in crate::platform) version: CgroupVersion,
    /// The directory of its files, below the root directory that was given.
    pub(in crate::platform) directory: PathBuf,
}

/// Every group that binds this process for `controller` (`memory`, `cpu`): from the process's own
/// group upwards, version 2 first. Empty if there are none or `/proc` does not tell.
pub(in crate::platform) fn cgroups(root: &Path, controller: &str) -> Vec<Cgroup> {
    let (Some(groups), Some(mounts)) =
        (read(below(root, "/proc/self/cgroup")), read(below(root, "/proc/self/mountinfo")))
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for version in [CgroupVersion::V2, CgroupVersion::V1] {
        let Some(group) = groups.lines().find_map(|line| group_of(line, version, controller)) else {
            continue;
        };
        for mount in mounts.lines().filter_map(|line| mount_of(line, version, controller)) {
            let top = below(root, &mount.point);
            // A group outside of the mount: the top of the mount is the closest visible one.
            let inside = Path::new(group).strip_prefix(&mount.top).ok().filter(|path| is_plain(path));
            let own = inside.map_or_else(|| top.clone(), |path| top.join(path));
            found.extend(
                own.ancestors()
                    .take_while(|directory| directory.starts_with(&top))
                    .map(|directory| Cgroup { version, directory: directory.to_owned() }),
            );
        }
    }
    found
}

/// The path of the group in a line of `/proc/self/cgroup`, `id:controllers:path`.
fn group_of<'a>(line: &'a str, version: CgroupVersion, controller: &str) -> Option<&'a str> {
    let mut parts = line.splitn(3, ':');
    let (id, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
    let fits = match version {
        CgroupVersion::V1 => controllers.split(',').any(|name| name == controller),
        CgroupVersion::V2 => id == "0" && controllers.is_empty(),
    };
    fits.then_some(path)
}

/// The mount of a hierarchy.
struct Mount {
    /// The group that is the top of the mount.
    top: String,
    /// The directory where it is mounted.
    point: String,
}

/// The mount in a line of `/proc/self/mountinfo` (see proc(5)), if it is the hierarchy searched
/// for.
fn mount_of(line: &str, version: CgroupVersion, controller: &str) -> Option<Mount> {
    let (mount, file_system) = line.split_once(" - ")?;
    let mut mount = mount.split(' ').skip(3);
    let (top, point) = (mount.next()?, mount.next()?);
    let mut file_system = file_system.split(' ');
    let (kind, options) = (file_system.next()?, file_system.nth(1)?);
    let fits = match version {
        CgroupVersion::V1 => kind == "cgroup" && options.split(',').any(|name| name == controller),
        CgroupVersion::V2 => kind == "cgroup2",
    };
    fits.then(|| Mount { top: unescape(top), point: unescape(point) })
}

/// Undoes the kernel's escapes: `\040` for a space, and likewise tab, newline and backslash.
fn unescape(text: &str) -> String {
    text.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

/// Whether a relative path stays below its start. A group outside the namespace is written with
/// `..`.
fn is_plain(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::super::fake_tree::FakeTree;
    use super::*;

    fn directories(tree: &FakeTree, controller: &str) -> Vec<(CgroupVersion, String)> {
        cgroups(tree.root(), controller)
            .into_iter()
            .map(|group| {
                let path = group.directory.strip_prefix(tree.root()).unwrap();
                (group.version, format!("/{}", path.display()))
            })
            .collect()
    }

    #[test]
    fn version_2_is_walked_to_the_top() {
        let tree = FakeTree::new();
        tree.file("/proc/self/cgroup", "0::/user.slice/app.scope\n");
        tree.file(
            "/proc/self/mountinfo",
            "35 25 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n",
        );
        let expected = ["/sys/fs/cgroup/user.slice/app.scope", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"];
        assert_eq!(directories(&tree, "memory"), expected.map(|path| (CgroupVersion::V2, path.to_owned())));
    }

    #[test]
    fn version_1_has_a_hierarchy_per_controller() {
        let tree = FakeTree::new();
        tree.file("/proc/self/cgroup", "4:memory:/a:b/c\n3:cpuset:/x\n1:cpu,cpuacct:/y\n0::/\n");
        tree.file(
            "/proc/self/mountinfo",
            "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
             32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
             33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n",
        );
        let own = |path: &str| (CgroupVersion::V1, path.to_owned());
        let memory = "/sys/fs/cgroup/memory";
        assert_eq!(
            directories(&tree, "memory"),
            [own("/sys/fs/cgroup/memory/a:b/c"), own("/sys/fs/cgroup/memory/a:b"), own(memory)]
        );
        assert_eq!(directories(&tree, "cpu"), [own("/sys/fs/cgroup/cpu/y"), own("/sys/fs/cgroup/cpu")]);
    }

    #[test]
    fn a_container_that_mounts_its_own_group_sees_it_at_the_top() {
        let tree = FakeTree::new();
        tree.file("/proc/self/cgroup", "4:memory:/docker/abc/child\n");
        let mount = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
        tree.file("/proc/self/mountinfo", mount);
        let own = |path: &str| (CgroupVersion::V1, path.to_owned());
        assert_eq!(
            directories(&tree, "memory"),
            [own("/sys/fs/cgroup/memory/child"), own("/sys/fs/cgroup/memory")]
        );
    }

    #[test]
    fn a_group_outside_of_the_mount_falls_back_to_its_top() {
        for group in ["0::/../../other\n", "0::/elsewhere\n"] {
            let tree = FakeTree::new();
            tree.file("/proc/self/cgroup", group);
            let top = if group.contains("..") { "/" } else { "/docker/abc" };
            tree.file(
                "/proc/self/mountinfo",
                &format!("35 25 0:30 {top} /my\\040cgroups rw - cgroup2 cgroup2 rw\n"),
            );
            assert_eq!(directories(&tree, "memory"), [(CgroupVersion::V2, "/my cgroups".to_owned())]);
        }
    }

    #[test]
    fn nonsense_and_absence_are_no_groups() {
        let tree = FakeTree::new();
        assert_eq!(directories(&tree, "memory"), []);
        tree.file("/proc/self/cgroup", "0::/\nnot a line\n::\n");
        tree.file("/proc/self/mountinfo", "\n - \n1 2 3 - cgroup2\n1 2 3 / /x rw - cgroup2\n");
        assert_eq!(directories(&tree, "memory"), []);
    }
}
