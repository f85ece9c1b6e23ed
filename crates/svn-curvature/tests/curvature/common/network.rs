//! Networks as their formulas say them: one sample at a time, one number after the other, in dual numbers.

use ndarray::{Array1, Array2, Array3, Array4, ArrayView1, ArrayView2, ArrayView3, Axis, s};
use svn_curvature::{Layer, Loss, Sequential};

use super::cases::Case;
use super::dual::Dual;
use super::losses::reference_fisher;

/// An affine layer met on the way: its inputs, one row a position, with a last 1 if there is a bias, and its outputs,
/// `o L + l`, which may be changed.
pub(crate) struct Affine<'a> {
    pub index: usize,
    pub inputs: &'a [Vec<Dual>],
    pub outputs: &'a mut [Dual],
}

/// Outputs at one sample.
pub(crate) fn evaluate(
    network: &Sequential,
    params: &[Dual],
    x: &[Dual],
    mut visit: impl FnMut(Affine<'_>),
) -> Vec<Dual> {
    let (mut values, mut shape) = (x.to_vec(), network.input_shape().to_vec());
    let (mut start, mut index) = (0, 0);
    for layer in network.layers() {
        let (outputs, bias, mut rows, size) = match layer {
            Layer::Linear { outputs, bias, .. } => {
                (*outputs, *bias, vec![values.clone()], vec![*outputs])
            }
            Layer::Conv2d(c) => {
                let (positions, size) = windows(&shape, c.kernel, c.stride, c.padding, c.dilation);
                let channels = 0..shape[0];
                let row = |window: &Vec<Option<usize>>| {
                    let of_channel = |channel| {
                        let plane = channel * shape[1] * shape[2];
                        let value = move |at: &Option<usize>| at.map(|at| plane + at);
                        window.iter().map(value)
                    };
                    let places = channels.clone().flat_map(of_channel);
                    places
                        .map(|at| at.map_or(0.0.into(), |at| values[at]))
                        .collect()
                };
                let rows: Vec<Vec<Dual>> = positions.iter().map(row).collect();
                (c.outputs, c.bias, rows, vec![c.outputs, size[0], size[1]])
            }
            Layer::Activation(function) => {
                values.iter_mut().for_each(|z| *z = z.activate(*function));
                continue;
            }
            Layer::Scale(factor) => {
                values.iter_mut().for_each(|z| *z = *z * (*factor).into());
                continue;
            }
            Layer::Flatten => {
                shape = vec![values.len()];
                continue;
            }
            Layer::MaxPool2d(p) | Layer::AvgPool2d(p) => {
                let (positions, size) = windows(&shape, p.kernel, p.stride, p.padding, [1, 1]);
                let planes: Vec<&[Dual]> = values.chunks(shape[1] * shape[2]).collect();
                let pool = |plane: &[Dual], window: &[Option<usize>]| -> Dual {
                    let inside = window.iter().flatten().map(|&at| plane[at]);
                    if let Layer::MaxPool2d(_) = layer {
                        let larger = |a: Dual, b: Dual| if b.0[0] > a.0[0] { b } else { a };
                        return inside.reduce(larger).unwrap();
                    }
                    inside.sum::<Dual>() * (1.0 / window.len() as f64).into()
                };
                let pairs = planes.iter().flat_map(|plane| {
                    let pool = &pool;
                    positions.iter().map(move |window| pool(plane, window))
                });
                (values, shape) = (pairs.collect(), vec![shape[0], size[0], size[1]]);
                continue;
            }
            other => panic!("no reference for {other}"),
        };
        let fan_in = rows[0].len();
        let biases = start + outputs * fan_in;
        let mut z = Vec::new();
        for o in 0..outputs {
            for row in &rows {
                let weight = &params[start + o * fan_in..][..fan_in];
                let sum: Dual = weight.iter().zip(row).map(|(w, a)| *w * *a).sum();
                z.push(if bias { sum + params[biases + o] } else { sum });
            }
        }
        start = biases + if bias { outputs } else { 0 };
        if bias {
            rows.iter_mut().for_each(|row| row.push(1.0.into()));
        }
        let (inputs, outputs) = (&rows[..], &mut z[..]);
        visit(Affine {
            index,
            inputs,
            outputs,
        });
        (values, shape, index) = (z, size, index + 1);
    }
    values
}

/// Pixels that each window sees, none where it sees padding, and how many windows there are along each side.
fn windows(
    shape: &[usize],
    kernel: [usize; 2],
    stride: [usize; 2],
    padding: [usize; 2],
    dilation: [usize; 2],
) -> (Vec<Vec<Option<usize>>>, [usize; 2]) {
    let sides = [shape[1], shape[2]];
    let size = [0, 1].map(|axis| {
        let reach = dilation[axis] * (kernel[axis] - 1) + 1;
        (sides[axis] + 2 * padding[axis] - reach) / stride[axis] + 1
    });
    let mut all = Vec::new();
    for (i, j) in (0..size[0]).flat_map(|i| (0..size[1]).map(move |j| (i, j))) {
        let mut window = Vec::new();
        for (k, l) in (0..kernel[0]).flat_map(|k| (0..kernel[1]).map(move |l| (k, l))) {
            let row = (i * stride[0] + k * dilation[0]).checked_sub(padding[0]);
            let column = (j * stride[1] + l * dilation[1]).checked_sub(padding[1]);
            window.push(match (row, column) {
                (Some(r), Some(c)) if r < sides[0] && c < sides[1] => Some(r * sides[1] + c),
                _ => None,
            });
        }
        all.push(window);
    }
    (all, size)
}

/// Numbers without derivatives.
pub(crate) fn duals(values: ArrayView1<'_, f64>) -> Vec<Dual> {
    values.iter().map(|&value| value.into()).collect()
}

/// Outputs of all particles, `N × b × c`.
pub(crate) fn reference_outputs(case: &Case) -> Array3<f64> {
    let (n, b) = (case.params.nrows(), case.x.nrows());
    let mut all = Array3::zeros((n, b, case.network.outputs()));
    for ((p, i), mut out) in pairs(n, b).zip(all.lanes_mut(Axis(2))) {
        let params = duals(case.params.row(p));
        let f = evaluate(&case.network, &params, &duals(case.x.row(i)), |_| {});
        out.assign(&f.iter().map(|f| f.0[0]).collect::<Array1<f64>>());
    }
    all
}

/// Jacobians of all particles, one parameter at a time: `N × b × c × d`.
pub(crate) fn reference_jacobian(case: &Case) -> Array4<f64> {
    let (n, b, d) = (case.params.nrows(), case.x.nrows(), case.params.ncols());
    let mut all = Array4::zeros((n, b, case.network.outputs(), d));
    for (p, i) in pairs(n, b) {
        let (mut params, x) = (duals(case.params.row(p)), duals(case.x.row(i)));
        for k in 0..d {
            params[k].0[1] = 1.0;
            let f = evaluate(&case.network, &params, &x, |_| {});
            params[k].0[1] = 0.0;
            for (c, f) in f.iter().enumerate() {
                all[[p, i, c, k]] = f.0[1];
            }
        }
    }
    all
}

fn pairs(n: usize, b: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |p| (0..b).map(move |i| (p, i)))
}

