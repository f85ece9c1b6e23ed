//! How long a run goes on without a better epoch.

use super::EpochReport;

/// Counts the epochs since the best one.
#[derive(Debug, Clone)]
pub struct Patience {
    limit: Option<usize>,
    best: f64,
    since: usize,
}

impl Patience {
    /// Of so many epochs without a better validation score; endless if left out.
    pub fn new(limit: Option<usize>) -> Self {
        Self {
            limit,
            best: f64::INFINITY,
            since: 0,
        }
    }

    /// Whether training should end after this epoch.
    pub fn is_over(&mut self, epoch: &EpochReport) -> bool {
        match epoch.validation_nll {
            Some(nll) if nll < self.best => (self.best, self.since) = (nll, 0),
            _ => self.since += 1,
        }
        self.limit.is_some_and(|limit| self.since >= limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_without_a_better_one_are_counted() {
        let report = |validation_nll| EpochReport {
            epoch: 1,
            validation_nll,
            mean_kernel: None,
            kernel_warning: None,
            repulsion_ratio: None,
            damping: 0.0,
            trust_scale: 1.0,
            rejected: 0,
        };
        let values = [
            Some(1.0),
            Some(0.9),
            None,
            Some(0.9),
            Some(0.8),
            Some(1.0),
            None,
        ];
        let over = |limit| {
            let mut patience = Patience::new(limit);
            values.map(|value| patience.is_over(&report(value)))
        };
        assert_eq!(
            over(Some(2)),
            [false, false, false, true, false, false, true]
        );
        assert_eq!(over(Some(3)), [false; 7]);
        assert_eq!(over(None), [false; 7]);
    }
}
