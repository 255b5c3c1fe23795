//! Single decisions, against numbers that were computed by hand.

use super::*;
use crate::options::Options;

/// A young collection of an eden of 4 regions, after which nearly all of a 1 GiB heap with regions
/// of 512 KiB is free.
fn young() -> Collection {
    let (pause_ns, mutator_ns) = (1_000_000, 24_000_000);
    let (eden_regions, free_regions, threads) = (4, 2040, 2);
    Collection { pause_ns, mutator_ns, eden_regions, free_regions, threads, ..Collection::default() }
}

fn full(free_regions: usize) -> Collection {
    Collection { extent: Extent::Full, pause_ns: 20_000_000, free_regions, ..young() }
}

fn sizing(list: &str) -> Sizing {
    Sizing::new(settings(list), machine(1 << 30, 512 * KIB))
}

#[test]
fn settings_are_the_options() {
    let default = SizingSettings::from(&Options::default());
    let expected = SizingSettings {
        initial_heap_bytes: 0,
        min_free_percent: 50,
        new_bytes: 0,
        max_new_bytes: 0,
        initial_tenuring_threshold: 7,
        max_tenuring_threshold: 15,
        pause_goal_ns: 0,
        time_ratio: 24,
    };
    assert_eq!(default, expected);
    let list = "InitialHeapSize=8m,MinHeapFreeRatio=40,NewSize=1m,MaxNewSize=2m,MaxTenuringThreshold=3,\
                MaxGCPauseMillis=5,GCTimeRatio=99";
    let expected = SizingSettings {
        initial_heap_bytes: 8 * MIB,
        min_free_percent: 40,
        new_bytes: MIB,
        max_new_bytes: 2 * MIB,
        initial_tenuring_threshold: 3,
        max_tenuring_threshold: 3,
        pause_goal_ns: 5_000_000,
        time_ratio: 99,
    };
    assert_eq!(settings(list), expected);
}

#[test]
fn a_machine_is_what_its_topology_says() {
    let topology = crate::platform::topology::Topology::detect();
    let geometry = Geometry::new(1 << 30, 0).unwrap();
    let machine = Machine::new(geometry, &topology, 0);
    assert_eq!((machine.geometry, machine.workers, machine.cores), (geometry, 1, topology.cores()));
    assert_eq!(machine.l2_bytes, topology.l2_bytes().unwrap_or(MIB));
    assert!(machine.l3_bytes >= topology.data_caches(3).map_or(0, |level| level.bytes));
}

#[test]
fn eden_begins_with_what_caches_cores_and_threads_need() {
    // L2, L3, region, threads, and NewSize in KiB: regions of eden.
    for (l2, l3, region, threads, new, eden) in [
        (2 * MIB, 64 * MIB, 512 * KIB, 1, 0, 2),   // half of L2
        (2 * MIB, 64 * MIB, 512 * KIB, 2, 0, 4),   // for each of two cores
        (2 * MIB, 64 * MIB, 512 * KIB, 4, 0, 4),   // there are two cores
        (2 * MIB, 64 * MIB, 512 * KIB, 90, 0, 90), // 512 KiB for each thread
        (512 * KIB, 64 * MIB, 512 * KIB, 2, 0, 4), // two regions for each core
        (512 * KIB, MIB, 512 * KIB, 2, 0, 2),      // which a small L3 does not hold
        (2 * MIB, 0, 4 * MIB, 2, 0, 2),
        (2 * MIB, 64 * MIB, 512 * KIB, 2, 8192, 16),
    ] {
        let machine = Machine { l2_bytes: l2, l3_bytes: l3, workers: 1, ..machine(1 << 30, region) };
        let mut sizing = Sizing::new(settings(&format!("NewSize={new}k")), machine);
        assert_eq!(sizing.first(threads).eden_regions, eden, "{l2} {l3} {region} {threads} {new}");
    }
}

