//! What every accumulator must do, checked by one function for all of them.

use crate::common::{
    Case, PARTICLES, SAMPLES, cases, cases_of, frobenius_error, likelihoods, normal,
};
use ndarray::{Array1, Array2, Array3, Array4, ArrayView2, s};
use std::ops::Range;
use svn_curvature::{
    Accumulate, BatchSlots, CurvatureError, DiagAccumulator, EkfacAccumulator, KfacAccumulator,
    KroneckerCurvature, LayerGgn, LayeredRows, Linearized, Loss, WrittenRows,
};
use svn_linalg::{LinearOperator, ParticleOperators};

/// Sums in another order: a few roundings of numbers of one size.
const ROUNDING: f64 = 1e-12;

/// A way to make accumulators of one family for a case.
trait Family {
    type Accumulator: Accumulate;
    fn start(&self, like: &dyn Linearized) -> Self::Accumulator;
}

struct DiagFamily;
struct KfacFamily;
struct EkfacFamily(KroneckerCurvature);

impl Family for DiagFamily {
    type Accumulator = DiagAccumulator;
    fn start(&self, like: &dyn Linearized) -> DiagAccumulator {
        DiagAccumulator::new(like)
    }
}

impl Family for KfacFamily {
    type Accumulator = KfacAccumulator;
    fn start(&self, like: &dyn Linearized) -> KfacAccumulator {
        KfacAccumulator::new(like)
    }
}

impl Family for EkfacFamily {
    type Accumulator = EkfacAccumulator;
    fn start(&self, _: &dyn Linearized) -> EkfacAccumulator {
        EkfacAccumulator::new(&self.0)
    }
}

/// One case with one loss, cut into batches at will.
struct Data<'a> {
    case: &'a Case,
    loss: Loss,
}

impl Data<'_> {
    fn linearize(&self, start: usize, count: usize) -> Box<dyn Linearized> {
        self.case.rows(start..start + count).linearize()
    }

    fn add<A: Accumulate>(&self, accumulator: &mut A, start: usize, count: usize) {
        let lin = self.linearize(start, count);
        let root = self.loss.root(lin.outputs()).unwrap();
        accumulator.accumulate(&*lin, root.view()).unwrap();
    }

    fn collect<F: Family>(&self, family: &F, batches: &[(usize, usize)]) -> F::Accumulator {
        let mut accumulator = family.start(&*self.linearize(0, 1));
        for &(start, count) in batches {
            self.add(&mut accumulator, start, count);
        }
        accumulator
    }
}

/// All particles' matrices.
fn dense(curvature: &dyn ParticleOperators) -> Vec<Array2<f64>> {
    (0..curvature.particles())
        .map(|p| curvature.operator(p).to_dense())
        .collect()
}

fn assert_same(name: &str, a: &dyn ParticleOperators, b: &dyn ParticleOperators) {
    for (a, b) in dense(a).iter().zip(&dense(b)) {
        let error = frobenius_error(a, b);
        assert!(error < ROUNDING, "{name}: {error:e}");
    }
}

