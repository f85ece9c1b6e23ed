//! The list, its ranges, its texts, and the defaults of both networks.

use svn_curvature::Activation;
use svn_stein::{Bandwidth, Coupling, Kernel, Lift, Metric, Solver};

use super::*;
use crate::fit::LikelihoodKind;
use crate::posterior::{Context, CurvatureFamily, CurvaturePart, CurvatureRoot};
use crate::stein;
use crate::{BackendKind, Device};

const TABLE: Problem = Problem {
    network: NetworkKind::Mlp,
    rows: 300,
    features: 7,
    classes: None,
};
const IMAGES: Problem = Problem {
    network: NetworkKind::LeNet,
    rows: 400,
    features: 784,
    classes: Some(10),
};

const LARGE: Problem = Problem {
    rows: 20_000,
    ..TABLE
};

fn resolved(method: Method, problem: &Problem) -> Recipe {
    Recipe::default().resolve(method, problem).unwrap().recipe
}

#[test]
fn what_is_out_of_range_is_told_with_what_is_not() {
    for (name, text, expected) in [
        (
            "particles",
            "0",
            "particles is 0; expected a whole number, 1 to 1e9",
        ),
        (
            "hidden",
            "50,0",
            "hidden is 50,0; expected whole numbers, each 1 to 1e6",
        ),
        ("lr", "nan", "lr is nan; expected a positive finite number"),
        ("lr", "-1", "lr is -1; expected a positive finite number"),
        (
            "damping",
            "-1",
            "damping is -1; expected a finite number, 0 or more",
        ),
        (
            "averaging",
            "1.5",
            "averaging is 1.5; expected above 0 and at most 1",
        ),
        (
            "noise-floor",
            "8",
            "noise_floor is 8; expected above 0 and below 7",
        ),
        (
            "hessian",
            "fool",
            "hessian is fool; expected full, diag, kfac, ekfac",
        ),
        (
            "coupling",
            "",
            "coupling is ; expected exact, gram, block-repulsion, block-diagonal",
        ),
        (
            "bandwidth",
            "-1",
            "bandwidth is -1; expected median, 2d, a positive number, or one with the word medians",
        ),
        (
            "likelihood",
            "cauchy",
            "likelihood is cauchy; expected auto, gaussian, student-t, mixture, ordinal",
        ),
        (
            "degrees_of_freedom",
            "2",
            "degrees_of_freedom is 2; expected above 2 and at most 1e6",
        ),
        (
            "mixture_components",
            "0",
            "mixture_components is 0; expected a whole number, 1 to 100",
        ),
        (
            "rate",
            "1",
            "setting is rate; expected one of the settings of a recipe",
        ),
    ] {
        let found = Recipe::default().set(name, text).unwrap_err().to_string();
        assert_eq!(found, expected);
    }
    let wrong = Recipe {
        lr: Some(0.0),
        ..Recipe::default()
    };
    let found = wrong.validate().unwrap_err().to_string();
    assert_eq!(found, "lr is 0.0; expected a positive finite number");
    assert!(wrong.resolve(Method::Svgd, &TABLE).is_err());
}