#[test]
fn eden_doubles_up_to_what_throughput_needs_and_shrinks_by_an_eighth() {
    // 6 ms for a region, 1 ms for a collection, which should be followed by 24 ms: 4 regions fit.
    assert_eq!(sizing("").after(&young()).eden_regions, 4);
    // 1 ms for 4 regions: 96 are.
    let mut busy = sizing("");
    let faster = Collection { mutator_ns: 1_000_000, ..young() };
    let mut edens = vec![4];
    for _ in 0..10 {
        let eden_regions = *edens.last().unwrap();
        let mutator_ns = eden_regions as u64 * 250_000;
        edens.push(busy.after(&Collection { mutator_ns, eden_regions, ..faster.clone() }).eden_regions);
    }
    // Half of L3 is 64: before eden has more, its cost there is measured.
    assert_eq!(edens, [4, 8, 16, 32, 64, 64, 64, 64, 64, 96, 96]);
    let slower = Collection { mutator_ns: 1_000_000_000, ..young() };
    assert_eq!(busy.after(&slower).eden_regions, 96 - 96 / 8);
    for _ in 0..60 {
        let _ = busy.after(&slower);
    }
    assert_eq!(busy.after(&slower).eden_regions, 4);
}

#[test]
fn threads_that_come_get_an_eden_within_the_goal_for_pauses() {
    // 10 ms for 4 regions: 2 for 5 ms.
    let long = Collection { pause_ns: 10_000_000, ..young() };
    let eden = |list: &str| {
        let mut sizing = sizing(list);
        let least = least_eden(&sizing.settings, &sizing.machine, 500, 0);
        let before = least.min(sizing.most_eden());
        let _ = sizing.after(&long);
        (before, least.min(sizing.most_eden()))
    };
    assert_eq!(eden(""), (500, 500));
    assert_eq!(eden("MaxGCPauseMillis=5"), (500, 2));
}

#[test]
fn an_eden_beyond_the_cache_takes_half_of_the_free_memory() {
    // 250 ms for 500 regions, where 24 times a pause would do.
    let crowd = |threads| Collection {
        threads,
        mutator_ns: 250_000_000,
        eden_regions: threads,
        free_regions: 1900,
        ..young()
    };
    let eden = |list: &str, done: &Collection| {
        let next = sizing(list).after(done);
        (next.eden_regions, next.to_string())
    };
    let all = "InitialHeapSize=1g";
    let (regions, text) = eden(all, &crowd(500));
    assert_eq!(regions, 950);
    assert!(text.contains("[eden 500->950: beyond the cache anyway, 1900 regions free]"), "{text}");
    // 128 regions are L3, some of which the cache may hold.
    assert_eq!(eden(all, &crowd(128)).0, 128);
    assert_eq!(eden(all, &crowd(129)).0, 950);
    // Half is not more than all threads need.
    assert_eq!(eden(all, &Collection { free_regions: 900, ..crowd(500) }).0, 500);
    // Survivors have to find room: x + 0.8 (x + 400) is 1400 less a region for each worker.
    let mut survived = [0; AGES];
    survived[1] = 400 * 512 * KIB;
    assert_eq!(eden(all, &Collection { survived, free_regions: 1400, ..crowd(500) }).0, 598);
    // Regions that the heap was not given yet are not free, and are not asked for.
    let (regions, text) = eden("InitialHeapSize=256m", &crowd(500));
    assert!(regions <= 512, "{text}");
    // Within a requested size, and not because the request is large.
    assert_eq!(eden(&format!("{all},NewSize=200m"), &crowd(2)).0, 400);
    assert_eq!(eden(&format!("{all},MaxNewSize=300m"), &crowd(500)).0, 600);
    let long = Collection { pause_ns: 5_000_000, ..crowd(500) };
    assert_eq!(eden(&format!("{all},MaxGCPauseMillis=6"), &long).0, 600);
}

#[test]
fn limits_of_eden_name_themselves() {
    let reason = |list: &str, done: &Collection| {
        let next = sizing(list).after(done);
        (next.eden_regions, next.to_string())
    };
    let busy = Collection { mutator_ns: 1_000_000, ..young() };
    let (eden, text) = reason("", &busy);
    assert_eq!(eden, 8);
    assert!(text.contains("[eden 4->8: share 50.00% above 4.00%"), "{text}");
    let (eden, text) = reason("MaxNewSize=3m", &busy);
    assert_eq!(eden, 6);
    assert!(text.contains("eden 8->6: MaxNewSize"), "{text}");
    let long = Collection { pause_ns: 10_000_000, ..busy.clone() };
    let (eden, text) = reason("MaxGCPauseMillis=5", &long);
    assert_eq!(eden, 2);
    assert!(text.contains("pause 20.000 ms, goal 5.000 ms"), "{text}");
    // One of the free regions is for the unused rests of workers' buffers.
    let (eden, text) = reason("", &Collection { free_regions: 5, ..busy.clone() });
    assert_eq!((eden, text.contains("room")), (4, false), "{text}");
    let (eden, text) = reason("", &Collection { free_regions: 3, ..busy });
    assert_eq!(eden, 2);
    assert!(text.contains("eden 4->2: room"), "{text}");
}

