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

/// A trust region of so many nats for all rows, and curvature that is kept for ten steps.
#[test]
fn a_diagonal_has_defaults_of_its_own() {
    let given = Recipe {
        hessian: Some(CurvatureFamily::Diag),
        ..Recipe::default()
    };
    let of = |method, problem: &Problem| {
        let recipe = given.resolve(method, problem).unwrap().recipe;
        (
            recipe.batch_size,
            recipe.trust_region,
            recipe.curvature_every,
        )
    };
    for (rows, batch, nats) in [(200, 32, 20.0), (5000, 64, 20.0), (40_000, 64, 40.0)] {
        let problem = Problem { rows, ..TABLE };
        let expected = (Some(batch), Some(nats / rows as f64), Some(10));
        assert_eq!(of(Method::Svn, &problem), expected);
        assert_eq!(of(Method::NewtonEnsemble, &problem), expected);
    }
    // A repulsion of functions needs the curvature of its rows, classes and a last layer were not measured.
    assert_eq!(of(Method::FunctionSvn, &TABLE).2, None);
    let classes = Problem {
        classes: Some(3),
        ..TABLE
    };
    assert_eq!(of(Method::Svn, &classes).2, None);
    assert_eq!(of(Method::LlSvn, &TABLE).2, None);
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
    let large = Recipe {
        batch_size: Some(301),
        ..Recipe::default()
    };
    assert_eq!(
        large.resolve(Method::Svn, &TABLE).unwrap_err().to_string(),
        "batch_size is 301; expected at most the 300 training rows"
    );
}
