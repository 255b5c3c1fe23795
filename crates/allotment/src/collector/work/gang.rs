//! A gang of threads that does one task at a time, together.
//!
//! The caller is worker 0, because it has nothing else to do. With one worker no thread is woken,
//! and none has to exist. The others sleep between two runs, each on a condition of its own, so
//! that a run wakes only the threads that it wants. Threads that are awake and wait for the end of
//! the stop come first ([`Volunteers`]), if they come at once. Threads start when they are first
//! wanted, and are kept. If the system gives none, the gang is smaller: a slower collection is
//! better than none.
//!
//! A thread inherits its allowed CPUs from the thread that starts it, here a mutator that met a
//! full heap. If that mutator is bound to a core, all threads of the gang would wait for that core.
//! So the gang sets the CPUs of its threads. It also keeps them off the caller's CPU, or, with as
//! many threads as CPUs, on one each. The kernel wakes a thread where it slept if no CPU idles at
//! that moment: two workers would share one CPU for milliseconds, while mutators had the other.
//!
//! Refused: spinning between runs (a mutator may need the core). Refused: a pool of futures or of
//! `Box`ed jobs (every run would allocate, in a collection that needs memory). Refused: rayon (its
//! pool is the process's, or its threads are not the caller's).

use crate::mutator::{AbortOnUnwind, Volunteers};
use crate::platform::{SystemThread, current_cpu, run_on_cpus};
use crate::sync::{AtomicBool, Builder, Condvar, JoinHandle, Mutex, MutexGuard, Ordering, POISONED};
use crate::timeline::{Shares, Timeline};
use std::sync::{Arc, OnceLock};

/// Threads that run one task at a time.
pub(crate) struct Gang {
    name: &'static str,
    most: usize,
    cpus: Arc<[usize]>,
    /// The threads. Locked while some of them run a task.
    threads: Mutex<Threads>,
    /// The process is a child of `fork()`, and the threads are not in it.
    gone: AtomicBool,
    /// Records the share of each worker in each task.
    timeline: Option<Arc<Timeline>>,
}

#[derive(Default)]
struct Threads {
    all: Vec<GangThread>,
    running: Arc<Running>,
}

/// A thread of the gang.
struct GangThread {
    post: Arc<Post>,
    thread: JoinHandle<()>,
    cpus: Cpus,
}

/// The CPUs of the gang on which a thread may run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cpus {
    All,
    AllBut(usize),
    One(usize),
}

/// The mailbox in which a thread gets its orders.
struct Post {
    /// Written by the thread that gives an order, and set back to `Wait` by the thread that took
    /// it.
    order: Mutex<Order>,
    given: Condvar,
    /// The thread, as soon as it runs.
    system: OnceLock<SystemThread>,
}

enum Order {
    Wait,
    /// The task, and the number to call it with.
    Work(&'static (dyn Fn(usize) + Sync), usize),
    End,
}

/// Threads that have not finished the task.
#[derive(Default)]
struct Running {
    count: Mutex<usize>,
    none: Condvar,
}

const PANICKED: &str = "a thread of a collection panicked (see above)";

impl Gang {
    /// A gang of at most `most` workers, the caller of [`Workers::run`] included; its threads are
    /// called `name-1` and so on. None is started yet.
    pub(crate) fn new(name: &'static str, most: usize) -> Gang {
        let threads = Mutex::new(Threads::default());
        let gone = AtomicBool::new(false);
        Gang { name, most: most.max(1), cpus: [].into(), threads, gone, timeline: None }
    }

    /// This gang, with threads that run on these CPUs, whichever thread starts them. With an empty
    /// list they run on the CPUs of the starting thread.
    pub(crate) fn on_cpus(mut self, cpus: &[usize]) -> Gang {
        self.cpus = cpus.into();
        self
    }

    /// This gang, with a timeline that shows its work.
    pub(crate) fn with_timeline(mut self, timeline: Option<Arc<Timeline>>) -> Gang {
        self.timeline = timeline;
        self
    }

    /// The CPUs on which its threads run. If there are none, they run on those of the starting
    /// thread.
    pub(crate) fn cpus(&self) -> Arc<[usize]> {
        self.cpus.clone()
    }

    /// The most workers of the gang.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Starts threads until `wanted` workers can run, or as many as possible. Returns how many of
    /// the wanted workers can run, the caller included. At least 1.
    pub(crate) fn ready(&self, wanted: usize) -> usize {
        let wanted = wanted.clamp(1, self.most);
        if wanted == 1 {
            return 1;
        }
        wanted.min(self.ready_threads(wanted - 1) + 1)
    }

