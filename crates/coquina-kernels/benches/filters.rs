//! How many bytes per second does each filter move, per element width and instruction set, in a block?
//!
//! Prints the machine and GB/s (1e9 bytes of the block per second, the best of many runs) for blocks of 32 KiB and
//! 256 KiB. Arguments: parts of names; lines with none of them are left out.

use std::hint::black_box;
use std::io::{Write, stdout};
use std::time::Instant;

use coquina_kernels as kernels;
use kernels::Level;

type Filter = fn(Level, usize, &[u8], &mut [u8]);

/// Name, filter, widths.
const FILTERS: &[(&str, Filter, &[usize])] = &[
    ("shuffle", kernels::shuffle, &WIDTHS),
    ("unshuffle", kernels::unshuffle, &WIDTHS),
    ("bitshuffle", kernels::bitshuffle, &WIDTHS),
    ("bitunshuffle", kernels::bitunshuffle, &WIDTHS),
    ("bytedelta_encode", kernels::bytedelta_encode, &[2, 4, 8]),
    ("bytedelta_decode", kernels::bytedelta_decode, &[2, 4, 8]),
    ("xor_into", |level, _, src, dst| kernels::xor_into(level, src, src, dst), &[1]),
    ("xor_chain_encode", kernels::xor_chain_encode, &[1, 4, 8]),
    ("xor_chain_decode", kernels::xor_chain_decode, &[1, 2, 4, 8]),
    ("run_value", |_, _, src, _| assert!(kernels::run_value(src).is_some()), &[1]),
    ("copy", |_, _, src, dst| dst.copy_from_slice(src), &[1]),
];
const WIDTHS: [usize; 16] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 64, 100, 255, 1000];

/// Runs per measurement, and measurements of which the best counts.
const RUN_BYTES: usize = 2 << 20;
const MEASUREMENTS: usize = 60;

fn main() -> std::io::Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let mut out = stdout().lock();
    writeln!(out, "coquina-kernels {}, {}", env!("CARGO_PKG_VERSION"), processor())?;
    for block_bytes in [32 << 10, 256 << 10] {
        write!(out, "{:>7} KiB {:<18} {:>5}", block_bytes >> 10, "filter", "width")?;
        for level in kernels::levels() {
            write!(out, " {:>9}", level.name())?;
        }
        writeln!(out)?;
        for &(name, filter, widths) in FILTERS {
            if !wanted.is_empty() && !wanted.iter().any(|word| name.contains(word.as_str())) {
                continue;
            }
            for &width in widths {
                write!(out, "{:>11} {name:<18} {width:>5}", "")?;
                for &level in kernels::levels() {
                    write!(out, " {:>9.1}", speed(filter, level, width, block_bytes))?;
                }
                writeln!(out)?;
            }
        }
    }
    Ok(())
}

/// GB/s of `filter` on a block of one value (so that `run_value` reads all of it), aligned to a cache line.
fn speed(filter: Filter, level: Level, width: usize, block_bytes: usize) -> f64 {
    let mut buffer = vec![7_u8; 2 * block_bytes + 64];
    let skipped = buffer.as_ptr().align_offset(64);
    let (src, dst) = buffer[skipped..][..2 * block_bytes].split_at_mut(block_bytes);
    let runs = RUN_BYTES / block_bytes;
    let mut best = f64::INFINITY;
    for _measurement in 0..MEASUREMENTS {
        let start = Instant::now();
        for _run in 0..runs {
            filter(level, width, black_box(&*src), black_box(&mut *dst));
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    let bytes = u32::try_from(runs * block_bytes).map_or(f64::NAN, f64::from);
    bytes / best / 1e9
}

/// The processor's name, as Linux tells it.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name"));
    name.map_or_else(|| std::env::consts::ARCH.into(), |name| name.trim_matches(['\t', ' ', ':']).into())
}
