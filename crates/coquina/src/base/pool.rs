//! The executor: one thread pool per process, on which a job runs its tasks.
//!
//! A [`Job`] says with how many threads, and who watches. [`Job::run`] takes tasks from an iterator, in order,
//! and works on them on the calling thread and on pool threads at once. Small jobs never touch the pool.
//!
//! The pool is made on first use, as large as the CPUs that affinity and cgroup leave to this process, unless
//! `COQUINA_NUM_THREADS` or [`set_num_threads`] says otherwise. A forked child has none of its parent's threads:
//! the first job in a child finds another process number and makes a pool of its own. Nothing that another
//! thread may have locked at the moment of the fork is touched in the child, so it cannot hang.
//!
//! Invariant: what a job computes does not depend on the number of threads, and of several failing tasks the
//! error of the first one is returned.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::error::{Error, Result};
use super::settings::Settings;

/// Jobs of fewer bytes run on the calling thread: waking another costs more than it brings.
pub(crate) const INLINE_BYTES: usize = 96 * 1024;
/// The same for jobs that only copy or fill, which are over ten times as fast.
pub(crate) const INLINE_COPY_BYTES: usize = 2 << 20;

/// Looks at a running job: gets the bytes done so far, and those of all its tasks, and may stop the job.
pub type Observer<'a> = &'a dyn Fn(u64, u64) -> ControlFlow<()>;

/// How a piece of work is to be run.
#[derive(Clone, Copy, Default)]
pub struct Job<'a> {
    threads: Option<usize>,
    observer: Option<Observer<'a>>,
    pub(crate) waits: bool,
}

impl<'a> Job<'a> {
    /// At most this many threads, the calling one included; `None` for all of the pool.
    #[must_use]
    pub fn threads(mut self, threads: Option<usize>) -> Self {
        self.threads = threads;
        self
    }

    /// Calls `observer` between tasks, on the calling thread.
    #[must_use]
    pub fn observed_by(mut self, observer: Observer<'a>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Whether it may wait for another thread that is decoding what it needs, so that both have it of one decode. Only
    /// for callers that hold no lock which a decoder may need: Python's, for codecs that are Python functions.
    #[must_use]
    pub fn waits(mut self, waits: bool) -> Self {
        self.waits = waits;
        self
    }

    /// Lets the observer look, within work on the calling thread that is no job of tasks.
    ///
    /// # Errors
    /// `Cancelled` if it stops the job.
    pub(crate) fn look(&self, done: u64, total: u64) -> Result<()> {
        let is_stopped = self.observer.is_some_and(|see| see(done, total).is_break());
        if is_stopped { Err(Error::cancelled()) } else { Ok(()) }
    }

    /// A job that runs on the calling thread alone and that nobody watches.
    pub(crate) fn inline() -> Self {
        Self::default().threads(Some(1))
    }

    /// Runs `work` on every task. `total_bytes` says how much work all tasks are; `work` returns the bytes it did.
    ///
    /// # Errors
    /// The error of the first task that failed, or [`super::error::ErrorKind::Cancelled`].
    pub(crate) fn run<T: Send>(
        &self,
        total_bytes: usize,
        tasks: impl Iterator<Item = T> + Send,
        work: impl Fn(T) -> Result<usize> + Sync,
    ) -> Result<()> {
        // Nobody is woken for a job of one task.
        let tasks_max = tasks.size_hint().1.unwrap_or(usize::MAX);
        let helpers =
            if total_bytes < INLINE_BYTES { 0 } else { self.helpers().min(tasks_max.saturating_sub(1)) };
        let state = State::new(tasks.enumerate(), total_bytes as u64);
        if helpers == 0 {
            state.work(&work, self.observer);
        } else {
            let pool = current_pool();
            pool.rayon.in_place_scope(|scope| {
                for _ in 0..helpers {
                    let Some(seat) = pool.take_seat() else { break };
                    scope.spawn(|_| {
                        let _seat = seat;
                        state.work(&work, None);
                    });
                }
                state.work(&work, self.observer);
            });
        }
        state.outcome()
    }

    /// Pool threads that may help the calling one.
    fn helpers(&self) -> usize {
        match self.threads {
            Some(threads) => threads.saturating_sub(1),
            None => num_threads() - 1,
        }
    }

    /// How many threads, the calling one included, work on a job of `total_bytes`.
    pub(crate) fn width(&self, total_bytes: usize) -> usize {
        if total_bytes < INLINE_BYTES { 1 } else { (self.helpers() + 1).min(num_threads()) }
    }
}

/// What the threads of one job share.
struct State<I> {
    tasks: Mutex<I>,
    total: u64,
    done: AtomicU64,
    stop: AtomicBool,
    error: Mutex<Option<(usize, Error)>>,
}

impl<I> State<I> {
    fn new(tasks: I, total: u64) -> Self {
        let (done, stop) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { tasks: Mutex::new(tasks), total, done, stop, error: Mutex::new(None) }
    }