    /// As many workers as can run.
    pub(crate) fn all(&self) -> Workers<'_> {
        Workers::new(self, self.ready(self.most))
    }

    /// Whether `workers` can run beside the caller. The total may then be [`most`](Self::most) plus
    /// one.
    pub(crate) fn ready_beside(&self, workers: usize) -> bool {
        self.ready_threads(workers) >= workers
    }

    /// In a child of `fork()`: whether no thread holds the lock. A holder would not be in the
    /// child, and could not release it.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.threads.try_lock().is_ok()
    }

    /// In a child of `fork()`: forgets the threads, which are not in it. Other threads start when
    /// they are needed.
    pub(crate) fn forget_threads(&self) {
        self.gone.store(true, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Threads> {
        let mut threads = self.threads.lock().expect(POISONED);
        if self.gone.swap(false, Ordering::Relaxed) {
            threads.forget();
        }
        threads
    }

    /// Starts threads until there are this many, or as many as possible. Returns how many there
    /// are.
    fn ready_threads(&self, wanted: usize) -> usize {
        let mut threads = self.lock();
        while threads.all.len() < wanted {
            match self.start(threads.all.len() + 1, &threads.running) {
                Ok(thread) => threads.all.push(thread),
                // The system may give one next time.
                Err(_) => break,
            }
        }
        threads.all.len()
    }

    fn start(&self, number: usize, running: &Arc<Running>) -> std::io::Result<GangThread> {
        let post =
            Arc::new(Post { order: Mutex::new(Order::Wait), given: Condvar::new(), system: OnceLock::new() });
        let (own, running, cpus) = (post.clone(), running.clone(), self.cpus.clone());
        let builder = Builder::new().name(format!("{}-{number}", self.name));
        let thread = builder.spawn(move || {
            if !cpus.is_empty() {
                run_on_cpus(&cpus);
                let _ = own.system.set(SystemThread::current());
            }
            serve(&own, &running);
        })?;
        Ok(GangThread { post, thread, cpus: Cpus::All })
    }

    /// Calls `task` with each number below `workers`, except for 1 to `helpers`, which other
    /// threads handle; see [`Workers::run`].
    ///
    /// # Panics
    /// If there are fewer threads than the run needs.
    fn run(&self, helpers: usize, workers: usize, task: &(dyn Fn(usize) + Sync)) {
        let wanted = workers.saturating_sub(1 + helpers);
        if wanted == 0 {
            return task(0);
        }
        let abort = AbortOnUnwind::new(PANICKED);
        let Threads { all, running } = &mut *self.lock();
        assert!(wanted <= all.len(), "{workers} workers were not made ready");
        // SAFETY: only the lifetime is changed. `running` counts each thread that is given the task
        // until it has returned from it, and this function returns when it counts none; if it
        // unwinds, the process ends.
        let lasting =
            unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(task) };
        *running.count.lock().expect(POISONED) = wanted;
        let woken = &mut all[..wanted];
        self.place(woken);
        for (thread, number) in woken.iter().zip(1 + helpers..) {
            thread.post.give(Order::Work(lasting, number));
        }
        task(0);
        let mut count = running.count.lock().expect(POISONED);
        while *count > 0 {
            count = running.none.wait(count).expect(POISONED);
        }
        abort.disarm();
    }
}

impl Gang {
    /// Sends threads to their next CPUs: a system call for each thread that had others.
    fn place(&self, threads: &mut [GangThread]) {
        let (cpus, own) = (&*self.cpus, current_cpu());
        if cpus.len() < 2 {
            return;
        }
        let count = threads.len();
        for (thread, &cpu) in threads.iter_mut().zip(cpus.iter().cycle()) {
            let next = match count {
                _ if count < cpus.len() => Cpus::AllBut(own),
                _ if count == cpus.len() => Cpus::One(cpu),
                _ => Cpus::All,
            };
            thread.go(next, cpus);
        }
    }
}

impl Threads {
    /// Forgets the threads, which are not in this process. A join or a detach might reach a thread
    /// that has its memory now.
    fn forget(&mut self) {
        std::mem::forget(std::mem::take(self));
    }
}