#[test]
fn a_full_heap_is_collected_in_full() {
    let mut sizing = sizing("");
    let crowded = Collection { free_regions: 1, old_bytes: 1000 * MIB, ..young() };
    let next = sizing.after(&crowded);
    assert!(next.full && next.eden_regions == 1, "{next}");
    assert!(next.to_string().contains("full next: 2000 regions became old, full from 64 on"), "{next}");
    // The full collection helped: no other one is due, and the heap is as large as the ratio says.
    let next = sizing.after(&full(1848));
    assert_eq!((next.full, next.capacity_regions), (false, 400), "{next}");
    // The full collection did not help.
    let next = sizing.after(&full(1));
    assert_eq!((next.full, next.capacity_regions), (true, 2048), "{next}");
    assert!(next.to_string().contains("full next: 1 regions free, 2 needed"), "{next}");
}

#[test]
fn a_failure_is_followed_by_a_full_collection_that_eden_need_not_fit() {
    let failed = Collection { failed_bytes: 5 * KIB, free_regions: 1940, old_bytes: 50 * MIB, ..young() };
    let next = sizing("").after(&failed);
    // 128 regions are the default capacity.
    assert_eq!((next.full, next.eden_regions), (true, 128 - 108), "{next}");
    assert!(next.to_string().contains("full next: no memory for 5k"), "{next}");
    let bounded = sizing("MaxNewSize=1m").after(&failed);
    assert_eq!((bounded.full, bounded.eden_regions), (true, 2), "{bounded}");
}

#[test]
fn capacity_grows_until_enough_became_old() {
    let after = |old: usize, free: usize| {
        let mut sizing = sizing("");
        let _ = sizing.after(&full(2048 - 20));
        sizing.after(&Collection { old_bytes: old, free_regions: free, ..young() })
    };
    // 128 regions, 20 of them lived. 126 are in use, but hardly more are old: humongous runs and
    // survivors make up the rest.
    let next = after(12 * MIB, 2048 - 126);
    assert!(!next.full && next.capacity_regions == 144, "{next}");
    assert!(next.to_string().contains("capacity 128->144: 4 regions became old, full from 54 on"), "{next}");
    // 126 are old.
    let next = after(63 * MIB, 2048 - 126);
    assert!(next.full && next.capacity_regions == 128 && next.eden_regions == 2, "{next}");
    // Half of eden still fits.
    let next = after(62 * MIB, 2048 - 124);
    assert!(!next.full && next.eden_regions == 3, "{next}");
}

#[test]
fn a_full_collection_comes_before_young_ones_cost_more() {
    let mut sizing = sizing("");
    // 1800 regions live, so the capacity is all of the heap.
    assert!(!sizing.after(&full(248)).full);
    // A full collection takes 20 ms; a young one 1 ms and empties 4 regions.
    let mut free = 248;
    let due = loop {
        free -= 2;
        let next =
            sizing.after(&Collection { free_regions: free, old_bytes: (2048 - free) * 512 * KIB, ..young() });
        if next.full {
            break next;
        }
        assert!(free > 0);
    };
    // (20 + 123) ms / 492 regions is what all cost at the end: 0.29 ms. 1 ms for 3 regions is more.
    assert!(matches!(due.reasons.last(), Some(Reason::FullCheaper { .. })), "{due}");
    assert_eq!(free, 4, "{due}");
}

/// The number of young collections until the next one is full; `None`: more than `most`.
fn young_until_full(sizing: &mut Sizing, done: &Collection, most: usize) -> Option<usize> {
    (1..=most).find(|_| sizing.after(done).full)
}

