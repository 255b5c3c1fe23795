//! Parts that loom does not cover: late threads, numbers, names.

use super::limit::{Limit, Wish};
use super::stop::{Participant, Safepoints, StopKind};
use super::{Late, LateThread, SafepointStatistics, Status, ThreadIdentity};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

struct Thread {
    limit: Limit,
    status: Status,
    identity: ThreadIdentity,
}

impl Participant for Arc<Thread> {
    fn limit(&self) -> &Limit {
        &self.limit
    }
    fn status(&self) -> &Status {
        &self.status
    }
    fn identity(&self) -> &ThreadIdentity {
        &self.identity
    }
}

fn thread() -> Arc<Thread> {
    let (limit, status, identity) = (Limit::default(), Status::default(), ThreadIdentity::current());
    Arc::new(Thread { limit, status, identity })
}

#[test]
fn a_late_thread_is_named_once_for_each_stop_and_waited_for() {
    let (name_it, named) = channel::<LateThread>();
    let name_it = Mutex::new(name_it);
    let hook = move |late: &LateThread| name_it.lock().unwrap().send(late.clone()).unwrap();
    let late = Late::new(1, Some(Arc::new(hook)));
    let heap = Arc::new(Safepoints::new(late, 8, ()));
    let (ready, wait_for_it) = channel();
    let slow = {
        let heap = heap.clone();
        let slow = move || {
            let own = thread();
            heap.attach(own.clone(), |_| ());
            let blocking = thread();
            heap.attach(blocking.clone(), |_| ());
            heap.enter_blocking(&blocking);
            for _ in 0..3 {
                // Awake again: a stop does not wait for a thread that the stop before it still
                // holds parked.
                ready.send(()).unwrap();
                let late = named.recv().unwrap();
                assert!(late.waited >= Duration::from_millis(1));
                assert_eq!(
                    (late.thread.name(), late.thread.id()),
                    (Some("slow"), std::thread::current().id())
                );
                let text = late.to_string();
                assert!(text.contains("thread \"slow\" (ThreadId(") && text.contains("`blocking`"), "{text}");
                own.limit.acknowledge();
                heap.park(&own);
            }
            heap.detach(&own, |_| ());
            assert!(named.try_recv().is_err(), "once for each stop");
        };
        std::thread::Builder::new().name("slow".into()).spawn(slow).unwrap()
    };
    for _ in 0..3 {
        wait_for_it.recv().unwrap();
        let last = heap.stop(StopKind::Full, None, |arrival| arrival.last).unwrap();
        assert_eq!(last.expect("one was waited for").id(), slow.thread().id());
    }
    slow.join().unwrap();
}

#[test]
fn a_hook_that_panics_lets_everybody_go_on() {
    let late = Late::new(1, Some(Arc::new(|_| std::panic::resume_unwind(Box::new("out")))));
    let heap = Safepoints::new(late, 8, ());
    let (running, blocking) = (thread(), thread());
    heap.attach(running.clone(), |_| ());
    heap.attach(blocking.clone(), |_| ());
    heap.enter_blocking(&blocking);
    let stop = std::panic::AssertUnwindSafe(|| {
        heap.stop(StopKind::Full, None, |_| unreachable!("one thread never comes"))
    });
    assert!(std::panic::catch_unwind(stop).is_err());
    // Neither waits, though both were asked.
    heap.leave_blocking(&blocking);
    heap.park(&running);
    heap.enter_blocking(&running);
    assert_eq!(heap.stop(StopKind::Full, Some(&blocking), |_| 7), Some(7));
    assert_eq!(heap.statistics().stops, 1, "the other did not come to be");
}

#[test]
fn who_is_parked_is_not_asked_again_for_what_was_done() {
    let heap = Safepoints::new(Late::new(0, None), 0, ());
    let (own, other) = (thread(), thread());
    heap.attach(own.clone(), |_| ());
    heap.attach(other.clone(), |_| ());
    other.limit.request(Wish::Retire);
    heap.enter_blocking(&other);
    let last = heap.stop(StopKind::Full, Some(&own), |arrival| {
        assert!(other.status.is_requested() && !own.status.is_requested() && !other.limit.pending());
        // A request made now counts for later.
        other.limit.request(Wish::Retire);
        arrival.last
    });
    assert!(last.expect("a stop").is_none(), "no thread had to be waited for");
    assert!(!other.status.is_requested() && other.limit.pending());
    assert!(other.status.is_safe());
    heap.leave_blocking(&other);
    assert!(!other.status.is_safe());
}

#[test]
fn statistics_know_the_last_the_longest_and_all() {
    let mut statistics = SafepointStatistics::default();
    let ms = Duration::from_millis;
    [3, 5, 4].into_iter().for_each(|time| statistics.record(ms(time)));
    let SafepointStatistics { stops, last, max, times } = statistics;
    assert_eq!((stops, last, max), (3, ms(4), ms(5)));
    assert_eq!((times.count(), times.sum()), (stops, ms(12)));
}

#[test]
fn a_thread_without_a_name_has_its_numbers() {
    let text = std::thread::spawn(|| ThreadIdentity::current().to_string()).join().unwrap();
    assert!(text.starts_with("without a name (ThreadId("), "{text}");
    let here = ThreadIdentity::current();
    assert_eq!(here.system_id(), rustix::thread::gettid().as_raw_nonzero().get());
}
