//! Settings as texts: their ranges, there and back.

use super::*;

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
        ("layer_precisions", "1,0.5,4"),
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
        ("momentum", "0.8"),
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
