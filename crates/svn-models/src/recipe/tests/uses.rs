//! What a method or a likelihood uses is recorded, and nothing else.

use super::*;

#[test]
fn a_method_records_what_it_uses_and_nothing_else() {
    let ensemble = resolved(Method::Ensemble, &TABLE);
    assert_eq!(
        (ensemble.kernel, ensemble.hessian, ensemble.damping),
        (None, None, None)
    );
    assert_eq!((ensemble.lr, ensemble.newton_lr), (Some(0.03), None));
    let svn = resolved(Method::Svn, &TABLE);
    assert_eq!(
        (svn.lr, svn.newton_lr, svn.ring),
        (None, Some(1.0), Some(6))
    );
    assert_eq!(
        (svn.hessian, svn.root),
        (Some(CurvatureFamily::Full), Some(CurvatureRoot::Exact))
    );
    assert_eq!(
        (svn.coupling, svn.metric),
        (Some(Coupling::Gram), Some(Metric::Curvature))
    );
    assert_eq!((svn.binary, svn.temperature), (None, None));
    let ll_svn = resolved(Method::LlSvn, &TABLE);
    assert_eq!((ll_svn.lr, ll_svn.newton_lr), (Some(0.03), Some(1.0)));

    // What the kernel is between says what it has.
    let functions = resolved(Method::FunctionSvn, &TABLE);
    assert_eq!(
        (functions.metric, functions.coupling, functions.ridge),
        (None, None, None)
    );
    assert_eq!(functions.bandwidth, Some(Bandwidth::Medians(2.0)));
    assert_eq!(
        (functions.repulsion, functions.context),
        (Some(1.0), Some(Context::Training))
    );
    assert_eq!(
        (functions.batch_size, functions.ring),
        (svn.batch_size, svn.ring)
    );
    assert_eq!(svn.repulsion.or(ensemble.repulsion), None);
    let first_order = resolved(Method::FunctionWgd, &TABLE);
    assert_eq!((first_order.hessian, first_order.damping), (None, None));

    // What SVN has, but for what is the kernel's.
    for problem in [&TABLE, &IMAGES, &LARGE] {
        let svn = resolved(Method::Svn, problem);
        let apart = Recipe {
            coupling: None,
            kernel: None,
            metric: None,
            bandwidth: None,
            ..svn.clone()
        };
        assert_eq!(resolved(Method::NewtonEnsemble, problem), apart);
        assert!(svn.kernel.is_some() && svn.metric.is_some() && svn.bandwidth.is_some());
    }

    let ensemble = resolved(Method::Ensemble, &IMAGES);
    assert_eq!(
        (ensemble.newton_lr, ensemble.ll_mode, ensemble.root),
        (None, None, None)
    );
    assert_eq!(
        (ensemble.lr, ensemble.batch_size, ensemble.epochs),
        (Some(0.004), Some(32), Some(50))
    );
    assert_eq!((ensemble.hidden, ensemble.noise), (None, None));
    let svn = resolved(Method::Svn, &IMAGES);
    assert_eq!((svn.lr, svn.newton_lr), (None, Some(0.3)));
    assert_eq!(
        (svn.hessian, svn.root),
        (Some(CurvatureFamily::Diag), Some(CurvatureRoot::Sampled(1)))
    );
    assert_eq!(
        (svn.coupling, svn.solver),
        (Some(Coupling::BlockDiagonal), Some(Solver::Auto))
    );
    let ll_svn = resolved(Method::LlSvn, &IMAGES);
    assert_eq!((ll_svn.lr, ll_svn.newton_lr), (Some(0.004), Some(0.3)));
    assert_eq!(
        (ll_svn.hessian, ll_svn.metric),
        (Some(CurvatureFamily::Kfac), Some(Metric::Identity))
    );
    assert_eq!(ll_svn.ll_mode, Some(LastLayerMode::Joint));
    let svgd = resolved(Method::Svgd, &IMAGES);
    assert_eq!(
        (svgd.kernel, svgd.hessian, svgd.root),
        (Some(Kernel::Rbf), None, None)
    );
}