#[test]
fn weak_handles_are_cleared_after_many_young_collections() {
    let (weak, most) = (Collection { weak_handles: 3, old_bytes: MIB, ..young() }, full::MANY_YOUNG);
    let mut one = sizing("");
    for _ in 0..2 {
        assert_eq!(young_until_full(&mut one, &weak, 2 * most), Some(most));
        let next = one.after(&weak);
        assert!(matches!(next.reasons.last(), Some(Reason::FullForWeakHandles { .. })), "{next}");
        assert!(next.to_string().contains("full next: 1025 young collections, 3 weak handles"), "{next}");
        // 20 ms, and a young one takes 1 ms.
        assert!(!one.after(&full(2040)).full, "the row begins anew");
    }
    // A full collection takes as long as 200 young ones.
    let dear = Collection { pause_ns: 200_000_000, ..full(2040) };
    let mut two = sizing("");
    assert!(!two.after(&dear).full);
    assert_eq!(young_until_full(&mut two, &weak, 3 * most), Some(2000));
    for nothing_to_find in
        [Collection { weak_handles: 0, ..weak.clone() }, Collection { old_bytes: 0, ..weak }]
    {
        assert_eq!(young_until_full(&mut sizing(""), &nothing_to_find, 3 * most), None);
    }
}

#[test]
fn workers_follow_the_work() {
    for (copied, scanned, workers) in [
        (0, 0, 1),
        (500 * KIB, 0, 1),
        (512 * KIB, 0, 2),
        (300 * KIB, 300 * KIB, 2),
        (1200 * KIB, 0, 3),
        (100 * MIB, 0, 4),
    ] {
        let machine = Machine { workers: 4, ..machine(1 << 30, 512 * KIB) };
        let mut sizing = Sizing::new(settings(""), machine);
        let done = Collection { promoted_bytes: copied, scanned_bytes: scanned, ..young() };
        let eden = sizing.after(&done).eden_regions;
        assert_eq!(sizing.worker_demand(eden.min(4), 1).workers, workers, "{copied} {scanned}");
    }
}

#[test]
fn objects_that_stay_in_place_cost_no_work_and_no_copy() {
    let machine = Machine { workers: 4, ..machine(1 << 30, 512 * KIB) };
    let after = |done: Collection| {
        let mut sizing = Sizing::new(settings(""), machine);
        let _ = sizing.after(&done);
        (sizing.worker_demand(4, 1).workers, sizing.survival.reserve(4, &machine, 1))
    };
    // A large array becomes old: as if it had not been there.
    let large = Collection { stayed_bytes: 16 * MIB, eden_regions: 36, humongous_regions: 32, ..young() };
    let without = Collection { eden_regions: 4, humongous_regions: 32, ..young() };
    assert_eq!((after(large.clone()), after(without)), ((1, 1), (1, 1)));
    let moved = Collection { stayed_bytes: 0, promoted_bytes: 16 * MIB, ..large.clone() };
    assert_eq!(after(moved).0, 4, "copied, it is");
    // Nor does it count as a young object that lived on: of the due ones none did, and the
    // threshold may rise.
    let due =
        Collection { survived: [0, MIB, MIB, MIB, MIB, MIB, MIB, MIB, 0, 0, 0, 0, 0, 0, 0, 0], ..young() };
    let threshold = |then: &Collection| {
        let mut sizing = Sizing::new(settings(""), machine);
        let _ = sizing.after(&due);
        (0..20).map(|_| sizing.after(then).tenuring_threshold).last()
    };
    assert_eq!(threshold(&large), threshold(&Collection { stayed_bytes: 0, ..large }));
}

#[test]
fn an_eden_that_threads_have_made_larger_has_workers_for_it() {
    let machine = Machine { workers: 4, ..machine(1 << 30, 512 * KIB) };
    let mut sizing = Sizing::new(settings(""), machine);
    // 100 KiB of 2 MiB survive; of 250 MiB it may be 12.
    let _ = sizing.after(&Collection { promoted_bytes: 100 * KIB, ..young() });
    assert_eq!(
        (
            sizing.worker_demand(4, 1).workers,
            sizing.worker_demand(10, 1).workers,
            sizing.worker_demand(500, 1).workers
        ),
        (1, 1, 4)
    );
}

#[test]
fn newly_attached_threads_raise_the_number_of_workers() {
    let machine = Machine { workers: 4, ..machine(1 << 30, 512 * KIB) };
    let mut sizing = Sizing::new(settings(""), machine);
    // 20 KiB of 64 MiB survive one thread's work; of 500 threads' work it may be 10 MiB. Departed
    // threads say nothing.
    let _ = sizing.after(&Collection { threads: 1, eden_regions: 128, promoted_bytes: 20 * KIB, ..young() });
    assert_eq!([1, 2, 40, 500].map(|threads| sizing.worker_demand(128, threads).workers), [1, 1, 2, 4]);
    let _ = sizing.after(&Collection { threads: 500, promoted_bytes: 4 * MIB, ..young() });
    assert_eq!([1, 500].map(|threads| sizing.worker_demand(4, threads).workers), [4, 4]);
}

