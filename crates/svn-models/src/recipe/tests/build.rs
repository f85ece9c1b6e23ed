//! From a recipe to the settings of a fit.

use super::*;

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
