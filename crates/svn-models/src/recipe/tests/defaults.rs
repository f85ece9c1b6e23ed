//! Defaults, and what goes before them.

use super::*;

/// What the likelihood is does not change the steps but of a mixture density, and first-order ones of none.
#[test]
fn a_mixture_density_has_newton_steps_of_its_own() {
    let of = |likelihood, method, problem: &Problem| {
        let given = Recipe {
            likelihood: Some(likelihood),
            ..Recipe::default()
        };
        let recipe = given.resolve(method, problem).unwrap().recipe;
        let steps = (recipe.batch_size, recipe.ring, recipe.damping);
        (steps, recipe.trust_region, recipe.prior_precision)
    };
    let some = Problem { rows: 800, ..TABLE };
    let gaussian = of(Head::Gaussian, Method::Svn, &some);
    for head in [Head::StudentT, Head::Ordinal] {
        assert_eq!(of(head, Method::Svn, &some), gaussian, "{head:?}");
    }
    let mixture = of(Head::Mixture, Method::Svn, &some);
    let steps = (Some(32), Some(8), Some(100.0));
    assert_eq!(mixture, (steps, Some(0.03), Some(0.3)));
    for problem in [&TABLE, &some, &LARGE] {
        let first_order = [Head::Gaussian, Head::Mixture].map(|head| {
            let (steps, _, prior) = of(head, Method::Ensemble, problem);
            (steps, prior)
        });
        assert_eq!(first_order[0], first_order[1]);
    }
}

#[test]
fn a_step_size_is_that_of_newton_steps_where_there_are_no_others() {
    let rates = |method, lr, newton_lr| {
        let given = Recipe {
            lr,
            newton_lr,
            ..Recipe::default()
        };
        let recipe = given.resolve(method, &IMAGES).unwrap().recipe;
        (recipe.lr, recipe.newton_lr)
    };
    for method in [Method::NewtonEnsemble, Method::Svn, Method::Ssvn] {
        assert_eq!(rates(method, Some(0.1), None), (None, Some(0.1)));
        assert_eq!(rates(method, Some(0.1), Some(0.2)), (None, Some(0.2)));
    }
    assert_eq!(
        rates(Method::LlSvn, Some(0.1), None),
        (Some(0.1), Some(0.3))
    );
    assert_eq!(rates(Method::Svgd, Some(0.1), Some(0.2)), (Some(0.1), None));
}

/// A trust region of so many nats for all rows, and curvature that is kept for some steps.
#[test]
fn curvature_that_is_an_average_has_defaults_of_its_own() {
    let of = |family, method, problem: &Problem| {
        let given = Recipe {
            hessian: Some(family),
            ..Recipe::default()
        };
        let recipe = given.resolve(method, problem).unwrap().recipe;
        let curvature = (recipe.curvature_every, recipe.curvature_refresh);
        (recipe.batch_size, recipe.trust_region, curvature)
    };
    use CurvatureFamily::{Diag, Ekfac, Kfac};
    for (family, rows, batch, nats, curvature) in [
        (Diag, 200, 32, 20.0, (Some(10), None)),
        (Diag, 5000, 64, 20.0, (Some(10), None)),
        (Diag, 40_000, 64, 40.0, (Some(10), None)),
        (Ekfac, 200, 32, 20.0 / 9.0, (Some(4), Some(100))),
        (Ekfac, 5000, 128, 20.0, (Some(10), Some(200))),
        (Ekfac, 40_000, 128, 40.0, (Some(10), Some(200))),
    ] {
        let problem = Problem { rows, ..TABLE };
        for method in [Method::Svn, Method::NewtonEnsemble] {
            let (found, bound, kept) = of(family, method, &problem);
            assert_eq!((found, kept), (Some(batch), curvature));
            let ratio = bound.unwrap() * rows as f64 / nats;
            assert!((ratio - 1.0).abs() < 1e-14, "{family} {rows}: {ratio}");
        }
    }
    // A repulsion of functions needs the curvature of its rows; classes, a last layer and other families were not measured.
    assert_eq!(of(Diag, Method::FunctionSvn, &TABLE).2, (None, None));
    assert_eq!(of(Ekfac, Method::FunctionSvn, &TABLE).2, (None, None));
    let classes = Problem {
        classes: Some(3),
        ..TABLE
    };
    for family in [Diag, Ekfac] {
        assert_eq!(of(family, Method::Svn, &classes).2, (None, None));
        assert_eq!(of(family, Method::LlSvn, &TABLE).2, (None, None));
    }
    assert_eq!(of(Kfac, Method::Svn, &TABLE).2, (None, None));
}