fn check_protocol<F: Family>(name: &str, family: &F, data: &Data<'_>) {
    let whole = data.collect(family, &[(0, SAMPLES)]);
    assert_eq!(whole.samples(), SAMPLES as f64);
    let whole = whole.finish().unwrap();
    assert_eq!(whole.particles(), PARTICLES, "{name}");
    assert_eq!(whole.dim(), data.case.network.layout().dim(), "{name}");

    // The cut into batches, and their order, make no difference.
    for cut in [
        &[(0, 1), (1, 3)][..],
        &[(0, 2), (2, 2)],
        &[(3, 1), (2, 1), (0, 1), (1, 1)],
    ] {
        assert_same(name, &data.collect(family, cut).finish().unwrap(), &whole);
    }

    // Merging is associative and equals accumulating.
    let part = |start, count| data.collect(family, &[(start, count)]);
    let mut left = part(0, 1);
    left.merge(part(1, 2)).unwrap();
    left.merge(part(3, 1)).unwrap();
    let mut tail = part(1, 2);
    tail.merge(part(3, 1)).unwrap();
    let mut right = part(0, 1);
    right.merge(tail).unwrap();
    assert_same(name, &left.finish().unwrap(), &whole);
    assert_same(name, &right.finish().unwrap(), &whole);

    // Scaled to a data set: linear in its size, and the same data twice stand for the same data set.
    let scaled = data
        .collect(family, &[(0, SAMPLES)])
        .finish_for(10.0 * SAMPLES as f64)
        .unwrap();
    for (a, b) in dense(&scaled).iter().zip(&dense(&whole)) {
        assert!(frobenius_error(a, &(b * 10.0)) < ROUNDING, "{name}");
    }
    let twice = data
        .collect(family, &[(0, SAMPLES), (0, SAMPLES)])
        .finish_for(SAMPLES as f64)
        .unwrap();
    assert_same(name, &twice, &whole);

    // A clone has sums of its own.
    let mut clone = data.collect(family, &[(0, 1)]);
    let original = clone.clone();
    data.add(&mut clone, 1, SAMPLES - 1);
    assert_same(name, &clone.finish().unwrap(), &whole);
    assert_eq!(original.samples(), 1.0);
    let one = data.collect(family, &[(0, 1)]).finish().unwrap();
    assert_same(name, &original.finish().unwrap(), &one);

    // A decay scales what was seen; without new data the average stays.
    let mut decayed = data.collect(family, &[(0, SAMPLES)]);
    decayed.decay(0.25).unwrap();
    assert_eq!(decayed.samples(), 0.25 * SAMPLES as f64);
    assert_same(name, &decayed.finish_for(SAMPLES as f64).unwrap(), &whole);
    let mut decayed = data.collect(family, &[(0, SAMPLES)]);
    decayed.decay(0.25).unwrap();
    for (a, b) in dense(&decayed.finish().unwrap()).iter().zip(&dense(&whole)) {
        assert!(frobenius_error(a, &(b * 0.25)) < ROUNDING, "{name}");
    }
    for factor in [-0.1, 1.1, f64::NAN] {
        let error = data.collect(family, &[]).decay(factor).unwrap_err();
        assert!(
            matches!(
                error,
                CurvatureError::OutOfRange {
                    name: "decay factor",
                    ..
                }
            ),
            "{name}: {error}"
        );
    }

    // Nothing accumulated is an error, not a zero matrix.
    let error = data.collect(family, &[]).finish().err().unwrap();
    assert!(
        matches!(error, CurvatureError::NothingAccumulated),
        "{name}: {error}"
    );
    for rows in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = data
            .collect(family, &[(0, 1)])
            .finish_for(rows)
            .err()
            .unwrap();
        assert!(
            matches!(error, CurvatureError::OutOfRange { name: "rows", .. }),
            "{name}: {error}"
        );
    }

    // A bad batch changes nothing.
    let mut accumulator = data.collect(family, &[(0, SAMPLES)]);
    let lin = data.linearize(0, 2);
    let root = data.loss.root(lin.outputs()).unwrap();
    let mut poisoned = root.clone();
    poisoned.slice_mut(s![1, 1, 0, ..]).fill(f64::NAN);
    let error = accumulator.accumulate(&*lin, poisoned.view()).unwrap_err();
    assert!(
        matches!(&error, CurvatureError::NonFinite { particle: 1, .. }),
        "{name}: {error}"
    );
    let error = accumulator
        .accumulate(&*lin, root.slice(s![.., ..1, .., ..]))
        .unwrap_err();
    assert!(
        matches!(&error, CurvatureError::Shape { what: "root", .. }),
        "{name}: {error}"
    );
    assert_same(name, &accumulator.finish().unwrap(), &whole);

    // Another network, another number of particles, other layers.
    let mut accumulator = data.collect(family, &[(0, SAMPLES)]);
    let two = Case {
        params: data.case.params.slice(s![..2, ..]).to_owned(),
        ..data.case.clone()
    };
    let two = two.linearize();
    let root = data.loss.root(two.outputs()).unwrap();
    let error = accumulator.accumulate(&*two, root.view()).unwrap_err();
    assert!(
        matches!(
            &error,
            CurvatureError::Subject {
                what: "linearization",
                ..
            }
        ),
        "{name}: {error}"
    );
    assert_same(name, &accumulator.finish().unwrap(), &whole);
}

