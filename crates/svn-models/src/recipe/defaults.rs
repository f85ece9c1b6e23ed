//! What is left out of a recipe filled in, and what its method does not use left out.

use svn_stein::{Bandwidth, Coupling, FunctionRepulsion, Kernel, Lift, Metric, Solver};

use super::networks::{Averaged, averages, lenet, perceptron};
use super::{
    Binary, Head, LastLayerMode, Method, NetworkKind, Noise, Predictive, Problem, Recipe, Resolved,
};
use super::{Schedule, Selection, selection::check as check_selection};
use crate::ModelError;
use crate::likelihood::{MixtureDensity, StudentT, no_exact_root, no_laplace_variances};
use crate::linear::PENALTY;
use crate::posterior::{ContextSettings, CurvatureFamily, CurvatureRoot};

impl Recipe {
    /// Fill in what is left out, and leave out what the method does not use.
    ///
    /// # Errors
    /// [`ModelError::Setting`] for a setting out of its range, a batch of more rows than there are, particles lifted one by one out of a joint
    /// system, what a likelihood does not have: a mixture density no exact root of the curvature, neither it nor levels Laplace variances; or what does
    /// not go with the way to select.
    pub fn resolve(&self, method: Method, problem: &Problem) -> Result<Resolved, ModelError> {
        self.validate()?;
        let mut recipe = self.filled(method, problem);
        if self.likelihood == Some(Head::Auto)
            && problem.classes.is_none()
            && method != Method::Linear
        {
            recipe = self.undecided(recipe);
        }
        check_head(&recipe)?;
        check_selection(&recipe)?;
        if recipe.lift == Some(Lift::Particle) && recipe.coupling != Some(Coupling::BlockDiagonal) {
            let expected = "kernel, or coupling = block-diagonal: in a joint system the kernel belongs to the step";
            return Err(ModelError::setting("lift", "particle", expected));
        }
        match recipe.batch_size {
            Some(size) if size > problem.rows => Err(ModelError::setting(
                "batch_size",
                size,
                &format!("at most the {} training rows", problem.rows),
            )),
            _ => Ok(Resolved {
                method,
                problem: problem.clone(),
                recipe,
            }),
        }
    }

    /// The same for a method: one step size can only be meant for the one kind of step that a method takes. To be asked before
    /// settings of different origin are put together.
    #[must_use]
    pub fn meant_for(&self, method: Method) -> Self {
        let mut recipe = self.clone();
        if !method.is_first_order() {
            recipe.newton_lr = recipe.newton_lr.or(recipe.lr.take());
        }
        recipe
    }

    /// Whether the default of the trust region is so many nats for all training rows together, as of Newton steps by curvature that is an average over batches,
    /// and not so many a row.
    pub fn bounds_all_rows(&self, method: Method, problem: &Problem) -> bool {
        Averaged::new(method, problem, self.likelihood, self.hessian).is_some()
    }

    /// Of ridge or logistic regression: a penalty, and what makes a density of the output.
    fn linear(&self, problem: &Problem) -> Self {
        Self {
            epochs: Some(1),
            select: self.select.filter(|&by| by == Selection::Kfold),
            batch_size: Some(problem.rows.max(1)),
            particles: Some(1),
            hidden: Some(Vec::new()),
            noise: Some(Noise::Homoscedastic).filter(|_| problem.classes.is_none()),
            prior_precision: self.prior_precision.or(Some(PENALTY)),
            binary: Some(Binary::Bernoulli).filter(|_| problem.classes == Some(2)),
            predictive: self.predictive,
            temperature: self.temperature.filter(|_| problem.classes.is_some()),
            ..Self::default()
        }
    }