/// Dense `H_p = Σ_i J_iᵀ F_i J_i` of all particles, `N × d × d`.
pub(crate) fn reference_curvature(loss: Loss, case: &Case, y: ArrayView2<'_, f64>) -> Array3<f64> {
    let (jacobian, outputs) = (reference_jacobian(case), reference_outputs(case));
    let (n, b, _, d) = jacobian.dim();
    let mut all = Array3::zeros((n, d, d));
    for (p, i) in pairs(n, b) {
        let j = jacobian.slice(s![p, i, .., ..]);
        let fisher = reference_fisher(loss, outputs.slice(s![p, i, ..]), y.row(i));
        let mut sum = all.index_axis_mut(Axis(0), p);
        sum += &j.t().dot(&fisher.dot(&j));
    }
    all
}

/// `Σ_{i,l} ã ãᵀ / (b L)` and `Σ_{i,l,j} δ δᵀ` of each affine layer of one particle; `root`: `b × c × k`. The
/// cotangents come from one output of the layer at a time.
pub(crate) fn reference_factors(
    case: &Case,
    particle: usize,
    root: ArrayView3<'_, f64>,
) -> Vec<(Array2<f64>, Array2<f64>)> {
    let params = duals(case.params.row(particle));
    let mut factors: Vec<(Array2<f64>, Array2<f64>)> = Vec::new();
    for (x, root) in case.x.outer_iter().zip(root.outer_iter()) {
        let x = duals(x);
        let mut sizes = Vec::new();
        evaluate(&case.network, &params, &x, |layer| {
            let (positions, width) = (layer.inputs.len(), layer.inputs[0].len());
            let outputs = layer.outputs.len() / positions;
            sizes.push((outputs, positions));
            if factors.len() == layer.index {
                let zeros = |side| Array2::zeros((side, side));
                factors.push((zeros(width), zeros(outputs)));
            }
            let weight = 1.0 / (case.x.nrows() * positions) as f64;
            for row in layer.inputs {
                let row: Array1<f64> = row.iter().map(|a| a.0[0]).collect();
                factors[layer.index].0 += &(outer(&row) * weight);
            }
        });
        for (index, (outputs, positions)) in sizes.into_iter().enumerate() {
            // O · L × k
            let mut cotangents = Array2::zeros((outputs * positions, root.ncols()));
            for (output, mut cotangent) in cotangents.outer_iter_mut().enumerate() {
                let f = evaluate(&case.network, &params, &x, |layer| {
                    if layer.index == index {
                        layer.outputs[output].0[1] = 1.0;
                    }
                });
                let slopes: Array1<f64> = f.iter().map(|f| f.0[1]).collect();
                cotangent.assign(&slopes.dot(&root));
            }
            for (l, j) in pairs(positions, root.ncols()) {
                let delta: Array1<f64> = (0..outputs)
                    .map(|o| cotangents[[o * positions + l, j]])
                    .collect();
                factors[index].1 += &outer(&delta);
            }
        }
    }
    factors
}

pub(crate) fn outer(v: &Array1<f64>) -> Array2<f64> {
    let column = v.view().insert_axis(Axis(1));
    column.dot(&column.t())
}