#[test]
fn all_families_keep_the_protocol_on_all_architectures() {
    // The likelihoods take turns: what the protocol is about does not depend on them.
    for (turn, (likelihood, loss, outputs, _)) in likelihoods().into_iter().enumerate() {
        for case in cases(outputs).into_iter().skip(turn).step_by(4) {
            let data = Data { case: &case, loss };
            let name = |family: &str| format!("{family}, {}, {likelihood}", case.name);
            check_protocol(&name("diag"), &DiagFamily, &data);
            check_protocol(&name("kfac"), &KfacFamily, &data);
            let kfac = data.collect(&KfacFamily, &[(0, SAMPLES)]).finish().unwrap();
            check_protocol(&name("ekfac"), &EkfacFamily(kfac), &data);
        }
    }
}

/// Rows of one slot: two samples.
fn slot_rows(root: &Array4<f64>) -> usize {
    2 * root.dim().3
}

/// What every store of single batches must do.
fn check_slots(name: &str, mut slots: Box<dyn BatchSlots>, data: &Data<'_>, last: bool) {
    let batch = |start, count| {
        let lin = data.linearize(start, count);
        let lin = if last { lin.last_layer() } else { lin };
        let root = data.loss.root(lin.outputs()).unwrap();
        (lin, root)
    };
    let expected = |batches: &[(usize, usize)]| {
        let mut sum: Vec<Array2<f64>> = Vec::new();
        for &(start, count) in batches {
            let (lin, root) = batch(start, count);
            let rows = lin.rows(root.view()).unwrap();
            for (p, j) in rows.outer_iter().enumerate() {
                if sum.len() <= p {
                    sum.push(Array2::zeros((j.ncols(), j.ncols())));
                }
                sum[p] = &sum[p] + &j.t().dot(&j);
            }
        }
        sum
    };
    let check = |slots: &dyn BatchSlots, batches: &[(usize, usize)]| {
        let curvature = slots.curvature(1.5, 0.25);
        for (p, sum) in expected(batches).iter().enumerate() {
            let sum = sum * 1.5 + Array2::<f64>::eye(sum.nrows()) * 0.25;
            let error = frobenius_error(&curvature.operator(p).to_dense(), &sum);
            assert!(error < ROUNDING, "{name}: {error:e}");
        }
    };
    let write = |slots: &mut dyn BatchSlots, slot, (start, count)| {
        let (lin, root) = batch(start, count);
        slots.write(&*lin, root.view(), slot)
    };
    write(&mut *slots, 0, (0, 2)).unwrap();
    check(&*slots, &[(0, 2)]);
    write(&mut *slots, 1, (2, 2)).unwrap();
    check(&*slots, &[(0, 2), (2, 2)]);
    // A batch replaces what the slot held, a shorter one too.
    write(&mut *slots, 0, (3, 1)).unwrap();
    check(&*slots, &[(3, 1), (2, 2)]);
    // A checkpoint brings back the same numbers.
    let kept = slots.curvature(1.0, 0.5).operator(1).to_dense();
    let arrays = slots.arrays();
    write(&mut *slots, 1, (0, 1)).unwrap();
    slots.set_arrays(arrays.clone(), &[1, 0]).unwrap();
    assert_eq!(
        slots.curvature(1.0, 0.5).operator(1).to_dense(),
        kept,
        "{name}"
    );
    assert_eq!(slots.arrays(), arrays, "{name}");
    let less = arrays[..arrays.len() - 1].to_vec();
    assert!(slots.set_arrays(less, &[]).is_err(), "{name}");
    assert!(
        write(&mut *slots, 2, (0, 1)).is_err(),
        "{name}: no such slot"
    );
}

#[test]
fn all_stores_of_batches_keep_the_protocol() {
    for (turn, (likelihood, loss, outputs, _)) in likelihoods().into_iter().enumerate() {
        for case in cases(outputs).into_iter().skip(turn).step_by(4) {
            let data = Data { case: &case, loss };
            let lin = data.linearize(0, 2);
            let rows = slot_rows(&loss.root(lin.outputs()).unwrap());
            let name = |store: &str| format!("{store}, {}, {likelihood}", case.name);
            let written = WrittenRows::new(&*lin, 2, rows);
            check_slots(&name("written"), Box::new(written), &data, false);
            if let Some(layered) = LayeredRows::new(&*lin, 2, rows) {
                check_slots(&name("layered"), Box::new(layered), &data, false);
            }
            let last = lin.last_layer();
            if let Some(matrix) = LayerGgn::new(&*last, 2) {
                check_slots(&name("matrix"), Box::new(matrix), &data, true);
            }
        }
    }
}

