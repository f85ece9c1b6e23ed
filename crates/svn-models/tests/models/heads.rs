//! Student t and mixture density through the front door: all methods, outliers, two humps, density, model file.

use std::fs;

use ndarray::{Array1, Array2, Axis};
use svn_models::members::Family;
use svn_models::recipe::{Head, LastLayerMode, Method, Predictive, Recipe};
use svn_models::{Builder, Ensemble, Likelihood, Prediction, Task};

const HEADS: [Head; 2] = [Head::StudentT, Head::Mixture];

/// Numbers between 0 and 1 that look random.
fn scattered(i: usize, factor: f64) -> f64 {
    ((i as f64 * factor).sin() * 43_758.545_3).rem_euclid(1.0)
}

/// 1000 ± 30 along a sine, every fifteenth row off by up to 500.
fn outliers(rows: usize) -> (Array2<f64>, Array1<f64>) {
    let x = Array2::from_shape_fn((rows, 1), |(i, _)| 10.0 * scattered(i, 12.9898));
    let y = Array1::from_shape_fn(rows, |i| {
        let noise = scattered(i, 78.233) + scattered(i, 39.425) - 1.0;
        let off = if i % 15 == 7 { 1000.0 } else { 6.0 };
        1000.0 + 30.0 * x[[i, 0]].sin() + off * noise
    });
    (x, y)
}

/// 3 x or −3 x, as likely the one as the other, and noise of 0.4.
fn humps(rows: usize) -> (Array2<f64>, Array1<f64>) {
    let x = Array2::from_shape_fn((rows, 1), |(i, _)| 1.0 + scattered(i, 12.9898));
    let y = Array1::from_shape_fn(rows, |i| {
        let sign = if scattered(i, 78.233) < 0.5 {
            -3.0
        } else {
            3.0
        };
        sign * x[[i, 0]] + (scattered(i, 39.425) + scattered(i, 93.989) - 1.0)
    });
    (x, y)
}

fn builder<'o>(head: Head) -> Builder<'o> {
    let recipe = Recipe {
        likelihood: Some(head),
        batch_size: Some(16),
        damping: Some(30.0),
        ..Recipe::default()
    };
    Ensemble::builder()
        .recipe(&recipe)
        .epochs(30)
        .particles(3)
        .hidden(&[15, 10])
}

fn aside(ensemble: &Ensemble, (x, y): &(Array2<f64>, Array1<f64>)) -> (Prediction, Array1<f64>) {
    let rows = &ensemble.training().set_aside;
    let prediction = ensemble.predict(x.select(Axis(0), rows).view()).unwrap();
    (prediction, y.select(Axis(0), rows))
}

fn validation_loss(builder: Builder<'_>, data: &(Array2<f64>, Array1<f64>)) -> f64 {
    let ensemble = builder
        .fit(data.0.view(), data.1.view(), Task::Regression)
        .unwrap();
    let (prediction, y) = aside(&ensemble, data);
    prediction.negative_log_density(y.view()).unwrap()
}

/// Levels −2 to 4 that a feature decides, but for noise.
fn ratings(rows: usize) -> (Array2<f64>, Array1<f64>) {
    let x = Array2::from_shape_fn((rows, 2), |(i, j)| scattered(i, [12.9898, 4.1414][j]));
    let y = Array1::from_shape_fn(rows, |i| {
        let noise = scattered(i, 78.233) - 0.5;
        (5.0 * x[[i, 0]] - 1.0 + noise).round()
    });
    (x, y)
}

