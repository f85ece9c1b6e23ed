//! Densities, distributions and quantiles of the families against golden values.

use approx::assert_relative_eq;
use rand::SeedableRng;
use rand::rngs::ChaCha12Rng;

use super::{Component, Family};

/// `ν`, `z`, log density and distribution, of `tests/golden/heads.py`.
const GOLDEN: [(f64, f64, f64, f64); 24] = [
    (2.5, -30.0, -11.322176020542992, 0.00014553235457869771),
    (2.5, -2.0, -2.6887846222584636, 0.078695747878982993),
    (2.5, -0.5, -1.1834324081180185, 0.32884895993485734),
    (2.5, 0.001, -1.01664029346031, 0.50036180863960756),
    (2.5, 1.5, -2.1398838942621409, 0.87608177345685187),
    (2.5, 12.0, -8.1404253124806421, 0.99858189248496084),
    (4.0, -30.0, -14.532166751192441, 3.6764280488306611e-6),
    (4.0, -2.0, -2.7136972044115895, 0.058058261758407797),
    (4.0, -0.5, -1.1323908075528133, 0.32166498159093164),
    (4.0, 0.001, -0.98082987801164811, 0.50037499992187502),
    (4.0, 1.5, -2.096547009582775, 0.896),
    (4.0, 12.0, -10.008124034622287, 0.99986178572574851),
    (7.3, -30.0, -20.966865341346853, 3.2444026595639792e-9),
    (7.3, -2.0, -2.7663330549491068, 0.041970519667051605),
    (7.3, -0.5, -1.0928241307510563, 0.31589676340222077),
    (7.3, 0.001, -0.95308085655182835, 0.50038555150948779),
    (7.3, 1.5, -2.0680475343626344, 0.91221845359845694),
    (7.3, 12.0, -13.53334991951457, 0.99999772210738521),
    (100.0, -30.0, -117.20198568774231, 4.1901662793441461e-52),
    (100.0, -2.0, -2.90208450578371, 0.02410608936556684),
    (100.0, -0.5, -1.0475309415716581, 0.30908678291544329),
    (100.0, 0.001, -0.92143899654300203, 0.5003979461199483),
    (100.0, 1.5, -2.0450942427514024, 0.93161747093765557),
    (100.0, 12.0, -45.967339476451085, 1.0),
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
        (4.0, 0.95, 2.131_846_786_326_65),
        (4.0, 0.975, 2.776_445_105_197_794),
        (3.0, 0.999, 10.214_531_852_407_387),
        (4.0, 1e-12, -1_316.072_746_559_256_5),
    ] {
        let found = Family::StudentT { degrees }.standard_quantile(level);
        assert_relative_eq!(found, expected, max_relative = 1e-11);
    }
    let found = Family::Gaussian.standard_quantile(0.975);
    assert_relative_eq!(found, 1.959_963_984_540_054, max_relative = 1e-14);
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
