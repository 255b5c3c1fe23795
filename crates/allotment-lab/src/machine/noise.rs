//! Disturbances from outside: other programs, other virtual machines, a changing clock rate.
//!
//! The state is read once before and once after a run. The warnings are about the difference. All
//! readers take the root directory, so that tests can give them other machines.

use std::fs;
use std::path::Path;

/// The state of the machine at one moment. Each part is optional, since containers hide much of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Noise {
    /// Load average over a minute: the number of threads that wanted to run.
    pub load: Option<f64>,
    /// Stolen time since boot, summed over CPUs, in clock ticks.
    pub stolen: Option<u64>,
    /// All time since boot, summed over CPUs, in clock ticks.
    pub total: Option<u64>,
    /// Lowest and highest current clock rate of any CPU, in kHz.
    pub frequency: Option<(u64, u64)>,
}

impl Noise {
    /// Reads the state from the `proc` and `sys` directories under `root`.
    pub fn read(root: &Path) -> Noise {
        let text = |path: &str| fs::read_to_string(root.join(path)).ok();
        let load = text("proc/loadavg").and_then(|line| line.split_whitespace().next()?.parse().ok());
        let ticks = text("proc/stat").and_then(|stat| ticks(&stat));
        Noise {
            load,
            stolen: ticks.map(|(stolen, _)| stolen),
            total: ticks.map(|(_, total)| total),
            frequency: frequency(&root.join("sys/devices/system/cpu")),
        }
    }

    /// The share of CPU time, 0 to 1, that other virtual machines took since `earlier`.
    pub fn stolen_since(&self, earlier: &Noise) -> Option<f64> {
        let stolen = self.stolen?.checked_sub(earlier.stolen?)?;
        let total = self.total?.checked_sub(earlier.total?)?;
        (total > 0).then(|| stolen as f64 / total as f64)
    }
}

/// Stolen time since boot in milliseconds, summed over CPUs, in steps of a tick. `root` is as for
/// [`Noise::read`].
pub fn stolen_milliseconds(root: &Path) -> Option<f64> {
    let (stolen, _) = ticks(&fs::read_to_string(root.join("proc/stat")).ok()?)?;
    Some(stolen as f64 * 1e3 / rustix::param::clock_ticks_per_second() as f64)
}

/// Stolen and total ticks of the first line of `/proc/stat`: user, nice, system, idle, iowait, irq,
/// softirq, steal; the two guest columns after them are already part of user and nice.
fn ticks(stat: &str) -> Option<(u64, u64)> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let columns: Vec<u64> = line.split_whitespace().take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
    Some((*columns.get(7)?, columns.iter().sum()))
}

fn frequency(cpus: &Path) -> Option<(u64, u64)> {
    let current = |entry: fs::DirEntry| {
        let text = fs::read_to_string(entry.path().join("cpufreq/scaling_cur_freq")).ok()?;
        text.trim().parse::<u64>().ok()
    };
    let rates: Vec<u64> = fs::read_dir(cpus).ok()?.flatten().filter_map(current).collect();
    Some((*rates.iter().min()?, *rates.iter().max()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn a_noisy_machine() {
        let before = tree(&[("proc/stat", "cpu  100 0 0 900 0 0 0 0 0 0\ncpu0 1 1\n")]);
        let after = tree(&[
            ("proc/loadavg", "1.25 0.17 0.09 1/100 42\n"),
            ("proc/stat", "cpu  150 0 0 930 0 0 0 20 150 0\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2400000\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3000000\n"),
        ]);
        let (before, after) = (Noise::read(before.path()), Noise::read(after.path()));
        assert_eq!(after.load, Some(1.25));
        assert_eq!(after.stolen_since(&before), Some(0.2));
        assert_eq!(before.stolen_since(&after), None);
        assert_eq!(after.frequency, Some((2_400_000, 3_000_000)));
    }

    #[test]
    fn stolen_time_is_ticks() {
        let root = tree(&[("proc/stat", "cpu  150 0 0 930 0 0 0 20 150 0\n")]);
        let tick = 1e3 / rustix::param::clock_ticks_per_second() as f64;
        assert_eq!(stolen_milliseconds(root.path()), Some(20.0 * tick));
        assert_eq!(stolen_milliseconds(tree(&[]).path()), None);
    }

    #[test]
    fn what_is_hidden_or_garbled_is_unknown() {
        assert_eq!(Noise::read(tree(&[]).path()), Noise::default());
        let garbled = tree(&[("proc/stat", "cpu  1 2 x\n"), ("proc/loadavg", "\n")]);
        assert_eq!(Noise::read(garbled.path()), Noise::default());
        let short = tree(&[("proc/stat", "cpu  1 2 3\n")]);
        assert_eq!(Noise::read(short.path()), Noise::default());
    }
}