    /// Filled in but for the likelihood and what depends on it.
    fn undecided(&self, filled: Self) -> Self {
        Self {
            likelihood: Some(Head::Auto),
            degrees_of_freedom: self.degrees_of_freedom,
            mixture_components: self.mixture_components,
            noise: self.noise,
            noise_floor: self.noise_floor,
            batch_size: self.batch_size,
            prior_precision: self.prior_precision,
            root: self.root,
            damping: self.damping.and(filled.damping),
            trust_region: self.trust_region.and(filled.trust_region),
            ring: self.ring.and(filled.ring),
            ..filled
        }
    }

    fn filled(&self, method: Method, problem: &Problem) -> Self {
        if method == Method::Linear {
            return self.linear(problem);
        }
        let given = self.meant_for(method);
        let numbers = problem.classes.is_none();
        let likelihood = given
            .likelihood
            .filter(|kind| numbers && *kind != Head::Auto);
        let gaussian = matches!(likelihood, None | Some(Head::Gaussian));
        let is_convolutional = problem.network.is_convolutional();
        let default = if is_convolutional {
            lenet(method, problem.rows, given.activation)
        } else {
            perceptron(method, problem, likelihood, &given)
        };
        let batch_size = given.batch_size.unwrap_or(default.batch_size);
        let averages = averages(method, problem, batch_size);
        let has_own_layers = matches!(problem.network, NetworkKind::Layers(_));
        let (newton, first_order) = (method.is_newton(), method.is_first_order());
        let warmup = given.warmup.filter(|&epochs| epochs > 0 && newton);
        let classes = problem.classes.is_some();
        let has_kernel = method.has_kernel();
        let metric = match method {
            Method::Svn | Method::Ssvn => Metric::Curvature,
            _ => Metric::Identity,
        };
        let functions = method.is_of_functions();
        let between_weights = has_kernel && !functions;
        let metric = given.metric.or(Some(metric)).filter(|_| between_weights);
        // Kept where the method or its kernel asks for curvature.
        let curved = newton || metric.is_some_and(Metric::needs_curvature);
        let hessian = given.hessian.or(Some(default.hessian)).filter(|_| curved);
        let root = match hessian {
            _ if likelihood == Some(Head::Mixture) => CurvatureRoot::Sampled(1),
            Some(CurvatureFamily::Full) => CurvatureRoot::Exact,
            _ if !is_convolutional => CurvatureRoot::Exact,
            _ => CurvatureRoot::Sampled(1),
        };
        // Which chooses what is not given.
        let by_evidence = given.select.is_some_and(Selection::is_evidence);
        // Of networks for images the layers below are an ensemble's, see `docs/experiments/vision.md`.
        let kernel = match method {
            Method::LlSvn if is_convolutional => Kernel::Delta,
            _ => Kernel::Rbf,
        };
        let heteroscedastic = !gaussian || given.noise != Some(Noise::Homoscedastic);
        Self {
            epochs: given.epochs.or(Some(default.epochs)),
            patience: given.patience.filter(|&epochs| epochs > 0),
            time_limit: given.time_limit,
            select: given.select.filter(|&by| by != Selection::Validation),
            lr: given
                .lr
                .or(Some(default.lr))
                .filter(|_| first_order || warmup.is_some()),
            newton_lr: given
                .newton_lr
                .or(Some(default.newton_lr))
                .filter(|_| newton),
            batch_size: given
                .batch_size
                .or(Some(default.batch_size.min(problem.rows.max(1)))),
            particles: given.particles.or(Some(5)),
            hidden: given
                .hidden
                .or_else(|| Some(vec![50, 50]))
                .filter(|_| problem.network == NetworkKind::Mlp),
            activation: given
                .activation
                .or(Some(default.activation))
                .filter(|_| !has_own_layers),
            likelihood,
            degrees_of_freedom: given
                .degrees_of_freedom
                .or(Some(StudentT::DEGREES))
                .filter(|_| likelihood == Some(Head::StudentT)),
            mixture_components: given
                .mixture_components
                .or(Some(MixtureDensity::COMPONENTS))
                .filter(|_| likelihood == Some(Head::Mixture)),
            noise: given
                .noise
                .or(Some(Noise::Heteroscedastic))
                .filter(|_| !classes && gaussian),
            noise_floor: given.noise_floor.filter(|_| !classes && heteroscedastic),
            prior_precision: given
                .prior_precision
                .or(Some(default.prior_precision).filter(|_| !by_evidence)),
            layer_precisions: given.layer_precisions,
            hessian,
            root: given.root.or(Some(root)).filter(|_| curved),
            ll_mode: given
                .ll_mode
                .or(Some(LastLayerMode::Joint))
                .filter(|_| method == Method::LlSvn),
            coupling: given
                .coupling
                .or(Some(default.coupling))
                .filter(|_| newton && between_weights),
            lift: given
                .lift
                .filter(|&lift| newton && between_weights && lift != Lift::Kernel),
            kernel: given.kernel.or(Some(kernel)).filter(|_| has_kernel),
            metric,
            bandwidth: given
                .bandwidth
                .or(Some(match functions {
                    true => FunctionRepulsion::default().bandwidth,
                    false => Bandwidth::Median,
                }))
                .filter(|_| has_kernel),
            repulsion: given
                .repulsion
                .or(Some(FunctionRepulsion::default().strength))
                .filter(|_| functions),
            context: given
                .context
                .or(Some(ContextSettings::default().kind))
                .filter(|_| functions),
            context_rows: given
                .context_rows
                .or(Some(ContextSettings::default().rows))
                .filter(|_| functions),
            solver: given.solver.or(Some(Solver::Auto)).filter(|_| newton),
            ridge: given.ridge.filter(|_| newton && between_weights),
            damping: given.damping.or(Some(default.damping)).filter(|_| newton),
            trust_region: given
                .trust_region
                .or(Some(default.trust_region))
                .filter(|_| newton),
            // A zero is kept only where the default is another.
            momentum: given
                .momentum
                .or(default.momentum)
                .filter(|&beta| averages && (beta > 0.0 || default.momentum.is_some())),
            ring: given.ring.or(Some(default.ring)).filter(|_| curved),
            curvature_rows: given.curvature_rows.filter(|_| curved),
            // A repulsion in function space asks for rows whose curvature the step has.
            curvature_every: given
                .curvature_every
                .or(default.curvature_every)
                .filter(|_| curved && method != Method::FunctionSvn),
            curvature_refresh: given
                .curvature_refresh
                .or(default.curvature_refresh)
                .filter(|_| curved),
            warmup,
            // Whose noise is measured by their curvature.
            schedule: given
                .schedule
                .filter(|&schedule| newton || schedule != Schedule::Noise),
            averaging: given.averaging,
            binary: given
                .binary
                .or(Some(Binary::Bernoulli))
                .filter(|_| problem.classes == Some(2)),
            predictive: given
                .predictive
                .filter(|kind| !classes || matches!(kind, Predictive::Laplace | Predictive::Fill)),
            temperature: given.temperature.filter(|_| classes),
            backend: given.backend,
        }
    }
}

/// What a mixture density or levels do not have.
fn check_head(recipe: &Recipe) -> Result<(), ModelError> {
    let laplace = matches!(
        recipe.predictive,
        Some(Predictive::Laplace | Predictive::Epistemic | Predictive::Fill)
    );
    match recipe.likelihood {
        Some(head) if head != Head::Gaussian && recipe.predictive == Some(Predictive::StudentT) => {
            let expected = match head {
                Head::Auto => "moments, or likelihood = gaussian",
                _ => "moments, or likelihood = gaussian: others have tails of their own",
            };
            Err(ModelError::setting("predictive", "student-t", expected))
        }
        Some(Head::Mixture) if recipe.root == Some(CurvatureRoot::Exact) => Err(no_exact_root()),
        Some(Head::Mixture | Head::Ordinal) if laplace => Err(no_laplace_variances()),
        _ => Ok(()),
    }
}
