//! Densities, distributions and quantiles of the families against golden values.

use approx::assert_relative_eq;
use rand::SeedableRng;
use rand::rngs::ChaCha12Rng;

use super::{Component, Family};

/// `ν`, `z`, log density and distribution, of `tests/models/golden/heads.py`.
const GOLDEN: [(f64, f64, f64, f64); 24] = [
    (2.5, -30.0, -11.322176020542992, 0.0001455323545786977),
    (2.5, -2.0, -2.6887846222584635, 0.078695747878983),
    (2.5, -0.5, -1.1834324081180185, 0.32884895993485735),
    (2.5, 0.001, -1.01664029346031, 0.5003618086396076),
    (2.5, 1.5, -2.139883894262141, 0.8760817734568519),
    (2.5, 12.0, -8.140425312480643, 0.9985818924849609),
    (4.0, -30.0, -14.532166751192442, 3.6764280488306612e-06),
    (4.0, -2.0, -2.7136972044115897, 0.058058261758407795),
    (4.0, -0.5, -1.1323908075528133, 0.32166498159093165),
    (4.0, 0.001, -0.9808298780116481, 0.5003749999218751),
    (4.0, 1.5, -2.096547009582775, 0.896),
    (4.0, 12.0, -10.008124034622288, 0.9998617857257485),
    (7.3, -30.0, -20.966865341346853, 3.2444026595639794e-09),
    (7.3, -2.0, -2.766333054949107, 0.041970519667051606),
    (7.3, -0.5, -1.0928241307510562, 0.3158967634022208),
    (7.3, 0.001, -0.9530808565518284, 0.5003855515094878),
    (7.3, 1.5, -2.0680475343626346, 0.912218453598457),
    (7.3, 12.0, -13.53334991951457, 0.9999977221073852),
    (100.0, -30.0, -117.20198568774231, 4.190166279344146e-52),
    (100.0, -2.0, -2.90208450578371, 0.02410608936556684),
    (100.0, -0.5, -1.047530941571658, 0.3090867829154433),
    (100.0, 0.001, -0.921438996543002, 0.5003979461199483),
    (100.0, 1.5, -2.0450942427514023, 0.9316174709376556),
    (100.0, 12.0, -45.96733947645109, 1.0),
];

/// Where the standard one has `z`.
const MOVED: Component = Component {
    log_weight: 0.0,
    location: 3.0,
    squared_scale: 4.0,
};

#[test]
fn density_and_distribution_of_a_student_t_are_the_golden_ones() {
    for (degrees, z, log_density, below) in GOLDEN {
        let family = Family::StudentT { degrees };
        let y = 3.0 + 2.0 * z;
        let found = family.log_density(&MOVED, y);
        assert_relative_eq!(found, log_density - 2f64.ln(), max_relative = 1e-12);
        let (found, density) = family.cumulative_and_density(&MOVED, y);
        // A factor of a distribution that takes `ν ln x` of its argument.
        assert_relative_eq!(found, below, max_relative = 1e-11);
        assert_relative_eq!(density, 0.5 * log_density.exp(), max_relative = 1e-11);
        assert_relative_eq!(family.upper_tail(-z), below, max_relative = 1e-11);
    }
    let family = Family::StudentT { degrees: 4.0 };
    assert!(family.upper_tail(f64::NAN).is_nan());
    assert_eq!(family.upper_tail(f64::INFINITY), 0.0);
    assert_eq!(family.upper_tail(f64::NEG_INFINITY), 1.0);
    assert_eq!(family.upper_tail(0.0), 0.5);
}

#[test]
fn standard_quantiles_are_the_golden_ones() {
    for (degrees, level, expected) in [
        (4.0, 0.95, 2.13184678632665),
        (4.0, 0.975, 2.776445105197794),
        (3.0, 0.999, 10.214531852407386),
        (4.0, 1e-12, -1316.0727465592565),
    ] {
        let found = Family::StudentT { degrees }.standard_quantile(level);
        assert_relative_eq!(found, expected, max_relative = 1e-11);
    }
    let found = Family::Gaussian.standard_quantile(0.975);
    assert_relative_eq!(found, 1.959963984540054, max_relative = 1e-14);
    let middle = Family::StudentT { degrees: 4.0 }.standard_quantile(0.5);
    assert!(middle.abs() < 1e-15, "{middle}");
}

/// 100 000 draws; a share of `½ %` has a standard error of `0.02 %`.
#[test]
fn draws_of_a_student_t_have_its_tails() {
    let family = Family::StudentT { degrees: 4.0 };
    let mut rng = ChaCha12Rng::seed_from_u64(2);
    let z = family.standard_quantile(0.995);
    let beyond = (0..100_000).filter(|_| family.draw(&mut rng) > z).count();
    assert!(
        (beyond as f64 / 1e5 - 0.005).abs() < 5.0 * 2.3e-4,
        "{beyond}"
    );
}
