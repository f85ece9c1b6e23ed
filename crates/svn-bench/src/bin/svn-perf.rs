//! The performance suite, with an allocator that counts; start it by `cargo xtask perf`.

use std::alloc::System;
use std::process::ExitCode;
use std::time::Instant;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use svn_bench::perf::{Allocations, cli};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn allocations() -> Option<Allocations> {
    let stats = ALLOCATOR.stats();
    Some(Allocations {
        count: (stats.allocations + stats.reallocations) as u64,
        bytes: stats.bytes_allocated as u64,
    })
}

fn main() -> ExitCode {
    let start = Instant::now();
    ExitCode::from(cli::run(std::env::args_os(), start, allocations))
}
