//! Jobs on threads: one job a thread, in order of the list, until one of them meets an error that concerns all.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::RunError;

/// Run every item on at most `threads` threads. After an error no further item is begun; the first error is returned.
pub(crate) fn for_each<T: Sync, E: Send>(
    items: &[T],
    threads: usize,
    run: impl Fn(&T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let fatal: Mutex<Option<E>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(items.len()) {
            scope.spawn(|| {
                while lock(&fatal).is_none() {
                    let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) else {
                        break;
                    };
                    if let Err(error) = run(item) {
                        lock(&fatal).get_or_insert(error);
                    }
                }
            });
        }
    });
    match fatal.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// What a job gives, or why it failed: an error or a panic in words.
pub(crate) fn caught<T>(job: impl FnOnce() -> Result<T, RunError>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(job))
        .map_err(|payload| format!("internal error: {}", panic_message(&payload)))?
        .map_err(|error| error.to_string())
}

fn panic_message(payload: &Box<dyn std::any::Any + Send>) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unknown".to_owned())
}

/// A thread that panicked while it held the lock left nothing half done: appends are single calls.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_runs_once_and_an_error_ends_the_run() {
        let items: Vec<usize> = (0..50).collect();
        for threads in [1, 3, 80] {
            let seen = Mutex::new(Vec::new());
            let all: Result<(), ()> = for_each(&items, threads, |item| {
                lock(&seen).push(*item);
                Ok(())
            });
            let mut seen = seen.into_inner().unwrap();
            seen.sort_unstable();
            assert_eq!((all, seen), (Ok(()), items.clone()));
        }
        let count = AtomicUsize::new(0);
        let failed = for_each(&items, 1, |item| {
            count.fetch_add(1, Ordering::Relaxed);
            if *item == 4 { Err("full disk") } else { Ok(()) }
        });
        assert_eq!((failed, count.into_inner()), (Err("full disk"), 5));
    }
}
