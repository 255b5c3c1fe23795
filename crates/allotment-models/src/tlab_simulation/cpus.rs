//! CPUs that tasks take in turn, and the stops of the world.
//!
//! CPUs have one queue. As the kernel does, it prefers threads that run for a short time and sleep:
//! those that have used up a time slice since they slept, and the workers of the collector, come
//! after them. Each of the two groups is served in the order in which its tasks came.
//!
//! Only [`dispatch`](Engine::dispatch) gives a task a CPU, once after each event. Whatever happens
//! at the event only changes the queue: a task that is ready is put there, and a CPU whose task has
//! nothing to do is left. Refused: giving the CPU to the next task at once. A task that decides would then find
//! the world stopped by another that decided in between, and a long queue of tasks without work
//! would overflow the stack.

use super::collect::WorkerTurn;
use super::engine::{Engine, Event, nanoseconds};
use super::operation::NextStep;
use super::thread::Stage;

/// A user of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    Thread(usize),
    Collector(usize),
}

/// A CPU.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cpu {
    task: Option<Task>,
    /// When its task began the burst.
    since: u64,
    slice_end: u64,
    /// Plans of its task so far: an event of an older one is void.
    pub(super) turn: u64,
}

impl Engine {
    /// A thread wants a CPU.
    pub(super) fn wake(&mut self, id: usize) {
        self.threads[id].stage = Stage::Woken;
        self.threads[id].is_hog = false;
        self.queue.push_back(Task::Thread(id));
    }

    /// Gives CPUs that have nothing to do to tasks that want one.
    pub(super) fn dispatch(&mut self) {
        while !self.stopped
            && let Some(cpu) = self.cpus.iter().position(|cpu| cpu.task.is_none())
            && let Some(task) = self.next_task()
        {
            self.switch_to(cpu, task);
        }
    }

    /// The task that gets a CPU next: the first thread that has not used up a time slice since it
    /// slept, and otherwise the first task.
    pub(super) fn next_task(&mut self) -> Option<Task> {
        let is_quick = |task: &Task| matches!(task, Task::Thread(id) if !self.threads[*id].is_hog);
        let place = self.queue.iter().position(is_quick).unwrap_or(0);
        self.queue.remove(place)
    }

    fn switch_to(&mut self, cpu: usize, task: Task) {
        let slice_end = self.now + nanoseconds(self.scenario.time_slice);
        let turn = self.cpus[cpu].turn;
        self.cpus[cpu] = Cpu { task: Some(task), since: self.now, slice_end, turn };
        if let Task::Thread(id) = task {
            self.threads[id].cpu = cpu;
            if self.threads[id].stage == Stage::Woken {
                self.threads[id].burst = nanoseconds(self.scenario.switch);
                self.threads[id].stage = Stage::Begin;
            }
            let visit = self.visit(id);
            self.threads[id].burst += visit;
        }
        self.go_on(cpu);
    }

    /// CPU time of a task until its next decision, in ns.
    fn burst(&self, task: Task) -> u64 {
        match task {
            Task::Thread(id) => self.threads[id].burst,
            Task::Collector(worker) => self.collector.pieces[worker].unwrap_or(0),
        }
    }

    /// Counts the time since the burst of a CPU's task began.
    fn settle(&mut self, cpu: usize) {
        let Cpu { task: Some(task), since, .. } = self.cpus[cpu] else { return };
        let elapsed = self.now - since;
        self.cpus[cpu].since = self.now;
        match task {
            Task::Thread(id) => self.threads[id].burst -= elapsed,
            Task::Collector(worker) => {
                let piece = &mut self.collector.pieces[worker];
                *piece = piece.map(|piece| piece - elapsed);
            }
        }
        let busy = &mut self.window().busy;
        *busy = busy.saturating_add(elapsed);
    }

    /// A burst or a time slice has ended.
    pub(super) fn turn(&mut self, cpu: usize) {
        self.settle(cpu);
        let Some(task) = self.cpus[cpu].task else { return };
        if self.burst(task) > 0 && self.now >= self.cpus[cpu].slice_end && !self.queue.is_empty() {
            self.leave(cpu);
            if let Task::Thread(id) = task {
                self.threads[id].is_hog = true;
            }
            self.queue.push_back(task);
        } else {
            self.go_on(cpu);
        }
    }

    /// Lets the task of a CPU decide until it has a burst, and plans the end of that. A task
    /// without one leaves the CPU.
    fn go_on(&mut self, cpu: usize) {
        let Some(task) = self.cpus[cpu].task else { return };
        while self.burst(task) == 0 {
            let goes = match task {
                Task::Thread(id) => match self.decide(id) {
                    NextStep::Goes => true,
                    NextStep::Sleeps(until) => {
                        self.threads[id].stage = Stage::Away;
                        self.plan(until, Event::Wake(id));
                        false
                    }
                    NextStep::Ends => {
                        self.end(id);
                        false
                    }
                    NextStep::NoMemory => {
                        self.leave(cpu);
                        self.wait_for_memory(id);
                        return;
                    }
                },
                Task::Collector(worker) => match self.next_piece(worker) {
                    WorkerTurn::Works if self.queue.is_empty() => true,
                    WorkerTurn::Works => {
                        self.queue.push_back(task);
                        false
                    }
                    WorkerTurn::Leaves => false,
                    WorkerTurn::EndsPhase => {
                        self.leave(cpu);
                        return self.end_phase();
                    }
                },
            };
            if !goes {
                return self.leave(cpu);
            }
        }
        if self.cpus[cpu].slice_end <= self.now {
            self.cpus[cpu].slice_end = self.now + nanoseconds(self.scenario.time_slice);
        }
        let until = (self.now + self.burst(task)).min(self.cpus[cpu].slice_end);
        self.cpus[cpu].turn += 1;
        self.plan(until, Event::Turn { cpu, turn: self.cpus[cpu].turn });
    }

    fn leave(&mut self, cpu: usize) {
        self.cpus[cpu].task = None;
        self.cpus[cpu].turn += 1;
    }

    /// Takes all CPUs from their tasks, which come first when the world goes on.
    pub(super) fn freeze(&mut self) {
        for cpu in 0..self.cpus.len() {
            self.settle(cpu);
            if let Some(task) = self.cpus[cpu].task.take() {
                self.queue.push_front(task);
            }
            self.cpus[cpu].turn += 1;
        }
    }

    /// Stops the world for `pause` ns. `for_memory`: operations that stand still count as waiting.
    pub(super) fn stop(&mut self, pause: u64, for_memory: bool) {
        if for_memory {
            for task in &self.queue {
                if let Task::Thread(id) = task
                    && self.threads[*id].stage == Stage::Work
                {
                    self.threads[*id].held += pause;
                }
            }
            let work = pause.saturating_mul(self.scenario.workers.min(self.scenario.cpus) as u64);
            let busy = &mut self.window().busy;
            *busy = busy.saturating_add(work);
        }
        let longest = &mut self.window().longest_pause;
        *longest = (*longest).max(pause);
        self.stopped = true;
        self.stops += 1;
        self.plan(self.now + pause, Event::Resume(self.stops));
    }
}