/// Without the features levels have a loss of about `ln 6 = 1.8`; they explain all but a fifth of the rows.
#[test]
fn whole_numbers_are_learned_as_levels_and_written_and_read() {
    let data = ratings(250);
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("model");
    for method in networks() {
        let ensemble = builder(Head::Ordinal)
            .method(method)
            .fit(data.0.view(), data.1.view(), Task::Regression)
            .unwrap();
        let (prediction, y) = aside(&ensemble, &data);
        let loss = prediction.negative_log_density(y.view()).unwrap();
        let told = ensemble.training().validation_nll;
        assert!((told - loss).abs() < 1e-9, "{method}: {told} {loss}");
        assert!(loss < 1.2, "{method}: {loss}");
        let Family::Ordinal(levels) = prediction.family() else {
            panic!("{method}: {:?}", prediction.family());
        };
        assert_eq!((levels.value(0), levels.step()), (-2.0, 1.0));
        let median = prediction.quantile(0.5).unwrap();
        assert!(median.iter().all(|y| y.fract() == 0.0), "{median}");
        ensemble.save(&place).unwrap();
        let read = Ensemble::load(&place).unwrap();
        let predicted = read.predict(data.0.view()).unwrap();
        assert_eq!(predicted, ensemble.predict(data.0.view()).unwrap());
        // Fewer levels in rows that came later are not other levels.
        let on = read
            .continue_fit(
                data.0.slice(ndarray::s![..40, ..]),
                data.1
                    .slice(ndarray::s![..40])
                    .mapv(|y| y.clamp(0.0, 2.0))
                    .view(),
            )
            .unwrap();
        let family = on.predict(data.0.view()).unwrap().family();
        assert_eq!(family, Family::Ordinal(levels));
    }
    let (x, y) = outliers(40);
    let refused = builder(Head::Ordinal).fit(x.view(), y.view(), Task::Regression);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("is no whole number"), "{refused}");
}

/// A Student t of the sine's standard deviation of 21, whatever the features, has a loss above `ln 21 + 1.4 = 4.5`.
#[test]
fn every_method_learns_under_every_head() {
    let data = outliers(200);
    for head in HEADS {
        for method in networks() {
            // A repulsion in function space needs an exact root.
            if head == Head::Mixture && method.is_of_functions() {
                continue;
            }
            let ensemble = builder(head)
                .method(method)
                .fit(data.0.view(), data.1.view(), Task::Regression)
                .unwrap();
            let (prediction, y) = aside(&ensemble, &data);
            let loss = prediction.negative_log_density(y.view()).unwrap();
            // The score of the epoch, in the units of the target.
            let told = ensemble.training().validation_nll;
            assert!(
                (told - loss).abs() < 1e-9,
                "{method} {head:?}: {told} {loss}"
            );
            // Three particles of ssvn are three draws.
            let most = if method == Method::Ssvn { 5.2 } else { 4.4 };
            assert!(loss < most, "{method} {head:?}: {loss}");
            for level in [0.01, 0.5, 0.99] {
                let quantile = prediction.quantile(level).unwrap();
                let back = prediction.cumulative(quantile.view()).unwrap();
                assert!(back.iter().all(|back| (back - level).abs() < 1e-10));
            }
        }
    }
}

#[test]
fn outliers_cost_a_student_t_less_than_a_gaussian() {
    let data = outliers(300);
    let [gaussian, heavy] =
        [Head::Gaussian, Head::StudentT].map(|head| validation_loss(builder(head), &data));
    assert!(heavy < gaussian - 0.1, "{heavy} {gaussian}");
}

/// Two humps of equal weight, 9 apart in the mean, under noise of 0.4: a mixture knows all but which, ln 2.
#[test]
fn two_humps_are_found_by_a_mixture_alone() {
    let data = humps(300);
    let [gaussian, mixture] =
        [Head::Gaussian, Head::Mixture].map(|head| validation_loss(builder(head), &data));
    assert!(mixture < gaussian - 0.6, "{mixture} {gaussian}");
}

