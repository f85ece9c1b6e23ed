//! The grids that are searched, and a seeded sample of them.

use rand::seq::SliceRandom;

use crate::data::Task;
use crate::experiment::{
    Bandwidth, DatasetSummary, FoldRunner, Method, Noise, RunError, Schedule, TrainSettings,
};
use crate::split::stream;

/// The values of one setting, each as settings with nothing else set.
pub type Axis = Vec<TrainSettings>;

/// Curvature rows a particle at most: batch size × ring. More cost more than they gain.
const CURVATURE_ROWS: usize = 192;

/// Training rows above which batches of 8 and 16 would take hours a fold.
const MANY_ROWS: usize = 4000;

/// The grid of a method: every combination of a value of each axis.
///
/// | setting | values |
/// |---|---|
/// | `batch_size` | 8, 16, 32, 64; above 4000 training rows 32, 64 |
/// | `prior_precision` | 0.1, 0.3, 1, 3, 10 |
/// | `noise` (regression) | homoscedastic, heteroscedastic |
/// | `lr`, first-order | 0.003, 0.01, 0.03, 0.1 |
/// | `lr`, Newton | 0.1, 0.3, 1 |
/// | `schedule` | cosine; Newton also constant |
/// | `bandwidth`, methods with a kernel | median, 2d |
/// | `damping`, Newton | 3, 10, 30, 100, 300 |
/// | `trust_region`, Newton | 0.03, 0.1, 0.3 |
/// | `ring`, Newton | 2, 4, 6, 12, 24; at most 192 rows with the batch size |
pub fn axes(method: Method, dataset: &DatasetSummary) -> Vec<Axis> {
    let sizes: &[usize] = if dataset.train_rows > MANY_ROWS {
        &[32, 64]
    } else {
        &[8, 16, 32, 64]
    };
    let mut axes = vec![
        axis(sizes, |s, v| s.batch_size = Some(v)),
        axis(&[0.1, 0.3, 1.0, 3.0, 10.0], |s, v| {
            s.prior_precision = Some(v);
        }),
    ];
    if dataset.task == Task::Regression {
        axes.push(axis(
            &[Noise::Homoscedastic, Noise::Heteroscedastic],
            |s, v| s.noise = Some(v),
        ));
    }
    if method != Method::Ensemble {
        axes.push(axis(&[Bandwidth::Median, Bandwidth::Dimension], |s, v| {
            s.bandwidth = Some(v);
        }));
    }
    if method.is_newton() {
        axes.push(axis(&[0.1, 0.3, 1.0], |s, v| s.lr = Some(v)));
        axes.push(axis(&[Schedule::Cosine, Schedule::Constant], |s, v| {
            s.schedule = Some(v);
        }));
        axes.push(axis(&[3.0, 10.0, 30.0, 100.0, 300.0], |s, v| {
            s.damping = Some(v);
        }));
        axes.push(axis(&[0.03, 0.1, 0.3], |s, v| s.trust_region = Some(v)));
        axes.push(axis(&[2, 4, 6, 12, 24], |s, v| s.ring = Some(v)));
    } else {
        axes.push(axis(&[0.003, 0.01, 0.03, 0.1], |s, v| s.lr = Some(v)));
    }
    axes
}

fn axis<V: Copy>(values: &[V], set: impl Fn(&mut TrainSettings, V)) -> Axis {
    let one = |&value: &V| {
        let mut settings = TrainSettings::default();
        set(&mut settings, value);
        settings
    };
    values.iter().map(one).collect()
}

/// `count` different configurations, resolved: the method's default first, then a seeded sample of its grid without
/// repetition. What `given` sets is fixed. Fewer if the grid has no more.
///
/// # Errors
/// [`RunError`] if the runner refuses settings.
pub fn candidates(
    runner: &dyn FoldRunner,
    dataset: &DatasetSummary,
    method: Method,
    given: &TrainSettings,
    count: usize,
    seed: u64,
) -> Result<Vec<TrainSettings>, RunError> {
    let mut found = vec![runner.resolve(dataset, method, given)?];
    let axes = axes(method, dataset);
    let size: usize = axes.iter().map(Vec::len).product();
    let mut order: Vec<usize> = (0..size).collect();
    order.shuffle(&mut stream(seed, &["tune", &dataset.name, method.name()]));
    for index in order {
        if found.len() >= count {
            break;
        }
        let settings = runner.resolve(dataset, method, &point(&axes, index, given))?;
        if affordable(&settings, dataset) && !found.contains(&settings) {
            found.push(settings);
        }
    }
    Ok(found)
}

/// Point `index` of the grid in mixed radix, behind what is given.
fn point(axes: &[Axis], mut index: usize, given: &TrainSettings) -> TrainSettings {
    let mut settings = given.clone();
    for axis in axes {
        settings = settings.or(&axis[index % axis.len()]);
        index /= axis.len();
    }
    settings
}

fn affordable(settings: &TrainSettings, dataset: &DatasetSummary) -> bool {
    let batch = settings.batch_size.unwrap_or(1);
    batch <= dataset.train_rows && batch * settings.ring.unwrap_or(1) <= CURVATURE_ROWS
}