    fn work<T>(&self, work: &impl Fn(T) -> Result<usize>, observer: Option<Observer<'_>>)
    where
        I: Iterator<Item = (usize, T)>,
    {
        while !self.stop.load(Ordering::Relaxed) {
            let next = self.tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, task)) = next else { break };
            match work(task) {
                Ok(bytes) => {
                    self.done.fetch_add(bytes as u64, Ordering::Relaxed);
                }
                Err(error) => self.fail(number, error),
            }
            if observer.is_some_and(|see| see(self.done.load(Ordering::Relaxed), self.total).is_break()) {
                self.fail(usize::MAX, Error::cancelled());
            }
        }
    }

    /// Tasks are handed out in order, so all before a failed one have been started: the lowest number wins.
    fn fail(&self, number: usize, error: Error) {
        self.stop.store(true, Ordering::Relaxed);
        let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(n, _)| number < *n) {
            *first = Some((number, error));
        }
    }

    fn outcome(self) -> Result<()> {
        match self.error.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }
}

struct Pool {
    rayon: rayon::ThreadPool,
    threads: usize,
    /// Pool threads that no job has asked for. A job waits for all threads that it has asked for, so it may only
    /// ask for idle ones: else it would wait for another job's end when its own work is long done.
    idle: AtomicUsize,
}

/// A claim to an idle pool thread, given back when dropped.
struct Seat<'p>(&'p Pool);

impl Pool {
    fn take_seat(&self) -> Option<Seat<'_>> {
        let taken = self.idle.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |idle| idle.checked_sub(1));
        taken.is_ok().then(|| Seat(self))
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.0.idle.fetch_add(1, Ordering::Relaxed);
    }
}

/// The number of threads that [`set_num_threads`] asked for; 0 for none.
static REQUESTED: AtomicUsize = AtomicUsize::new(0);

/// The upper half is the number of the process that owns the current slot, the lower half counts the forks.
static OWNER: AtomicU64 = AtomicU64::new(0);

/// One pool per fork generation, so that a child never takes a lock that a parent's thread may hold.
/// The slots are used in a ring: 64 forks deep, the chance of meeting such a lock is nil.
static SLOTS: [RwLock<Option<Arc<Pool>>>; 64] = [const { RwLock::new(None) }; 64];

fn slot() -> &'static RwLock<Option<Arc<Pool>>> {
    let process = u64::from(std::process::id());
    let mut owner = OWNER.load(Ordering::Acquire);
    while owner >> 32 != process {
        let next = process << 32 | ((owner + 1) & 0xffff_ffff);
        match OWNER.compare_exchange(owner, next, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => owner = next,
            Err(now) => owner = now,
        }
    }
    let slots = SLOTS.len() as u64;
    SLOTS.get(usize::try_from(owner % slots).unwrap_or(0)).unwrap_or(&SLOTS[0])
}

fn current_pool() -> Arc<Pool> {
    let slot = slot();
    let wanted = num_threads();
    if let Some(pool) = slot.read().unwrap_or_else(PoisonError::into_inner).as_ref()
        && pool.threads == wanted
    {
        return Arc::clone(pool);
    }
    let mut slot = slot.write().unwrap_or_else(PoisonError::into_inner);
    match slot.as_ref() {
        Some(pool) if pool.threads == wanted => Arc::clone(pool),
        _ => {
            let pool = Arc::new(build_pool(wanted));
            *slot = Some(Arc::clone(&pool));
            pool
        }
    }
}

