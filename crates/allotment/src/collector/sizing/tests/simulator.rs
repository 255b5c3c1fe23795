//! A heap without memory: cohorts of bytes that are born, copied and die, on a clock that counts
//! allocated bytes.
//!
//! Time is a sum of prices: for a byte allocated, copied or marked, and for a stop of the world.
//! The prices are those of a 2-core machine, to the order of magnitude. The scenarios' assertions
//! hold for other prices as well.

use super::*;

/// Bytes that are allocated at a time, and share a fate by class.
const CHUNK: usize = 32 * KIB;
/// Bytes of allocation after which short-lived bytes are dead.
const SHORT: u64 = 96 * KIB as u64;

const STOP_NS: f64 = 60_000.0;
const COPY_NS: f64 = 1.0;
const SCAN_NS: f64 = 0.2;
const FULL_NS: f64 = 3.0;

/// The allocation of a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    /// Nanoseconds of the program for a byte of allocation.
    pub(super) ns_per_byte: f64,
    /// The part of allocation that lives for a while, and its life in bytes of allocation on
    /// average.
    pub(super) medium: (f64, f64),
    /// The part that lives long.
    pub(super) long: f64,
    /// Bytes that live long, at any time.
    pub(super) live: usize,
}

#[derive(Clone, Copy, Debug)]
struct Cohort {
    bytes: usize,
    dies: u64,
    age: u8,
}

/// The events since the last account.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Account {
    pub(super) allocated: u64,
    pub(super) mutator_ns: f64,
    pub(super) young_ns: f64,
    pub(super) full_ns: f64,
    pub(super) young: usize,
    pub(super) full: usize,
    pub(super) copied: usize,
    pub(super) longest_young_ns: f64,
    pub(super) most_regions: usize,
    pub(super) out_of_memory: bool,
}

impl Account {
    pub(super) fn young_share(&self) -> f64 {
        self.young_ns / (self.mutator_ns + self.young_ns + self.full_ns)
    }

    pub(super) fn share(&self) -> f64 {
        (self.young_ns + self.full_ns) / (self.mutator_ns + self.young_ns + self.full_ns)
    }
}

/// A program in a heap.
pub(super) struct Simulator {
    machine: Machine,
    sizing: Sizing,
    pub(super) decision: Decision,
    now: u64,
    random: u64,
    eden: Vec<Cohort>,
    eden_bytes: usize,
    since_ns: f64,
    survivors: Vec<Cohort>,
    survivor_regions: usize,
    old: Vec<Cohort>,
    /// Regions of old objects, garbage and holes included.
    old_regions: usize,
    old_bytes: usize,
    pub(super) account: Account,
    pub(super) threads: usize,
}

impl Simulator {
    pub(super) fn new(settings: SizingSettings, machine: Machine) -> Simulator {
        let mut sizing = Sizing::new(settings, machine);
        let decision = sizing.first(2);
        Simulator {
            machine,
            sizing,
            decision,
            now: 0,
            random: 0x9E37_79B9_7F4A_7C15,
            eden: Vec::new(),
            eden_bytes: 0,
            since_ns: 0.0,
            survivors: Vec::new(),
            survivor_regions: 0,
            old: Vec::new(),
            old_regions: 0,
            old_bytes: 0,
            account: Account::default(),
            threads: 2,
        }
    }