/// Every setting of the list, from text and back from JSON and TOML.
#[test]
fn there_and_back() {
    let mut recipe = Recipe::default();
    for (name, text) in [
        ("epochs", "7"),
        ("patience", "0"),
        ("time_limit", "2.5"),
        ("select", "kfold"),
        ("lr", "1e-3"),
        ("newton_lr", "0.3"),
        ("batch-size", "16"),
        ("particles", "5"),
        ("hidden", "50,20"),
        ("activation", "tanh"),
        ("likelihood", "student-t"),
        ("degrees_of_freedom", "5"),
        ("mixture-components", "2"),
        ("noise", "homoscedastic"),
        ("noise_floor", "0.01"),
        ("prior_precision", "2"),
        ("hessian", "ekfac"),
        ("root", "sampled 3"),
        ("ll_mode", "pretrained"),
        ("coupling", "block-repulsion"),
        ("lift", "particle"),
        ("kernel", "imq"),
        ("metric", "diagonal"),
        ("bandwidth", "2d"),
        ("repulsion", "0.5"),
        ("context", "perturbed 0.5"),
        ("context_rows", "64"),
        ("solver", "cg 1e-8 200"),
        ("ridge", "1"),
        ("damping", "0"),
        ("trust_region", "0.1"),
        ("ring", "6"),
        ("curvature_rows", "8"),
        ("curvature_every", "4"),
        ("curvature_refresh", "20"),
        ("warmup", "30"),
        ("schedule", "constant"),
        ("averaging", "0.3"),
        ("binary", "softmax"),
        ("predictive", "laplace"),
        ("temperature", "true"),
        ("backend", "native"),
    ] {
        recipe.set(name, text).unwrap();
    }
    assert_eq!(recipe.hidden, Some(vec![50, 20]));
    assert_eq!(recipe.root, Some(CurvatureRoot::Sampled(3)));
    assert_eq!(recipe.bandwidth, Some(Bandwidth::Dimension));
    assert_eq!(recipe.backend, Some(BackendKind::Native));
    let text = serde_json::to_string(&recipe).unwrap();
    for part in [
        r#""bandwidth":"2d""#,
        r#""solver":"cg 1e-8 200""#,
        r#""root":"sampled 3""#,
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(serde_json::from_str::<Recipe>(&text).unwrap(), recipe);
    let fields = serde_json::to_value(&recipe).unwrap();
    assert_eq!(
        fields.as_object().unwrap().len(),
        Recipe::SETTINGS.len(),
        "each is set above"
    );
    // What is set goes first.
    assert_eq!(recipe.or(&resolved(Method::Svn, &TABLE)), recipe);
    assert_eq!(Recipe::default().or(&recipe), recipe);
    assert!(serde_json::from_str::<Recipe>(r#"{"rate": 1}"#).is_err());
}

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

#[test]
fn a_fit_has_the_settings_of_its_recipe() {
    let of = |method, problem: &Problem, recipe: Recipe| {
        let resolved = recipe.resolve(method, problem).unwrap();
        resolved.fit_settings(Device::Cpu, 3).unwrap()
    };
    let settings = of(Method::Svn, &TABLE, Recipe::default());
    let newton = settings.method.newton().unwrap();
    // 50 epochs of 19 batches; 0.1 nats for each of 300 rows.
    assert_eq!(newton.rate, stein::Rate::cosine(1.0, 950));
    assert_eq!(newton.trust_region, Some(30.0));
    assert_eq!(settings.curvature.ring, 6);
    settings.validate(300).unwrap();
    // The linear model takes no step.
    for method in Method::ALL
        .into_iter()
        .filter(|method| *method != Method::Linear)
    {
        let settings = of(method, &TABLE, Recipe::default());
        assert_eq!(settings.method.name(), method.name());
        settings.validate(300).unwrap();
    }
    // The same steps without a kernel, whatever is said of one.
    let kernel = Recipe {
        kernel: Some(Kernel::Imq),
        metric: Some(Metric::Diagonal),
        bandwidth: Some(Bandwidth::Dimension),
        coupling: Some(Coupling::Exact),
        ridge: Some(0.5),
        ..Recipe::default()
    };
    let apart = kernel.resolve(Method::NewtonEnsemble, &TABLE).unwrap();
    assert_eq!(apart.recipe, resolved(Method::NewtonEnsemble, &TABLE));
    let apart = apart.fit_settings(Device::Cpu, 3).unwrap();
    assert_eq!(
        apart.method,
        stein::Method::NewtonEnsemble(newton.clone().into())
    );
    assert_eq!(apart.curvature, settings.curvature);
    let none = Recipe {
        trust_region: Some(0.0),
        schedule: Some(Schedule::Constant),
        ..Recipe::default()
    };
    let settings = of(Method::Svn, &TABLE, none);
    let newton = settings.method.newton().unwrap();
    assert_eq!(
        (newton.trust_region, newton.rate),
        (None, stein::Rate::constant(1.0))
    );

    let noise = || Recipe {
        schedule: Some(Schedule::Noise),
        ..Recipe::default()
    };
    let settings = of(Method::NewtonEnsemble, &TABLE, noise());
    assert_eq!(
        (settings.minibatch_noise, settings.method.newton_rate()),
        (Some(0.01), Some(stein::Rate::constant(1.0)))
    );
    let settings = of(Method::LlSvn, &IMAGES, noise());
    assert_eq!(settings.minibatch_noise, Some(0.01));
    let first = settings.method.first_order().unwrap();
    assert!(matches!(
        first.rate.schedule,
        stein::Schedule::Cosine { .. }
    ));
    // Which has no curvature to measure it by.
    let settings = of(Method::Ensemble, &TABLE, noise());
    assert_eq!(settings, of(Method::Ensemble, &TABLE, Recipe::default()));

    let pretrained = Recipe {
        ll_mode: Some(LastLayerMode::Pretrained),
        ..Recipe::default()
    };
    let resolved = pretrained.resolve(Method::LlSvn, &IMAGES).unwrap();
    let first = resolved.fit_settings(Device::Cpu, 3).unwrap();
    let last = resolved.last_layer_settings(Device::Cpu, 3).unwrap();
    assert_eq!([first.method.name(), last.method.name()], ["svgd", "svn"]);
    assert_eq!(last.curvature.part, CurvaturePart::LastLayer);
}

#[test]
fn particles_are_lifted_one_by_one_in_blocks_alone() {
    let recipe = |coupling| Recipe {
        lift: Some(Lift::Particle),
        coupling: Some(coupling),
        ..Recipe::default()
    };
    let blocks = recipe(Coupling::BlockDiagonal)
        .resolve(Method::Svn, &TABLE)
        .unwrap();
    let settings = blocks.fit_settings(Device::Cpu, 0).unwrap();
    assert_eq!(settings.method.newton().unwrap().lift, Lift::Particle);
    let error = recipe(Coupling::Gram)
        .resolve(Method::Svn, &TABLE)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "lift is particle; expected kernel, or coupling = block-diagonal: in a joint system the kernel belongs to the step"
    );
    let apart = recipe(Coupling::Gram)
        .resolve(Method::NewtonEnsemble, &TABLE)
        .unwrap();
    assert_eq!(apart.recipe.lift, None);
}
