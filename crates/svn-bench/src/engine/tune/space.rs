//! The grids that are searched, and a seeded sample of them.

use rand::seq::SliceRandom;
use svn_models::ModelError;
use svn_models::posterior::CurvatureFamily;
use svn_models::recipe::{Method, Noise, Problem, Recipe, Schedule, Size};
use svn_models::stein::Bandwidth;

use crate::split::stream;

/// The values of one setting, each as settings with nothing else set.
pub type Axis = Vec<Recipe>;

/// Rows a particle that a ring of several batches may add to the curvature, `batch × ring × outputs`: the cost of a step
/// grows with their cube, and there are many steps where batches are small. One large batch may have more.
const RING_ROWS: usize = 384;

/// The grid of a method: every combination of a value of each axis.
///
/// | setting | values |
/// |---|---|
/// | `batch_size` | 8, 16, 32, 64, 128; above 4000 training rows 32, 64, 128, 256, 384, for Newton above 16 000 the last three |
/// | `prior_precision` | 0.1, 0.3, 1, 3, 10 |
/// | `noise` (regression) | homoscedastic, heteroscedastic |
/// | `noise_floor` (regression) | left out, 0.01, 0.03 |
/// | `averaging` | left out, 0.1, 0.3 |
/// | `lr`, first-order | 0.003, 0.01, 0.03, 0.1 |
/// | `newton_lr` | 0.1, 0.3, 1; for classes also 0.03 |
/// | `schedule` | cosine; Newton also constant and noise |
/// | `repulsion`, between functions | 0.1, 0.3, 1 |
/// | `bandwidth`, methods with a kernel | median, 2d |
/// | `damping`, Newton | 3, 10, 30, 100, 300; above 16 000 training rows ten times that |
/// | `trust_region`, Newton | 0.03, 0.1, 0.3; for classes also 0.01; of numbers with a `diag` or `ekfac` that is given 2.5, 5, 10, 20, 40 nats over the training rows |
/// | `momentum`, Newton but ssvn | 0, 0.8 |
/// | `ring`, Newton | 1, 2, 4, 6, 12, 24; above 1 at most 384 rows with the batch size and the outputs where the curvature is `full` |
pub fn axes(method: Method, problem: &Problem, given: &Recipe) -> Vec<Axis> {
    let classes = problem.classes.is_some();
    let sizes: &[usize] = match (Size::of(problem.rows), method.is_newton()) {
        (Size::Few | Size::Small, _) => &[8, 16, 32, 64, 128],
        (Size::Medium, _) | (Size::Large, false) => &[32, 64, 128, 256, 384],
        (Size::Large, true) => &[128, 256, 384],
    };
    let mut axes = vec![
        axis(sizes, |s, v| s.batch_size = Some(v)),
        axis(&[0.1, 0.3, 1.0, 3.0, 10.0], |s, v| {
            s.prior_precision = Some(v);
        }),
    ];
    if !classes {
        axes.push(axis(
            &[Noise::Homoscedastic, Noise::Heteroscedastic],
            |s, v| s.noise = Some(v),
        ));
        axes.push(axis(&[None, Some(0.01), Some(0.03)], |s, v| {
            s.noise_floor = v;
        }));
    }
    axes.push(axis(&[None, Some(0.1), Some(0.3)], |s, v| s.averaging = v));
    if method.has_kernel() && !method.is_of_functions() {
        axes.push(axis(&[Bandwidth::Median, Bandwidth::Dimension], |s, v| {
            s.bandwidth = Some(v);
        }));
    }
    if method.is_of_functions() {
        axes.push(axis(&[0.1, 0.3, 1.0], |s, v| s.repulsion = Some(v)));
    }
    if method.is_newton() {
        let from = usize::from(!classes);
        axes.push(axis(&[0.03, 0.1, 0.3, 1.0][from..], |s, v| {
            s.newton_lr = Some(v);
        }));
        let schedules = [Schedule::Cosine, Schedule::Constant, Schedule::Noise];
        axes.push(axis(&schedules, |s, v| s.schedule = Some(v)));
        // Damping is on the scale of the sum over the data.
        let scale = match Size::of(problem.rows) {
            Size::Few | Size::Small | Size::Medium => 1.0,
            Size::Large => 10.0,
        };
        axes.push(axis(&[3.0, 10.0, 30.0, 100.0, 300.0], |s, v| {
            s.damping = Some(scale * v);
        }));
        let nats = [2.5, 5.0, 10.0, 20.0, 40.0].map(|nats| nats / problem.rows.max(1) as f64);
        let bounds = match given.bounds_all_rows(method, problem) {
            true => &nats[..],
            false => &[0.01, 0.03, 0.1, 0.3][from..],
        };
        axes.push(axis(bounds, |s, v| s.trust_region = Some(v)));
        if method != Method::Ssvn {
            axes.push(axis(&[0.0, 0.8], |s, v| s.momentum = Some(v)));
        }
        axes.push(axis(&[1, 2, 4, 6, 12, 24], |s, v| s.ring = Some(v)));
    } else {
        axes.push(axis(&[0.003, 0.01, 0.03, 0.1], |s, v| s.lr = Some(v)));
    }
    axes
}

fn axis<V: Copy>(values: &[V], set: impl Fn(&mut Recipe, V)) -> Axis {
    let one = |&value: &V| {
        let mut settings = Recipe::default();
        set(&mut settings, value);
        settings
    };
    values.iter().map(one).collect()
}

/// `count` different configurations, resolved: the method's default first, then a seeded sample of its grid without
/// repetition. What `given` sets is fixed. Fewer if the grid has no more.
///
/// # Errors
/// As for [`Recipe::resolve`].
pub fn candidates(
    (dataset, problem): (&str, &Problem),
    method: Method,
    given: &Recipe,
    count: usize,
    seed: u64,
) -> Result<Vec<Recipe>, ModelError> {
    let resolve = |given: &Recipe| Ok::<_, ModelError>(given.resolve(method, problem)?.recipe);
    let given = &given.meant_for(method);
    let mut found = vec![resolve(given)?];
    let axes = axes(method, problem, given);
    let size: usize = axes.iter().map(Vec::len).product();
    let mut order: Vec<usize> = (0..size).collect();
    order.shuffle(&mut stream(seed, &["tune", dataset, method.name()]));
    for index in order {
        if found.len() >= count {
            break;
        }
        let given = point(&axes, index, given);
        if given.batch_size > Some(problem.rows) {
            continue;
        }
        let settings = resolve(&given)?;
        if affordable(&settings) && !found.contains(&settings) {
            found.push(settings);
        }
    }
    Ok(found)
}

/// Point `index` of the grid in mixed radix, behind what is given.
fn point(axes: &[Axis], mut index: usize, given: &Recipe) -> Recipe {
    let mut settings = given.clone();
    for axis in axes {
        settings = settings.or(&axis[index % axis.len()]);
        index /= axis.len();
    }
    settings
}

fn affordable(settings: &Recipe) -> bool {
    let batch = settings.batch_size.unwrap_or(1);
    let ring = settings.ring.unwrap_or(1);
    let outputs = match settings.noise {
        Some(Noise::Heteroscedastic) => 2,
        _ => 1,
    };
    // The other families keep no rows.
    ring == 1
        || settings.hessian != Some(CurvatureFamily::Full)
        || batch * ring * outputs <= RING_ROWS
}