/// What it leaves of the noise of batches, `(1 − β)/(1 + β)`, is what the steps that are bounded by noise may have in nats.
#[test]
fn momentum_narrows_the_trust_region_of_noisy_steps() {
    let of = |method, hessian, momentum| {
        let given = Recipe {
            hessian: Some(hessian),
            momentum,
            ..Recipe::default()
        };
        let recipe = given.resolve(method, &TABLE).unwrap().recipe;
        (recipe.momentum, recipe.trust_region)
    };
    use CurvatureFamily::{Diag, Ekfac, Full};
    let nats = |beta: f64| Some(20.0 * (1.0 - beta) / (1.0 + beta) / TABLE.rows as f64);
    let close = |found: (_, Option<f64>), momentum, bound: Option<f64>| {
        assert_eq!(found.0, momentum);
        let ratio = found.1.unwrap() / bound.unwrap();
        assert!((ratio - 1.0).abs() < 1e-14, "{ratio}");
    };
    let apart = Method::NewtonEnsemble;
    close(of(apart, Diag, None), None, nats(0.0));
    close(of(apart, Diag, Some(0.5)), Some(0.5), nats(0.5));
    close(of(apart, Ekfac, None), Some(0.8), nats(0.8));
    close(of(apart, Ekfac, Some(0.5)), Some(0.5), nats(0.5));
    // Written down, or a resolved recipe would have some.
    close(of(apart, Ekfac, Some(0.0)), Some(0.0), nats(0.0));
    // All rows in a batch have no noise to average.
    let whole = Recipe {
        batch_size: Some(TABLE.rows),
        hessian: Some(Ekfac),
        momentum: Some(0.5),
        ..Recipe::default()
    };
    let whole = whole.resolve(apart, &TABLE).unwrap().recipe;
    close((whole.momentum, whole.trust_region), None, nats(0.0));
    // Steps with the full curvature are of another size for other reasons, and ssvn and first-order methods have none.
    let full = of(Method::Svn, Full, Some(0.0));
    assert_eq!(of(Method::Svn, Full, Some(0.5)), (Some(0.5), full.1));
    assert_eq!(full.0, None);
    close(of(Method::Ssvn, Ekfac, Some(0.5)), None, nats(0.0));
    assert_eq!(of(Method::Ensemble, Ekfac, Some(0.5)), (None, None));
}

#[test]
fn what_is_given_goes_first_and_a_resolved_recipe_stays() {
    let given = Recipe {
        hessian: Some(CurvatureFamily::Full),
        batch_size: Some(7),
        activation: Some(Activation::Relu),
        patience: Some(0),
        ..Recipe::default()
    };
    let many = Problem {
        rows: 48_000,
        ..IMAGES
    };
    let recipe = given.resolve(Method::LlSvn, &many).unwrap().recipe;
    assert_eq!(
        (recipe.batch_size, recipe.epochs, recipe.lr),
        (Some(7), Some(20), Some(0.001))
    );
    assert_eq!(
        (recipe.root, recipe.patience),
        (Some(CurvatureRoot::Exact), None)
    );
    for method in Method::ALL {
        let once = resolved(method, &TABLE);
        assert_eq!(
            once.resolve(method, &TABLE).unwrap().recipe,
            once,
            "{method}"
        );
    }
    let few = Problem { rows: 20, ..TABLE };
    for hessian in [CurvatureFamily::Diag, CurvatureFamily::Ekfac] {
        for momentum in [None, Some(0.0), Some(0.5)] {
            for problem in [&TABLE, &few, &LARGE] {
                let given = Recipe {
                    hessian: Some(hessian),
                    momentum,
                    ..Recipe::default()
                };
                let once = given.resolve(Method::Svn, problem).unwrap().recipe;
                let twice = once.resolve(Method::Svn, problem).unwrap().recipe;
                assert_eq!(once, twice, "{hessian} {momentum:?} {}", problem.rows);
            }
        }
    }
    let large = Recipe {
        batch_size: Some(301),
        ..Recipe::default()
    };
    assert_eq!(
        large.resolve(Method::Svn, &TABLE).unwrap_err().to_string(),
        "batch_size is 301; expected at most the 300 training rows"
    );
}
