//! Independent tasks on all cores, where that pays; results never depend on the number of threads.
//!
//! The tasks are fixed by the problem (one a particle, one a tile), and no sum runs over tasks. `work` is about how many
//! multiplications all of them are; below about a million starting them takes longer than doing them.

use rayon::prelude::*;

/// Multiplications that take much longer than handing tasks to other threads, some tens of microseconds.
const WORTH: usize = 1 << 20;

fn pays(tasks: usize, work: usize) -> bool {
    tasks > 1 && work >= WORTH && rayon::current_num_threads() > 1
}

/// `f(0), f(1), …, f(tasks − 1)`.
pub fn map<R: Send>(tasks: usize, work: usize, f: impl Fn(usize) -> R + Send + Sync) -> Vec<R> {
    map_items((0..tasks).collect(), work, |_, task| f(task))
}

/// `f(index, item)` of each item, in order.
pub fn map_items<I: Send, R: Send>(
    items: Vec<I>,
    work: usize,
    f: impl Fn(usize, I) -> R + Send + Sync,
) -> Vec<R> {
    if pays(items.len(), work) {
        let items = items.into_par_iter().enumerate();
        items.map(|(index, item)| f(index, item)).collect()
    } else {
        let items = items.into_iter().enumerate();
        items.map(|(index, item)| f(index, item)).collect()
    }
}

/// `f(index, item)` of each item.
pub fn for_each<I: Send>(items: Vec<I>, work: usize, f: impl Fn(usize, I) + Send + Sync) {
    map_items(items, work, f);
}

/// `f(index, item)` of each item, where it may fail.
///
/// # Errors
/// That of the first item, in order, that has one.
pub fn try_for_each<I: Send, E: Send>(
    items: Vec<I>,
    work: usize,
    f: impl Fn(usize, I) -> Result<(), E> + Send + Sync,
) -> Result<(), E> {
    map_items(items, work, f).into_iter().collect()
}
