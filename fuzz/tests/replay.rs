//! Replays the corpus and seeded mutations of it through every target, on stable Rust.
//!
//! `COQUINA_FUZZ_MUTATIONS` says how many mutated inputs, `COQUINA_FUZZ_SEED` where the series starts. A failure
//! prints target, seed and input; an input that was once at fault belongs in `fuzz/corpus`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use coquina_fuzz::{LIMIT_BYTES, Random, TARGETS, Target, corpus, mutate};

/// Without a wish in the environment: about 20 seconds on one core.
const MUTATIONS: u64 = 3_000_000;
/// One input may take this long before the run is called a hang; it takes microseconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// Counts what the current thread holds, on top of the system's allocator.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    let held = HELD.get() + bytes;
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
}

fn size_of(layout: Layout) -> isize {
    isize::try_from(layout.size()).unwrap_or(isize::MAX)
}

// SAFETY: every call goes to the system's allocator as it is; counting touches only a cell of this thread that
// needs no allocation and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(size_of(layout));
        // SAFETY: the caller keeps the contract of `alloc`, which is the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(-size_of(layout));
        // SAFETY: the caller keeps the contract of `dealloc`, and `place` came from the system's allocator.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a target may hold at once: outputs of at most the limit (a target makes two), two filter buffers, block 0
/// for delta, one block of which a part is wanted; a table of the blocks; codecs' states and small things.
/// What libzstd and libdeflate take from `malloc` is not counted: they keep one context for each thread.
fn allowance(target: &Target, input: &[u8]) -> isize {
    let bytes = 6 * LIMIT_BYTES + 8 * input.len() + (1 << 20) + target.state_bytes;
    isize::try_from(bytes).unwrap_or(isize::MAX)
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long a test runs is said by who starts it, in the environment"
)]
fn number_from_env(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{name}={text}: not a number")))
}

/// Runs one input; says what happened if it must not.
fn fault(target: &Target, input: &[u8]) -> Result<bool, String> {
    let before = HELD.get();
    PEAK.set(before);
    let accepted = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let peak = PEAK.get() - before;
    match accepted {
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map_or_else(|| "a panic".into(), String::clone);
            Err(panic.downcast_ref::<&str>().map_or(text, |text| (*text).into()))
        }
        Ok(_) if peak > allowance(target, input) => {
            Err(format!("held {peak} bytes, allowed {}", allowance(target, input)))
        }
        Ok(accepted) => Ok(accepted),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Aborts the process if no input has been finished for a while. Dropping the sender ends the watch.
fn watch(done: &'static AtomicU64) -> mpsc::Sender<()> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut last = u64::MAX;
        while receiver.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
            let now = done.load(Ordering::Relaxed);
            if now == last {
                eprintln!("input {now} hangs: no answer after {PATIENCE:?}");
                std::process::abort();
            }
            last = now;
        }
    });
    sender
}

/// The number of a target, by weight.
fn choose(random: &mut Random) -> usize {
    let sum: u64 = TARGETS.iter().map(|target| target.weight).sum();
    let mut at = random.number() % sum;
    for (number, target) in TARGETS.iter().enumerate() {
        if at < target.weight {
            return number;
        }
        at -= target.weight;
    }
    0
}

static DONE: AtomicU64 = AtomicU64::new(0);

#[test]
fn mutated_bytes_give_an_error_or_a_value_within_bounded_memory_and_time() {
    let mutations = number_from_env("COQUINA_FUZZ_MUTATIONS").unwrap_or(MUTATIONS);
    let seed = number_from_env("COQUINA_FUZZ_SEED").unwrap_or(20_260_101);
    let seeds: Vec<_> = TARGETS.iter().map(|target| (target.seeds)()).collect();
    let _watch = watch(&DONE);
    let began = Instant::now();
    // How many each target got, and accepted.
    let mut counts = vec![(0_u64, 0_u64); TARGETS.len()];
    for number in 0..mutations {
        // Every input has its own seed, so that one can be run again alone.
        let mut random = Random::new(seed.wrapping_add(number));
        let chosen = choose(&mut random);
        let (target, corpus) = (&TARGETS[chosen], &seeds[chosen]);
        let from = &corpus[random.below(corpus.len())];
        let other = &corpus[random.below(corpus.len())];
        let input = (target.mutate)(from, other, &mut random);
        match fault(target, &input) {
            Ok(was_accepted) => {
                counts[chosen].0 += 1;
                counts[chosen].1 += u64::from(was_accepted);
            }
            Err(text) => {
                let (number_seed, input) = (seed.wrapping_add(number), hex(&input));
                panic!(
                    "{}: {text}\nCOQUINA_FUZZ_SEED={number_seed} COQUINA_FUZZ_MUTATIONS=1\n{input}",
                    target.name
                )
            }
        }
        DONE.store(number, Ordering::Relaxed);
    }
    let seconds = began.elapsed().as_secs_f64();
    let inputs: usize = seeds.iter().map(Vec::len).sum();
    eprintln!("fuzz replay: seed {seed}, {mutations} mutations of {inputs} inputs, {seconds:.1} s");
    for (target, (total, accepted)) in TARGETS.iter().zip(counts) {
        eprintln!("{}: {accepted} of {total} accepted", target.name);
        // A series that is always refused at the first check tests nothing.
        assert!(total < 1000 || accepted * 40 > total, "{}: {accepted} of {total} accepted", target.name);
    }
}

#[test]
fn every_input_of_the_corpus_passes_every_target() {
    assert!(corpus().len() > 150, "{} inputs", corpus().len());
    for target in TARGETS {
        let corpus = (target.seeds)();
        let mut accepted = 0;
        for input in &corpus {
            match fault(target, input) {
                Ok(was_accepted) => accepted += usize::from(was_accepted),
                Err(text) => panic!("{}: {text}\n{}", target.name, hex(input)),
            }
        }
        assert!(!target.takes_seeds || accepted == corpus.len(), "{}: {accepted}", target.name);
    }
}

#[test]
fn a_seed_makes_the_same_inputs_every_time() {
    let (mut first, mut second) = (Random::new(5), Random::new(5));
    let corpus = corpus();
    for _ in 0..200 {
        let (from, other) = (&corpus[first.below(corpus.len())], &corpus[0]);
        second.below(corpus.len());
        assert_eq!(mutate(from, other, &mut first), mutate(from, other, &mut second));
    }
}

#[test]
fn what_a_thread_holds_is_counted() {
    let before = HELD.get();
    PEAK.set(before);
    drop(std::hint::black_box(vec![0_u8; 1 << 21]));
    assert!(PEAK.get() - before >= 1 << 21);
    assert_eq!(HELD.get(), before);
}