#[test]
fn buffers_of_many_workers_are_small_in_small_regions() {
    // Four times 40 KiB would be all of this heap.
    let geometry = Geometry { region_shift: 12, regions: 40 };
    let machine = Machine { geometry, workers: 4, work_bytes: 1, ..machine(1 << 30, 512 * KIB) };
    let mut sizing = Sizing::new(settings(""), machine);
    let next = sizing.after(&Collection { promoted_bytes: 100, free_regions: 39, ..young() });
    assert_eq!((sizing.worker_demand(next.eden_regions, 1).workers, next.full), (4, false), "{next}");
}

/// The thresholds after many collections in which `rate(age)` of each age survive, and an old byte
/// costs `old_cost` copies.
fn settled(old_cost: f32, limit: usize, rate: impl Fn(usize) -> f64) -> u8 {
    let mut tenuring = Tenuring::new(7, 15);
    let mut young = [0; AGES];
    for _ in 0..200 {
        let threshold = usize::from(tenuring.threshold);
        let (mut survived, mut promoted) = ([0; AGES], 0);
        survived[1] = MIB;
        for age in 1..AGES {
            let stay = (young[age] as f64 * rate(age)) as usize;
            if age < threshold { survived[age + 1] = stay } else { promoted += stay }
        }
        tenuring.observe(&survived, promoted);
        let before = tenuring.threshold;
        let reason = tenuring.decide(old_cost, survived.iter().sum(), limit);
        assert!(tenuring.threshold <= before + 1);
        assert_eq!(reason.is_some(), tenuring.threshold != before);
        young = survived;
    }
    tenuring.threshold
}

#[test]
fn objects_are_old_from_the_age_at_which_they_survive() {
    let limit = 100 * MIB;
    // An old byte costs two copies: an age of which more than 2/3 survive is old.
    assert_eq!(settled(2.0, limit, |age| if age < 4 { 0.5 } else { 0.9 }), 3);
    assert_eq!(settled(2.0, limit, |_| 0.99), 1);
    // Hardly anything reaches the seventh: no reason to change.
    assert_eq!(settled(2.0, limit, |_| 0.3), 7);
    // Dear and cheap old bytes.
    assert!(settled(20.0, limit, |age| if age < 4 { 0.5 } else { 0.8 }) > 7);
    assert_eq!(settled(0.1, limit, |_| 0.5), 1);
    // A cliff that the next age alone does not show: nothing dies before the fifth.
    assert!(settled(6.0, limit, |age| if age < 5 { 1.0 } else { 0.0 }) >= 5);
}

#[test]
fn survivors_that_overflow_are_promoted_sooner() {
    // 0.5 + 0.25 + ... of 1 MiB: 1.5 MiB hold two ages, and a third now and then.
    let settled = settled(2.0, 1600 * KIB, |_| 0.5);
    assert!((2..=3).contains(&settled), "{settled}");
}

#[test]
fn averages_are_padded_by_three_deviations() {
    let mut padded = padded::Padded::new(10);
    assert!(!padded.known());
    padded.sample(8.0);
    assert_eq!((padded.known(), padded.average(), padded.padded()), (true, 8.0, 8.0));
    // The second sample counts half: 6, and a deviation of (0 + 2) / 2.
    padded.sample(4.0);
    assert_eq!((padded.average(), padded.padded()), (6.0, 9.0));
}

/// A program that fills a region in `near_ns` or `far_ns`, with pauses of 100 us; returns the eden
/// after this many collections.
fn eden_after(collections: usize, near_ns: u64, far_ns: u64) -> (usize, usize) {
    eden_with("MaxHeapSize=1g", collections, near_ns, far_ns)
}