#[test]
fn renewed_eigenbases_keep_what_is_known_of_the_past_on_their_diagonal() {
    let (_, loss, outputs, _) = likelihoods().swap_remove(2);
    for case in cases_of("relu mlp", outputs) {
        let data = Data { case: &case, loss };
        let past = data.collect(&KfacFamily, &[(0, 2)]);
        let bases = data.collect(&KfacFamily, &[(0, SAMPLES)]).finish().unwrap();
        let kept = EkfacAccumulator::with_past(&bases, &past).unwrap();
        assert_eq!(kept.samples(), 2.0);
        let kept = kept.finish().unwrap();
        let product = past.finish().unwrap();
        for p in 0..PARTICLES {
            // Projecting on the diagonal in an orthogonal basis keeps the trace, and is the nearest such matrix.
            let (kept, product) = (kept.operator(p).to_dense(), product.operator(p).to_dense());
            let trace = product.diag().sum();
            assert!((kept.diag().sum() / trace - 1.0).abs() < ROUNDING);
            let inner: f64 = kept.iter().zip(&product).map(|(a, b)| a * b).sum();
            let square: f64 = kept.iter().map(|a| a * a).sum();
            assert!((inner / square - 1.0).abs() < ROUNDING, "{inner} {square}");
        }
        // In its own bases the past is the product itself, and without a past there is nothing.
        let own = data.collect(&KfacFamily, &[(0, 2)]);
        let bases = own.clone().finish().unwrap();
        let same = EkfacAccumulator::with_past(&bases, &own).unwrap().finish();
        assert_same("own bases", &same.unwrap(), &bases);
        let nothing = data.collect(&KfacFamily, &[]);
        let empty = EkfacAccumulator::with_past(&bases, &nothing).unwrap();
        assert_eq!(empty.samples(), 0.0);
    }
}

#[test]
fn an_exponential_average_weighs_recent_batches_more() {
    let (_, loss, outputs, _) = likelihoods().swap_remove(0);
    for case in cases_of("relu mlp", outputs) {
        let data = Data { case: &case, loss };
        let mut average = DiagAccumulator::new(&*data.linearize(0, 1));
        for sample in 0..SAMPLES {
            average.decay(0.5).unwrap();
            data.add(&mut average, sample, 1);
        }
        let average = average.finish_for(1.0).unwrap();
        let weights = [1.0 / 15.0, 2.0 / 15.0, 4.0 / 15.0, 8.0 / 15.0];
        let mut expected = Array1::zeros(average.dim());
        for (sample, weight) in (0..SAMPLES).zip(weights) {
            let one = data.collect(&DiagFamily, &[(sample, 1)]).finish().unwrap();
            expected += &(one.diagonal(1) * weight);
        }
        for (a, b) in average.diagonal(1).iter().zip(&expected) {
            assert!((a - b).abs() < ROUNDING * b.abs().max(1.0));
        }
    }
}

#[test]
fn eigenvalue_corrections_of_different_bases_do_not_merge() {
    let (_, loss, outputs, _) = likelihoods().swap_remove(0);
    for case in cases_of("relu mlp", outputs) {
        let data = Data { case: &case, loss };
        let kfac = |count| data.collect(&KfacFamily, &[(0, count)]).finish().unwrap();
        let one = kfac(2);
        let mut accumulator = data.collect(&EkfacFamily(one.clone()), &[(0, 1)]);
        let more = data.collect(&EkfacFamily(one), &[(1, 1)]);
        accumulator.merge(more).unwrap();
        let other = data.collect(&EkfacFamily(kfac(3)), &[(1, 1)]);
        let error = accumulator.merge(other).unwrap_err();
        assert!(matches!(error, CurvatureError::OtherEigenbases), "{error}");
        assert_eq!(accumulator.samples(), 2.0);
    }
}

fn forward(
    case: &Case,
    params: ArrayView2<'_, f64>,
    x: ArrayView2<'_, f64>,
) -> Result<Array3<f64>, CurvatureError> {
    case.backend
        .samples(&case.network, x)?
        .forward(&case.network, params)
}

