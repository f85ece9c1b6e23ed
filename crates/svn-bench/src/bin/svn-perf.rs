//! The performance suite, with an allocator that counts; start it by `cargo xtask perf`.

use std::alloc::System;
use std::process::ExitCode;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn allocations() -> Option<u64> {
    let stats = ALLOCATOR.stats();
    Some((stats.allocations + stats.reallocations) as u64)
}

fn main() -> ExitCode {
    ExitCode::from(svn_bench::perf::run(std::env::args_os(), allocations))
}
