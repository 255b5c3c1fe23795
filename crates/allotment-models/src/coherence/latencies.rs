//! The latencies, in cycles, and the sizes of a machine.
//!
//! The defaults are rounded from public micro-benchmarks and serve as a starting point. The cost of
//! handing over a line depends on the machine; the lab measures it.

use clap::ValueEnum;

/// The machine whose defaults are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Model {
    /// A desktop processor with a ring and an inclusive shared cache, such as Haswell.
    Client,
    /// A server processor with a mesh.
    Server,
    /// The cores of one complex of an AMD processor.
    Amd,
}

/// The costs of accesses, in cycles of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latencies {
    /// A hit in the first cache, and a load from the core's own store buffer.
    pub l1: u64,
    /// A hit in the second cache.
    pub l2: u64,
    /// A clean line from the shared cache.
    pub l3: u64,
    /// A clean line from another core.
    pub forward: u64,
    /// A modified line from another core (HITM).
    pub hitm: u64,
    /// Invalidating the copies of other cores when the data is present.
    pub upgrade: u64,
    /// A line from memory.
    pub memory: u64,
    /// A locked instruction on a line that is present. No other core gets the line meanwhile.
    pub lock: u64,
    /// How long a core keeps a line that it has just received before it answers other cores.
    pub keep: u64,
}

impl Latencies {
    /// The defaults of a machine.
    pub fn of(model: Model) -> Latencies {
        let client = Latencies {
            l1: 4,
            l2: 12,
            l3: 42,
            forward: 60,
            hitm: 85,
            upgrade: 75,
            memory: 250,
            lock: 19,
            keep: 10,
        };
        match model {
            Model::Client => client,
            Model::Server => Latencies {
                l1: 5,
                l2: 15,
                l3: 70,
                forward: 100,
                hitm: 140,
                upgrade: 115,
                memory: 325,
                ..client
            },
            Model::Amd => Latencies {
                l2: 13,
                l3: 45,
                forward: 80,
                hitm: 100,
                upgrade: 80,
                memory: 325,
                lock: 14,
                ..client
            },
        }
    }

    /// These latencies with all transfers between cores scaled. Afterwards a line handed over by a
    /// store and a load, which is an upgrade and a modified hit, costs `cycles`.
    pub fn calibrated(self, cycles: f64) -> Latencies {
        let factor = cycles / (self.upgrade + self.hitm) as f64;
        let scaled = |latency: u64| ((latency as f64 * factor).round() as u64).max(1);
        Latencies {
            forward: scaled(self.forward),
            hitm: scaled(self.hitm),
            upgrade: scaled(self.upgrade),
            ..self
        }
    }
}

/// Sizes of caches and buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Lines of a core's first cache, in sets of 8.
    pub l1_lines: usize,
    /// Lines of a core's second cache, in sets of 8. The second cache includes the first.
    pub l2_lines: usize,
    /// Lines of the shared cache, in sets of 16. The directory knows all lines, so a line that
    /// leaves this cache stays in other caches.
    pub l3_lines: usize,
    /// Stores that have retired and are not yet visible, per core.
    pub store_buffer: usize,
    /// Lines that a core may request ahead of the store that needs them.
    pub fill_buffers: u32,
}

impl Geometry {
    /// The sizes of a machine.
    pub fn of(model: Model) -> Geometry {
        let (l1_lines, l2_lines, l3_lines, store_buffer, fill_buffers) = match model {
            Model::Client => (512, 4 << 10, 128 << 10, 42, 10),
            Model::Server => (512, 16 << 10, 512 << 10, 72, 12),
            Model::Amd => (512, 8 << 10, 512 << 10, 64, 22),
        };
        Geometry { l1_lines, l2_lines, l3_lines, store_buffer, fill_buffers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calibration_scales_what_passes_between_cores() {
        let client = Latencies::of(Model::Client);
        let twice = client.calibrated(2.0 * (client.upgrade + client.hitm) as f64);
        assert_eq!((twice.upgrade, twice.hitm, twice.forward), (150, 170, 120));
        assert_eq!((twice.l3, twice.memory, twice.lock), (client.l3, client.memory, client.lock));
        assert_eq!(client.calibrated(0.0).hitm, 1);
    }
}
