//! How much memory a run needs, before it takes it.

use svn_models::posterior::CurvatureFamily;
use svn_models::recipe::Resolved;
use svn_models::{Device, ModelError};

/// Arrays of the size of all weights that a fit holds at once: particles, best, gradients, moments, directions.
const COPIES: f64 = 8.0;

/// What a run takes, and what it takes it for.
pub(super) struct Needed {
    particles: f64,
    weights: f64,
    rows: f64,
    /// All of it, without the data.
    pub bytes: f64,
}

/// ```text
/// bytes ≈ 8 N (8 d + R² + 2 R √d)      N particles of d weights, R rows of curvature
/// ```
///
/// # Errors
/// [`ModelError`] for settings that make no network.
pub(super) fn needed(resolved: &Resolved) -> Result<Needed, ModelError> {
    let settings = resolved.fit_settings(Device::Cpu, 0)?;
    let network = settings.build_network(resolved.problem.features)?;
    let (particles, weights) = (settings.particles as f64, network.layout().dim() as f64);
    // A resolved recipe has a family where its method uses curvature; the others keep no rows.
    let rows = match resolved.recipe.hessian {
        Some(CurvatureFamily::Full) => {
            let batch = settings.curvature.rows.unwrap_or(settings.batch_size);
            settings.curvature.ring as f64 * batch as f64 * network.outputs() as f64
        }
        _ => 0.0,
    };
    Ok(Needed {
        particles,
        weights,
        rows,
        bytes: 8.0 * particles * (COPIES * weights + rows * rows + 2.0 * rows * weights.sqrt()),
    })
}

/// A sentence if a run of these settings needs more memory than `limit` bytes.
///
/// # Errors
/// As for [`needed`].
pub(super) fn too_much(resolved: &Resolved, limit: f64) -> Result<Option<String>, ModelError> {
    let Needed {
        particles,
        weights,
        rows,
        bytes,
    } = needed(resolved)?;
    let gib = |bytes: f64| bytes / f64::from(1 << 30);
    Ok((bytes > limit).then(|| {
        format!(
            "{particles} particles of {weights} weights{} need about {:.0} GiB a run, this machine has {:.0}; take fewer or smaller ones",
            match rows > 0.0 {
                true => format!(" with {rows} rows of curvature"),
                false => String::new(),
            },
            gib(bytes),
            gib(limit)
        )
    }))
}

/// Memory of this machine in bytes, or of the part of it that this process may use; infinite where it does not say.
pub(crate) fn of_this_machine() -> f64 {
    let text = |path| std::fs::read_to_string(path).unwrap_or_default();
    let info = text("/proc/meminfo");
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = total.and_then(|text| text.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    let limit = text("/sys/fs/cgroup/memory.max").trim().parse::<f64>();
    let all = kib.map_or(f64::INFINITY, |kib| kib * 1024.0);
    all.min(limit.unwrap_or(f64::INFINITY))
}

#[cfg(test)]
mod tests {
    use svn_models::recipe::{Method, NetworkKind, Problem, Recipe};

    use super::*;

    #[test]
    fn what_no_machine_has_is_refused_with_what_it_would_take() {
        let problem = Problem {
            network: NetworkKind::Mlp,
            rows: 200,
            features: 6,
            classes: None,
        };
        let told = |method, recipe: Recipe| {
            let resolved = recipe.resolve(method, &problem).unwrap();
            too_much(&resolved, 16.0 * f64::from(1 << 30)).unwrap()
        };
        assert_eq!(told(Method::Svn, Recipe::default()), None);
        let particles = Recipe {
            particles: Some(100_000_000),
            ..Recipe::default()
        };
        // 6·50 + 50 + 50·50 + 50 + 2·50 + 2 weights.
        assert_eq!(
            told(Method::Ensemble, particles).unwrap(),
            "100000000 particles of 3002 weights need about 17893 GiB a run, this machine has 16; take fewer or smaller ones"
        );
        let wide = Recipe {
            hidden: Some(vec![1_000_000, 1_000_000]),
            ..Recipe::default()
        };
        assert!(told(Method::Ensemble, wide).is_some());
        let ring = Recipe {
            ring: Some(1_000_000_000),
            ..Recipe::default()
        };
        let text = told(Method::Svn, ring).unwrap();
        assert!(text.contains("rows of curvature"), "{text}");
        assert!(of_this_machine() > 1e8);
    }
}