impl GangThread {
    fn go(&mut self, next: Cpus, all: &[usize]) {
        // A thread that has not begun yet is moved another time.
        if let Some(thread) = self.post.system.get().filter(|_| self.cpus != next) {
            thread.run_on_cpus(all.iter().copied().filter(|&cpu| match next {
                Cpus::All => true,
                Cpus::AllBut(other) => cpu != other,
                Cpus::One(one) => cpu == one,
            }));
            self.cpus = next;
        }
    }
}

/// The workers of one task: threads of a gang that were made ready before, or volunteers in their
/// place.
#[derive(Clone, Copy)]
pub(crate) struct Workers<'g> {
    gang: &'g Gang,
    count: usize,
    caller_rests: bool,
    volunteers: Option<&'g Volunteers>,
}

impl<'g> Workers<'g> {
    /// `count` workers, at least 1, the caller included, are no more than [`Gang::ready`] said.
    pub(crate) fn new(gang: &'g Gang, count: usize) -> Workers<'g> {
        Workers { gang, count: count.max(1), caller_rests: false, volunteers: None }
    }

    /// `count` workers beside the caller, which does only the work that it alone can do.
    /// [`Gang::ready_beside`] said that they are there.
    ///
    /// If more threads want to run than there are CPUs, the kernel lets a thread that worked for
    /// all others wait for all others afterwards.
    pub(crate) fn beside(gang: &'g Gang, count: usize) -> Workers<'g> {
        Workers { gang, count: count.max(1), caller_rests: true, volunteers: None }
    }

    /// These workers, with volunteers: threads that spin at the safepoint need not be woken, and
    /// are called first. If the caller rests, there are no volunteers: a thread that worked for all
    /// others would then also wait for all others.
    pub(crate) fn helped_by(self, volunteers: &'g Volunteers) -> Workers<'g> {
        Workers { volunteers: (!self.caller_rests).then_some(volunteers), ..self }
    }

    /// Number of workers that do the work.
    pub(crate) fn count(self) -> usize {
        self.count
    }

    /// Whether worker 0 leaves the work to the others.
    pub(crate) fn caller_rests(self) -> bool {
        self.caller_rests
    }

    /// Number of numbers that a task is called with.
    pub(crate) fn numbers(self) -> usize {
        self.count + usize::from(self.caller_rests)
    }

    /// Calls `task` with each number below [`numbers`](Self::numbers): the calling thread with 0,
    /// others with others, at once. Returns when all calls have returned; the caller then sees all
    /// their writes.
    ///
    /// If a task of several workers panics, the process ends, because the others hold what it
    /// leaves behind. A task runs no tasks of the same gang.
    pub(crate) fn run(self, task: &(dyn Fn(usize) + Sync)) {
        match self.gang.timeline.as_ref().filter(|timeline| timeline.is_on()) {
            Some(timeline) => {
                let shares = Shares::of(self.numbers());
                self.run_all(&|number| shares.measure(number, || task(number)));
                timeline.add_shares(shares);
            }
            None => self.run_all(task),
        }
    }

    fn run_all(self, task: &(dyn Fn(usize) + Sync)) {
        let numbers = self.numbers();
        match self.volunteers {
            Some(volunteers) if numbers > 1 => {
                volunteers.share(1, numbers - 1, task, |helpers| self.gang.run(helpers, numbers, task));
            }
            _ => self.gang.run(0, numbers, task),
        }
    }
}

impl Drop for Gang {
    fn drop(&mut self) {
        // Without the lock, which may never be released in a child of `fork()`.
        let Ok(threads) = self.threads.get_mut() else { return };
        if self.gone.load(Ordering::Relaxed) {
            return threads.forget();
        }
        for thread in threads.all.iter() {
            thread.post.give(Order::End);
        }
        for thread in threads.all.drain(..) {
            thread.thread.join().expect(POISONED);
        }
    }
}

impl Post {
    fn give(&self, order: Order) {
        *self.order.lock().expect(POISONED) = order;
        self.given.notify_one();
    }

    fn next(&self) -> Order {
        let mut order = self.order.lock().expect(POISONED);
        while matches!(*order, Order::Wait) {
            order = self.given.wait(order).expect(POISONED);
        }
        std::mem::replace(&mut *order, Order::Wait)
    }
}

/// The loop of a thread of the gang, until its end.
fn serve(post: &Post, running: &Running) {
    let abort = AbortOnUnwind::new(PANICKED);
    while let Order::Work(task, number) = post.next() {
        task(number);
        let mut count = running.count.lock().expect(POISONED);
        *count -= 1;
        if *count == 0 {
            running.none.notify_one();
        }
    }
    abort.disarm();
}