#[test]
fn bad_parameters_and_inputs_are_named_before_anything_is_computed() {
    for case in cases_of("relu mlp", 3) {
        let (params, x) = (&case.params, &case.x);
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut bad = params.clone();
            bad[[1, 32]] = value;
            let error = case
                .samples()
                .linearize(&case.network, bad.view())
                .unwrap_err();
            assert_eq!(
                error.to_string(),
                "parameter of particle 1 not finite at layer 2 (Linear)"
            );
            let mut bad = x.clone();
            bad[[2, 1]] = value;
            let error = forward(&case, params.view(), bad.view()).unwrap_err();
            assert_eq!(error.to_string(), "input row 2 of the batch is not finite");
        }
        // Finite, but too large for the layer's outputs.
        let mut bad = params.clone();
        bad.slice_mut(s![2, ..24]).fill(1e300);
        let large = Case {
            x: x * 1e20,
            ..case.clone()
        };
        let forward = forward(&case, bad.view(), large.x.view()).unwrap_err();
        let linearize = large
            .samples()
            .linearize(&case.network, bad.view())
            .unwrap_err();
        for error in [forward, linearize] {
            assert_eq!(
                error.to_string(),
                "output of particle 2 not finite at layer 0 (Linear)"
            );
        }
    }
}

#[test]
fn huge_but_finite_numbers_pass_though_their_sum_overflows() {
    for case in cases_of("relu mlp", 3) {
        let huge = Case {
            x: Array2::from_elem(case.x.raw_dim(), 1e308),
            params: Array2::zeros(case.params.raw_dim()),
            ..case
        };
        assert!(forward(&huge, huge.params.view(), huge.x.view()).is_ok());
        let lin = huge.linearize();
        let zeros = Array3::zeros(lin.outputs().raw_dim());
        assert!(lin.vjp(zeros.view()).is_ok());
    }
}

#[test]
fn wrong_shapes_name_both() {
    for case in cases_of("relu mlp", 3) {
        let (params, x) = (&case.params, &case.x);
        let message = |params, x| forward(&case, params, x).unwrap_err().to_string();
        let part = |rows: Range<usize>, columns: Range<usize>| s![rows, columns];
        assert_eq!(
            message(params.slice(part(0..3, 0..50)), x.view()),
            "particles must have shape particles × parameters = [N ≥ 1, 51], found [3, 50]"
        );
        assert_eq!(
            message(params.view(), x.slice(part(0..4, 0..3))),
            "x must have shape rows ≥ 1 × values of a sample = [1.., 4], found [4, 3]"
        );
        assert!(message(params.slice(part(0..0, 0..51)), x.view()).contains("[0, 51]"));
        assert!(message(params.view(), x.slice(part(0..0, 0..4))).contains("[0, 4]"));
        let lin = case.linearize();
        assert_eq!(
            lin.vjp(normal((3, 4, 2), 1.0, 1).view())
                .unwrap_err()
                .to_string(),
            "r must have shape particles × samples × outputs = [3, 4, 3], found [3, 4, 2]"
        );
        assert_eq!(
            lin.rows(normal((3, 4, 2, 1), 1.0, 1).view())
                .unwrap_err()
                .to_string(),
            "root must have shape particles × samples × outputs × columns = [3, 4, 3, 1], found [3, 4, 2, 1]"
        );
        let (root, mut out) = (normal((3, 4, 3, 1), 1.0, 1), Array3::zeros((3, 4, 50)));
        assert_eq!(
            lin.rows_into(root.view(), out.view_mut())
                .unwrap_err()
                .to_string(),
            "out must have shape particles × (samples · columns) × parameters = [3, 4, 51], found [3, 4, 50]"
        );
    }
}

#[test]
fn gradients_that_overflow_are_named() {
    for case in cases_of("relu mlp", 3) {
        let lin = Case {
            x: &case.x * 1e10,
            ..case
        }
        .linearize();
        let mut r = Array3::zeros(lin.outputs().raw_dim());
        r.slice_mut(s![1, .., ..]).fill(1e305);
        assert_eq!(
            lin.vjp(r.view()).unwrap_err().to_string(),
            "gradient of particle 1 not finite at layer 0 (Linear)"
        );
    }
}