fn eden_with(list: &str, collections: usize, near_ns: u64, far_ns: u64) -> (usize, usize) {
    let machine = Machine { l2_bytes: 512 << 10, l3_bytes: 32 << 20, ..machine(1 << 30, 1 << 20) };
    let mut sizing = Sizing::new(settings(list), machine);
    let mut decision = sizing.first(2);
    let mut far = 0;
    for _ in 0..collections {
        let eden_regions = decision.eden_regions;
        let fill_ns = if eden_regions > 16 { far_ns } else { near_ns };
        far += usize::from(eden_regions > 16);
        decision = sizing.after(&Collection {
            pause_ns: 100_000,
            mutator_ns: eden_regions as u64 * fill_ns,
            eden_regions,
            free_regions: 1000,
            threads: 2,
            ..Collection::default()
        });
    }
    (decision.eden_regions, far)
}

#[test]
fn eden_stays_beyond_the_cache_only_where_that_pays() {
    // Collections want 24 times 100 us: 48 regions of 50 us. Half of L3 is 16.
    let (eden, far) = eden_after(100, 50_000, 50_000);
    assert!(eden >= 32 && far > 80, "a miss costs nothing: {eden} regions, {far} collections");
    let (eden, far) = eden_after(100, 50_000, 70_000);
    assert!(eden == 16 && far <= 15, "a miss costs more than collections: {eden} regions, {far} collections");
    // Near, collections take 100 us of 900; far is dearer by less than that.
    let (eden, far) = eden_after(100, 50_000, 52_000);
    assert!(eden >= 32 && far > 80, "{eden} regions, {far} collections");
    // An eden that is larger than the cache in any case grows all the same.
    let (eden, _) = eden_with("MaxHeapSize=1g NewSize=20m", 100, 50_000, 50_000);
    assert!(eden >= 32, "{eden} regions");
    // Tried again, at ever longer intervals.
    let (_, far) = eden_after(1000, 50_000, 70_000);
    assert!((9..=60).contains(&far), "{far} of 1000 collections");
}

/// Medians of near and far after these collections, in nanoseconds of a region.
fn cache_after(near: &[u64], far: &[u64]) -> cache::CacheTrial {
    let mut cache = cache::CacheTrial::new();
    for (eden_regions, ns) in near.iter().map(|&ns| (16, ns)).chain(far.iter().map(|&ns| (32, ns))) {
        let done = Collection { mutator_ns: ns * eden_regions as u64, eden_regions, ..Collection::default() };
        cache.observe(&done, 16);
    }
    cache
}

#[test]
fn two_collections_that_met_new_pages_do_not_make_the_near_eden_dear() {
    let cold = [900_000, 700_000, 50_000, 50_000, 50_000];
    assert!(cache_after(&cold, &[]).permits_far(), "far is to be tried");
    assert!(!cache_after(&cold[..4], &[]).permits_far(), "near is not known yet");
    let dear = cache_after(&cold, &[70_000; 5]);
    assert_eq!((dear.near.ns(), dear.far.ns()), (50_000, 70_000));
    assert!(!dear.permits_far());
    assert!(cache_after(&cold, &[51_000; 5]).permits_far());
}

#[test]
fn a_wrong_answer_lasts_for_one_short_wait() {
    // All of the near collections met new pages: far seems cheaper. Both are measured again 32
    // collections after the beginning.
    let mut cache = cache_after(&[900_000; 5], &[70_000; 26]);
    assert!(cache.permits_far());
    let collect = |cache: &mut cache::CacheTrial, regions, ns| {
        let done =
            Collection { mutator_ns: ns * regions as u64, eden_regions: regions, ..Collection::default() };
        cache.observe(&done, 16);
    };
    collect(&mut cache, 32, 70_000);
    assert!(!cache.permits_far(), "near first");
    (0..5).for_each(|_| collect(&mut cache, 16, 50_000));
    (0..5).for_each(|_| collect(&mut cache, 32, 70_000));
    assert!(!cache.permits_far());
    // The answer changed, so the wait is short once more. It doubles while the answer stays the
    // same.
    let mut waits = Vec::new();
    let mut waited = 10;
    while waits.len() < 4 {
        collect(&mut cache, 16, 50_000);
        waited += 1;
        if (cache.near.ns(), cache.far.ns()) == (0, 0) {
            waits.push(waited);
            (0..5).for_each(|_| collect(&mut cache, 16, 50_000));
            (0..5).for_each(|_| collect(&mut cache, 32, 70_000));
            waited = 10;
        }
    }
    assert_eq!(waits, [32, 32, 64, 128]);
}
