//! The parts of a step measured one by one, through the public interface of `svn-stein`, where the particles stand.
//!
//! ```text
//! score        target.score_into                           forward and backward pass
//! kernel       KernelGram::update, svgd_into               kernel matrix, metric, field
//! solve        SvnSystem::new, solve_into                  Newton system, one Scratch throughout
//! diagnostics  kernel_stein_discrepancy, effective_dimension
//! ```
//!
//! Before each repetition a fresh batch is drawn and its curvature rows are kept, as in a step. The particles do not
//! move.

use std::time::Instant;

use ndarray::{Array1, Array2, Axis};
use svn_linalg::ParticleOperators;
use svn_models::stein::{
    Curved, KernelGram, KernelView, Method, Newton, Score, Scratch, SvnSystem, effective_dimension,
    kernel_stein_discrepancy, svgd_into,
};

use super::counted::Counted;
use super::error::PerfError;
use super::rig::Rig;
use super::statistics::Spread;

/// Median times in milliseconds, and counts of one solve.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Pieces {
    pub score_ms: f64,
    pub kernel_ms: Option<f64>,
    pub solve_ms: Option<f64>,
    pub diagnostics_ms: f64,
    /// Products with single particles' curvature, and factors, where the curvature can count them.
    pub products: Option<usize>,
    pub factors: Option<usize>,
}

#[derive(Default)]
struct Times {
    score: Vec<f64>,
    kernel: Vec<f64>,
    solve: Vec<f64>,
    diagnostics: Vec<f64>,
}

/// Arrays of one particle set.
struct Arrays {
    log_density: Array1<f64>,
    score: Array2<f64>,
    repulsion: Array2<f64>,
    field: Array2<f64>,
    alpha: Array2<f64>,
    gram: KernelGram,
    scratch: Scratch,
}

pub(super) fn measure(rig: &mut Rig, repeats: usize) -> Result<Pieces, PerfError> {
    let particles = rig.state.particles().to_owned();
    let (n, d) = particles.dim();
    let zeros = || Array2::zeros((n, d));
    let mut arrays = Arrays {
        log_density: Array1::zeros(n),
        score: zeros(),
        repulsion: zeros(),
        field: zeros(),
        alpha: zeros(),
        gram: KernelGram::new(n, d),
        scratch: Scratch::default(),
    };
    let method = rig.method().clone();
    // The coordinates of the Newton system where they are a part of all.
    let part = match &method {
        Method::LlSvn { coordinates, .. } => Some(coordinates.indices()),
        _ => None,
    };
    let mut times = Times::default();
    let mut pieces = Pieces::default();
    // The first repetition fills caches and is left out.
    for repetition in 0..=repeats.max(1) {
        if repetition == 1 {
            times = Times::default();
        }
        let target = &mut rig.target.target;
        target
            .next_batch()
            .map_err(PerfError::target(&rig.id, "batch"))?;
        let start = Instant::now();
        target
            .score_into(
                particles.view(),
                arrays.log_density.view_mut(),
                arrays.score.view_mut(),
            )
            .map_err(PerfError::target(&rig.id, "score"))?;
        times.score.push(elapsed_ms(start));
        match &method {
            Method::Svgd { kernel, .. } => {
                let start = Instant::now();
                arrays
                    .gram
                    .update(kernel, particles.view(), None)
                    .map_err(PerfError::part(&rig.id, "kernel"))?;
                arrays.field();
                times.kernel.push(elapsed_ms(start));
            }
            Method::Svn(newton) | Method::LlSvn { newton, .. } => {
                let curvature = target
                    .curvature_into(
                        particles.view(),
                        arrays.log_density.view_mut(),
                        arrays.score.view_mut(),
                    )
                    .map_err(PerfError::target(&rig.id, "curvature"))?;
                let counted = match curvature.low_rank() {
                    None => Some(Counted::new(&*curvature)),
                    Some(_) => None,
                };
                let curvature: &dyn ParticleOperators = match &counted {
                    Some(counted) => counted,
                    None => &*curvature,
                };
                let damping = rig.state.damping();
                arrays
                    .newton(
                        (newton, part.as_deref(), damping),
                        &particles,
                        curvature,
                        &mut times,
                        || {
                            // Forget the products of the kernel metric.
                            counted.as_ref().map(Counted::take)
                        },
                    )
                    .map_err(PerfError::part(&rig.id, "solve"))?;
                if let Some((products, factors)) = counted.as_ref().map(Counted::take) {
                    pieces.products = Some(products);
                    pieces.factors = Some(factors);
                }
            }
            _ => {}
        }
        let start = Instant::now();
        std::hint::black_box(effective_dimension(particles.view()));
        std::hint::black_box(
            kernel_stein_discrepancy(particles.view(), arrays.score.view(), d as f64)
                .map_err(PerfError::part(&rig.id, "diagnostics"))?,
        );
        times.diagnostics.push(elapsed_ms(start));
    }
    let median = |values: &[f64]| Spread::of(values).map(|spread| spread.median);
    Ok(Pieces {
        score_ms: median(&times.score).unwrap_or(0.0),
        kernel_ms: median(&times.kernel),
        solve_ms: median(&times.solve),
        diagnostics_ms: median(&times.diagnostics).unwrap_or(0.0),
        ..pieces
    })
}

impl Arrays {
    fn field(&mut self) {
        svgd_into(
            &self.gram,
            self.score.view(),
            1.0,
            self.repulsion.view_mut(),
            self.field.view_mut(),
        );
    }

    fn newton(
        &mut self,
        (newton, part, damping): (&Newton, Option<&[usize]>, f64),
        particles: &Array2<f64>,
        curvature: &dyn ParticleOperators,
        times: &mut Times,
        forget: impl FnOnce() -> Option<(usize, usize)>,
    ) -> Result<(), svn_models::stein::SteinError> {
        let start = Instant::now();
        let whole = part.is_none();
        let metric = whole.then_some(curvature);
        self.gram.update(&newton.kernel, particles.view(), metric)?;
        self.field();
        times.kernel.push(elapsed_ms(start));
        forget();
        let start = Instant::now();
        let mut solve = |kernel, field, out| {
            let (damping, ridge) = (damping, newton.ridge);
            SvnSystem::new(kernel, curvature, newton.coupling, damping, ridge)?.solve_into(
                field,
                newton.solver,
                &mut self.scratch,
                out,
            )
        };
        match part {
            None => solve(self.gram.view(), self.field.view(), self.alpha.view_mut())?,
            Some(indices) => {
                let transformed = self.gram.transformed().select(Axis(1), indices);
                let view = KernelView {
                    transformed: transformed.view(),
                    ..self.gram.view()
                };
                let field = self.field.select(Axis(1), indices);
                let mut out = Array2::zeros(field.dim());
                solve(view, field.view(), out.view_mut())?
            }
        };
        times.solve.push(elapsed_ms(start));
        Ok(())
    }
}

fn elapsed_ms(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