    /// A number in (0, 1].
    fn draw(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        ((self.random >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    fn region(&self) -> usize {
        self.machine.geometry.region_bytes()
    }

    pub(super) fn free_regions(&self) -> usize {
        let eden = self.machine.regions_of(self.eden_bytes);
        self.machine.geometry.regions.saturating_sub(eden + self.survivor_regions + self.old_regions)
    }

    /// Builds the long-lived data, at once.
    pub(super) fn start(&mut self, program: Program) -> Account {
        let life = program.live as f64 / program.long.max(1e-9);
        let mut built = 0;
        while built < program.live && !self.account.out_of_memory {
            let dies = self.now + program.live as u64 + (life * self.draw()) as u64;
            self.allocate(CHUNK, dies);
            self.spend(CHUNK, program.ns_per_byte);
            built += CHUNK;
        }
        std::mem::take(&mut self.account)
    }

    /// Runs `bytes` of allocation.
    pub(super) fn run(&mut self, program: Program, bytes: u64) -> Account {
        let end = self.now + bytes;
        let life = program.live as f64 / program.long.max(1e-9);
        let medium = (CHUNK as f64 * program.medium.0) as usize;
        let long = (CHUNK as f64 * program.long) as usize;
        while self.now < end && !self.account.out_of_memory {
            let dies = self.now + (program.medium.1 * -self.draw().ln()) as u64;
            self.allocate(medium, dies);
            self.allocate(long, self.now + life as u64);
            self.allocate(CHUNK - medium - long, self.now + SHORT);
            self.spend(CHUNK, program.ns_per_byte);
        }
        std::mem::take(&mut self.account)
    }

    fn spend(&mut self, bytes: usize, ns_per_byte: f64) {
        self.now += bytes as u64;
        self.since_ns += bytes as f64 * ns_per_byte;
        self.account.allocated += bytes as u64;
        self.account.mutator_ns += bytes as f64 * ns_per_byte;
        let used = self.machine.geometry.regions - self.free_regions();
        self.account.most_regions = self.account.most_regions.max(used);
    }

    fn allocate(&mut self, bytes: usize, dies: u64) {
        let due = self.eden_bytes + bytes > self.decision.eden_regions * self.region();
        let crosses =
            self.machine.regions_of(self.eden_bytes + bytes) > self.machine.regions_of(self.eden_bytes);
        if due || (crosses && self.free_regions() == 0) {
            self.collect();
            // As a mutator that asks for room: if nothing is free after a young collection, a full
            // one comes.
            if self.free_regions() == 0 {
                self.collect_full();
                self.account.out_of_memory |= self.free_regions() == 0;
            }
        }
        self.eden.push(Cohort { bytes, dies, age: 0 });
        self.eden_bytes += bytes;
    }

    fn collect(&mut self) {
        if self.decision.full {
            self.collect_full();
        } else {
            self.collect_young();
        }
    }

    fn done(&mut self, extent: Extent, pause_ns: f64) -> Collection {
        let eden_regions = self.machine.regions_of(self.eden_bytes);
        self.eden_bytes = 0;
        let mutator_ns = std::mem::take(&mut self.since_ns) as u64;
        Collection {
            extent,
            pause_ns: pause_ns as u64,
            mutator_ns,
            eden_regions,
            threads: self.threads,
            ..Collection::default()
        }
    }

    fn collect_young(&mut self) {
        let free = self.free_regions();
        let young_regions = self.machine.regions_of(self.eden_bytes) + self.survivor_regions;
        let (threshold, limit) = (self.decision.tenuring_threshold, self.decision.survivor_limit_bytes);
        let mut young = std::mem::take(&mut self.eden);
        young.append(&mut self.survivors);
        let (mut survived, mut promoted, mut failed) = ([0; AGES], 0, 0);
        let mut failures = 0;
        let old_room = self.old_regions * self.region() - self.old_bytes;
        for cohort in young.into_iter().filter(|cohort| cohort.dies > self.now) {
            let stay: usize = survived.iter().sum();
            let fits = |stay: usize, promoted: usize| {
                let old = promoted.saturating_sub(old_room);
                self.machine.regions_of(stay) + self.machine.regions_of(old) <= free
            };
            if cohort.age < threshold && stay + cohort.bytes <= limit && fits(stay + cohort.bytes, promoted) {
                let age = (cohort.age + 1).min(AGES as u8 - 1);
                survived[usize::from(age)] += cohort.bytes;
                self.survivors.push(Cohort { age, ..cohort });
            } else if fits(stay, promoted + cohort.bytes) {
                promoted += cohort.bytes;
                self.old.push(cohort);
            } else {
                failed += cohort.bytes;
                failures += 1;
                self.old.push(cohort);
            }
        }
        let stay: usize = survived.iter().sum();
        let kept = young_regions.min(failures);
        self.survivor_regions = self.machine.regions_of(stay);
        self.old_regions += self.machine.regions_of(promoted.saturating_sub(old_room)) + kept;
        self.old_bytes =
            (self.old_bytes + promoted + kept * self.region()).min(self.old_regions * self.region());
        let scanned = self.old_bytes / 100;
        let work = (stay + promoted + failed) as f64 * COPY_NS + scanned as f64 * SCAN_NS;
        let pause = STOP_NS
            + work / self.sizing.worker_demand(self.decision.eden_regions, self.threads).workers as f64;
        self.account.young += 1;
        self.account.young_ns += pause;
        self.account.longest_young_ns = self.account.longest_young_ns.max(pause);
        self.account.copied += stay + promoted;
        let mut done = self.done(Extent::Young, pause);
        done.survived = survived;
        (done.promoted_bytes, done.failed_bytes, done.scanned_bytes) = (promoted, failed, scanned);
        self.decide(done);
    }

    fn collect_full(&mut self) {
        let mut all = std::mem::take(&mut self.old);
        all.append(&mut self.survivors);
        all.append(&mut self.eden);
        all.retain(|cohort| cohort.dies > self.now);
        let live: usize = all.iter().map(|cohort| cohort.bytes).sum();
        (self.old, self.survivor_regions, self.old_bytes) = (all, 0, live);
        self.old_regions = self.machine.regions_of(live);
        let pause = STOP_NS + live as f64 * FULL_NS / self.machine.workers as f64;
        self.account.full += 1;
        self.account.full_ns += pause;
        let mut done = self.done(Extent::Full, pause);
        done.live_bytes = live;
        self.decide(done);
    }

    fn decide(&mut self, mut done: Collection) {
        (done.old_bytes, done.free_regions) = (self.old_bytes, self.free_regions());
        self.decision = self.sizing.after(&done);
    }
}