#[test]
fn a_likelihood_records_what_it_uses_and_nothing_else() {
    let of = |text: &str, problem: &Problem, method| {
        let mut recipe = Recipe {
            noise: Some(Noise::Homoscedastic),
            noise_floor: Some(0.01),
            degrees_of_freedom: Some(3.0),
            mixture_components: Some(5),
            ..Recipe::default()
        };
        recipe.set("likelihood", text).unwrap();
        recipe.resolve(method, problem).unwrap()
    };
    let gaussian = of("gaussian", &TABLE, Method::Svn);
    assert_eq!(gaussian.likelihood(), LikelihoodKind::Gaussian);
    let recipe = gaussian.recipe;
    assert_eq!(
        (recipe.degrees_of_freedom, recipe.mixture_components),
        (None, None)
    );
    assert_eq!(recipe.likelihood, Some(Head::Gaussian));
    assert_eq!(recipe.noise_floor, None, "of heteroscedastic noise alone");
    // What is still to be chosen keeps what was said of any, and fills in nothing that hangs on the choice.
    let open = of("auto", &TABLE, Method::Svn);
    let settings = open.fit_settings(crate::Device::Cpu, 0).unwrap();
    assert_eq!(settings.likelihood, LikelihoodKind::Gaussian);
    let recipe = open.recipe;
    assert_eq!(recipe.likelihood, Some(Head::Auto));
    assert_eq!(
        (recipe.degrees_of_freedom, recipe.mixture_components),
        (Some(3.0), Some(5))
    );
    assert_eq!((recipe.noise_floor, recipe.damping), (Some(0.01), None));
    assert_eq!((recipe.batch_size, recipe.root), (None, None));
    let again = Recipe {
        likelihood: Some(Head::Mixture),
        ..recipe
    };
    let mixture = of("mixture", &TABLE, Method::Svn);
    assert_eq!(again.resolve(Method::Svn, &TABLE).unwrap(), mixture);
    let linear = of("auto", &TABLE, Method::Linear);
    assert_eq!(linear.recipe.likelihood, None);
    let student_t = of("student-t", &TABLE, Method::Svn);
    assert_eq!(student_t.likelihood(), LikelihoodKind::StudentT(3.0));
    let recipe = student_t.recipe;
    assert_eq!(
        (
            recipe.noise,
            recipe.degrees_of_freedom,
            recipe.mixture_components
        ),
        (None, Some(3.0), None)
    );
    assert_eq!(recipe.noise_floor, Some(0.01));
    assert_eq!(recipe.root, Some(CurvatureRoot::Exact));
    let mixture = of("mixture", &TABLE, Method::Svn);
    assert_eq!(mixture.likelihood(), LikelihoodKind::Mixture(5));
    let recipe = mixture.recipe;
    assert_eq!((recipe.noise, recipe.degrees_of_freedom), (None, None));
    assert_eq!(recipe.root, Some(CurvatureRoot::Sampled(1)));
    assert_eq!(of("mixture", &TABLE, Method::Ensemble).recipe.root, None);
    let ordinal = of("ordinal", &TABLE, Method::Svn);
    assert_eq!(ordinal.likelihood(), LikelihoodKind::Ordinal);
    let (degrees, components) = (
        ordinal.recipe.degrees_of_freedom,
        ordinal.recipe.mixture_components,
    );
    assert_eq!(
        (ordinal.recipe.noise, degrees, components),
        (None, None, None)
    );
    // Classes have none of them.
    let classes = Problem {
        classes: Some(3),
        ..TABLE
    };
    let classes = of("mixture", &classes, Method::Svn).recipe;
    assert_eq!(
        (classes.likelihood, classes.mixture_components),
        (None, None)
    );

    let resolved = Recipe {
        likelihood: Some(Head::StudentT),
        ..Recipe::default()
    };
    let kind = resolved.resolve(Method::Svn, &TABLE).unwrap().likelihood();
    assert_eq!(kind, LikelihoodKind::StudentT(4.0));
}

#[test]
fn a_mixture_density_has_neither_exact_roots_nor_laplace_variances() {
    let of = |name: &str, text: &str| {
        let mut recipe = Recipe {
            likelihood: Some(Head::Mixture),
            ..Recipe::default()
        };
        recipe.set(name, text).unwrap();
        let found = recipe.resolve(Method::Svn, &TABLE);
        found.map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(
        of("root", "exact").unwrap_err(),
        "root of the curvature is exact; expected `sampled`: a mixture density has no exact root"
    );
    for kind in ["laplace", "epistemic"] {
        assert_eq!(
            of("predictive", kind).unwrap_err(),
            "predictive is laplace or epistemic; expected moments: neither a mixture density nor levels have Laplace variances"
        );
    }
    assert_eq!(of("root", "sampled 2"), Ok(()));
    assert_eq!(of("predictive", "moments"), Ok(()));
}