/// The caller works too, so the pool has one thread less than asked for.
fn build_pool(threads: usize) -> Pool {
    let helpers = threads.saturating_sub(1).max(1);
    let builder = rayon::ThreadPoolBuilder::new()
        .num_threads(helpers)
        .thread_name(|number| format!("coquina-{number}"));
    match builder.build() {
        Ok(rayon) => Pool { rayon, threads, idle: AtomicUsize::new(helpers) },
        Err(error) => panic!("the operating system must grant {threads} threads: {error}"),
    }
}

/// The number of threads that jobs use unless they say otherwise.
pub fn num_threads() -> usize {
    match REQUESTED.load(Ordering::Relaxed) {
        0 => {
            let threads = Settings::from_env().num_threads.unwrap_or_else(available_threads);
            // Another thread may have asked for a number meanwhile: that one stays.
            match REQUESTED.compare_exchange(0, threads, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => threads,
                Err(requested) => requested,
            }
        }
        threads => threads,
    }
}

/// CPUs that affinity and cgroup quota leave to this process.
fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Sets the number of threads for all jobs to come, and returns the number that was in force.
///
/// # Errors
/// [`super::error::ErrorKind::Invalid`] for 0 or more than 1024 threads.
pub fn set_num_threads(threads: usize) -> Result<usize> {
    if !(1..=1024).contains(&threads) {
        return Err(Error::invalid(format!("threads {threads}: takes 1..=1024")));
    }
    let before = num_threads();
    REQUESTED.store(threads, Ordering::Relaxed);
    Ok(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BIG: usize = INLINE_BYTES;

    #[test]
    fn every_task_runs_once_whatever_the_threads() {
        for threads in [1, 2, 7] {
            let seen: Vec<AtomicUsize> = (0..1000).map(|_| AtomicUsize::new(0)).collect();
            let job = Job::default().threads(Some(threads));
            job.run(BIG, 0..1000, |i: usize| Ok(seen[i].fetch_add(1, Ordering::Relaxed))).unwrap();
            assert!(seen.iter().all(|n| n.load(Ordering::Relaxed) == 1));
        }
    }

    #[test]
    fn the_first_error_wins() {
        for _ in 0..200 {
            let failing = |i: usize| if i % 10 == 7 { Err(Error::invalid(format!("{i}"))) } else { Ok(1) };
            let error = Job::default().run(BIG, 0..100, failing).unwrap_err();
            assert_eq!(error.to_string(), "7");
        }
    }

    #[test]
    fn an_observer_stops_the_job() {
        let stop = |done: u64, total: u64| {
            assert_eq!(total, BIG as u64);
            if done >= 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let job = Job::default().threads(Some(1)).observed_by(&stop);
        let ran = AtomicUsize::new(0);
        let count = |_| {
            ran.fetch_add(1, Ordering::Relaxed);
            Ok(1)
        };
        let error = job.run(BIG, 0..100, count).unwrap_err();
        assert_eq!(error.kind(), super::super::error::ErrorKind::Cancelled);
        assert_eq!(ran.load(Ordering::Relaxed), 10);
    }

    #[test]
    fn a_job_does_not_wait_for_a_longer_one_that_has_the_pool() {
        let is_done = AtomicBool::new(false);
        let started = std::sync::Barrier::new(2);
        let long = |n: usize| {
            if n == 0 {
                started.wait();
            }
            while !is_done.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            Ok(1)
        };
        std::thread::scope(|scope| {
            scope.spawn(|| Job::default().run(BIG, 0..num_threads(), long).unwrap());
            started.wait();
            Job::default().run(BIG, 0..100, Ok).unwrap();
            is_done.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn jobs_nest() {
        let total = AtomicUsize::new(0);
        let inner = |_| {
            Job::default().run(BIG, 0..10, |_| Ok(total.fetch_add(1, Ordering::Relaxed)))?;
            Ok(0)
        };
        Job::default().run(BIG, 0..10, inner).unwrap();
        assert_eq!(total.load(Ordering::Relaxed), 100);
    }
}