#[test]
fn what_is_read_predicts_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("model");
    let (x, y) = outliers(60);
    let text = || fs::read_to_string(place.join("model.json")).unwrap();
    for head in HEADS {
        let written = builder(head).epochs(2).particles(2);
        let written = written.fit(x.view(), y.view(), Task::Regression).unwrap();
        written.save(&place).unwrap();
        let read = Ensemble::load(&place).unwrap();
        let predicted = written.predict(x.view()).unwrap();
        assert_eq!(read.predict(x.view()).unwrap(), predicted);
        assert_eq!(read.members().likelihood(), written.members().likelihood());
        assert_eq!(read.settings(), written.settings());
        assert!(text().contains("\"schema\": 2"));
        match head {
            Head::StudentT => {
                assert_eq!(predicted.family(), Family::StudentT { degrees: 4.0 });
            }
            _ => assert_eq!(predicted.components_per_member(), 3),
        }
        // On from what was read, by the same head.
        let on = read.continue_fit(x.view(), y.view()).unwrap();
        let kinds = [on, written].map(|ensemble| ensemble.members().likelihood());
        assert_eq!(kinds[0], kinds[1]);
    }
    // As programs of before write and read it.
    let gaussian = Ensemble::builder().epochs(1).particles(2).hidden(&[5]);
    let gaussian = gaussian.fit(x.view(), y.view(), Task::Regression).unwrap();
    gaussian.save(&place).unwrap();
    let text = text();
    assert!(text.contains("\"schema\": 1"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    for new in ["likelihood", "degrees_of_freedom", "mixture_components"] {
        assert!(json["recipe"].get(new).is_none(), "{new}");
    }
    assert_eq!(json["likelihood"]["kind"], "heteroscedastic");
    assert!(json["likelihood"]["floor"].is_number());
    assert!(json["likelihood"]["linear_from"].is_number());
}

#[test]
fn degrees_components_and_floor_are_those_of_the_settings() {
    let (x, y) = outliers(40);
    let fit = |head, name: &str, text: &str| {
        let mut recipe = Recipe {
            noise_floor: Some(0.5),
            ..Recipe::default()
        };
        recipe.set(name, text).unwrap();
        let builder = builder(head).recipe(&recipe).epochs(1).particles(2);
        builder.fit(x.view(), y.view(), Task::Regression).unwrap()
    };
    let heavy = fit(Head::StudentT, "degrees_of_freedom", "3");
    let prediction = heavy.predict(x.view()).unwrap();
    assert_eq!(prediction.family(), Family::StudentT { degrees: 3.0 });
    let sd = y.std(0.0);
    let least = (0.5 * sd).powi(2) * 0.7;
    let scales = |prediction: &Prediction| -> Vec<f64> {
        let rows = 0..prediction.rows();
        rows.flat_map(|row| prediction.components(row).map(|c| c.squared_scale))
            .collect()
    };
    // The training rows alone have another sd, by less than 30 % in the square.
    assert!(scales(&prediction).iter().all(|scale| *scale > least));
    let mixture = fit(Head::Mixture, "mixture_components", "2");
    let prediction = mixture.predict(x.view()).unwrap();
    assert_eq!(prediction.components_per_member(), 2);
    assert!(scales(&prediction).iter().all(|scale| *scale > least));
    let Likelihood::Mixture(head) = mixture.members().likelihood() else {
        panic!("{:?}", mixture.members().likelihood());
    };
    assert_eq!(head.components(), 2);
}

/// A last layer that is trained alone is scored by its own path to the outputs.
#[test]
fn a_pretrained_last_layer_has_the_same_heads() {
    let data = outliers(100);
    for head in HEADS {
        let recipe = Recipe {
            ll_mode: Some(LastLayerMode::Pretrained),
            ..Recipe::default()
        };
        let builder = builder(head).recipe(&recipe).epochs(3);
        let ensemble = builder
            .method(Method::LlSvn)
            .fit(data.0.view(), data.1.view(), Task::Regression)
            .unwrap();
        let (prediction, y) = aside(&ensemble, &data);
        let loss = prediction.negative_log_density(y.view()).unwrap();
        let told = ensemble.training().validation_nll;
        assert!((told - loss).abs() < 1e-9, "{head:?}: {told} {loss}");
    }
}

#[test]
fn laplace_variances_widen_a_student_t_and_are_refused_for_a_mixture() {
    let (x, y) = outliers(60);
    let fit = |head| {
        let recipe = Recipe {
            predictive: Some(Predictive::Laplace),
            ..Recipe::default()
        };
        let builder = builder(head).recipe(&recipe).epochs(2);
        builder.fit(x.view(), y.view(), Task::Regression)
    };
    let heavy = fit(Head::StudentT).unwrap();
    let prediction = heavy.predict(x.view()).unwrap();
    let laplace = prediction.laplace_variances().unwrap();
    assert!(laplace.iter().all(|v| *v > 0.0));
    // A share (ν − 2)/ν of it, the rest is in the tails.
    let component = prediction.components(0).next().unwrap();
    let variance = prediction.noise_variances()[[0, 0]] + laplace[[0, 0]];
    assert!((component.squared_scale / (0.5 * variance) - 1.0).abs() < 1e-12);
    let refused = fit(Head::Mixture).unwrap_err().to_string();
    assert!(refused.contains("have Laplace variances"), "{refused}");
}

/// Methods that train a network.
fn networks() -> impl Iterator<Item = Method> {
    Method::ALL
        .into_iter()
        .filter(|method| *method != Method::Linear)
}
