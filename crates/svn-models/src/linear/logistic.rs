//! Logistic regression by Newton's method, each direction by conjugate gradients on Hessian products, with a line search.
//!
//! ```text
//! L = −Σ_i ln p(y_i | z_i) + ½ λ ‖W‖²      g = Z̃ᵀ(P − Y) + λ W      H V = Z̃ᵀ[(diag p_i − p_i p_iᵀ) (Z̃V)_i] + λ V
//! ```

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, s};
use svn_linalg::{CgParams, LinearOperator, SelfAdjoint, cg};

use super::Linear;
use crate::ModelError;
use crate::members::log_sum_exp;
use crate::scaling::FeatureScaler;

/// Of the intercept, which is all but free.
const INTERCEPT_PENALTY: f64 = 1e-6;
const STEPS: usize = 50;
/// Newton decrement `½ gᵀH⁻¹g` in nats at which it ends.
const DECREMENT: f64 = 1e-9;

pub(super) fn fit(
    x: ArrayView2<'_, f64>,
    y: &[usize],
    classes: usize,
    penalty: f64,
) -> Result<Linear, ModelError> {
    let features = FeatureScaler::fit(x)?;
    let z = features.transform(x)?;
    let mut design = Array2::ones((z.nrows(), z.ncols() + 1));
    design.slice_mut(s![.., ..z.ncols()]).assign(&z);
    let problem = Problem {
        design,
        y,
        outputs: if classes == 2 { 1 } else { classes },
        penalty,
    };
    let weights = problem.minimum()?;
    Ok(Linear {
        features,
        intercepts: weights.row(z.ncols()).to_vec(),
        weights: weights.slice(s![..z.ncols(), ..]).to_owned(),
        noise_variance: None,
    })
}

struct Problem<'a> {
    /// Features and a column of ones, `n × (p + 1)`.
    design: Array2<f64>,
    y: &'a [usize],
    /// Logits `K`: one for two classes.
    outputs: usize,
    penalty: f64,
}

impl Problem<'_> {
    /// `(p + 1) × K`.
    fn minimum(&self) -> Result<Array2<f64>, ModelError> {
        let mut weights = Array2::zeros((self.design.ncols(), self.outputs));
        let mut value = self.value(&weights);
        for _ in 0..STEPS {
            let probabilities = self.probabilities(&self.design.dot(&weights));
            let gradient = self.gradient(&weights, &probabilities);
            let hessian = Hessian {
                problem: self,
                probabilities: &probabilities,
            };
            let params = CgParams {
                tolerance: 1e-8,
                max_iterations: 10 * gradient.len().max(20),
                ..CgParams::default()
            };
            let right = Array1::from_iter(gradient.iter().map(|g| -g));
            let solution = cg(&hessian, right.view(), None, None, &params).map_err(|error| {
                ModelError::setting("features", error, "finite numbers of a common size")
            })?;
            let step = shaped(solution.x.view(), weights.dim());
            let decrement = -(&step * &gradient).sum() / 2.0;
            // Of no descent, or of nothing that is a number.
            if decrement.is_nan() || decrement <= DECREMENT {
                break;
            }
            // Armijo, from the whole step down.
            let mut scale = 1.0;
            let next = loop {
                let next = &weights + &(scale * &step);
                let found = self.value(&next);
                if found <= value - 1e-4 * scale * decrement {
                    value = found;
                    break Some(next);
                }
                scale *= 0.5;
                if scale < 1e-6 {
                    break None;
                }
            };
            let Some(next) = next else { break };
            weights = next;
        }
        Ok(weights)
    }

    fn penalties(&self, weights: &Array2<f64>) -> Array2<f64> {
        let last = weights.nrows() - 1;
        let mut scaled = self.penalty * weights;
        let mut intercept = scaled.row_mut(last);
        intercept.assign(&(INTERCEPT_PENALTY * &weights.row(last)));
        scaled
    }

    fn value(&self, weights: &Array2<f64>) -> f64 {
        let logits = self.design.dot(weights);
        let losses = logits.rows().into_iter().zip(self.y).map(|(row, &class)| {
            if row.len() == 1 {
                let logit = if class == 1 { row[0] } else { -row[0] };
                return log_sum_exp([0.0, -logit].into_iter());
            }
            log_sum_exp(row.iter().copied()) - row[class]
        });
        losses.sum::<f64>() + 0.5 * (weights * &self.penalties(weights)).sum()
    }

    fn probabilities(&self, logits: &Array2<f64>) -> Array2<f64> {
        let mut p = logits.clone();
        for mut row in p.rows_mut() {
            if row.len() == 1 {
                row[0] = 1.0 / (1.0 + (-row[0]).exp());
            } else {
                let total = log_sum_exp(row.iter().copied());
                row.map_inplace(|z| *z = (*z - total).exp());
            }
        }
        p
    }

    fn gradient(&self, weights: &Array2<f64>, probabilities: &Array2<f64>) -> Array2<f64> {
        let mut errors = probabilities.clone();
        for (mut row, &class) in errors.rows_mut().into_iter().zip(self.y) {
            match row.len() {
                1 => row[0] -= class as f64,
                _ => row[class] -= 1.0,
            }
        }
        self.design.t().dot(&errors) + self.penalties(weights)
    }
}

struct Hessian<'a> {
    problem: &'a Problem<'a>,
    probabilities: &'a Array2<f64>,
}

impl LinearOperator for Hessian<'_> {
    fn nrows(&self) -> usize {
        self.problem.design.ncols() * self.problem.outputs
    }

    fn ncols(&self) -> usize {
        self.nrows()
    }

    fn apply_into(&self, x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        let dim = (self.problem.design.ncols(), self.problem.outputs);
        for (vector, mut out) in x.axis_iter(Axis(1)).zip(out.axis_iter_mut(Axis(1))) {
            let direction = shaped(vector, dim);
            let mut slopes = self.problem.design.dot(&direction);
            for (mut slope, p) in slopes.rows_mut().into_iter().zip(self.probabilities.rows()) {
                let mean = match p.len() {
                    1 => p[0] * slope[0],
                    _ => p.dot(&slope),
                };
                slope.zip_mut_with(&p, |slope, p| *slope = p * (*slope - mean));
            }
            let product = self.problem.design.t().dot(&slopes) + self.problem.penalties(&direction);
            out.iter_mut()
                .zip(&product)
                .for_each(|(out, value)| *out = *value);
        }
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.apply_into(x, out);
    }
}

impl SelfAdjoint for Hessian<'_> {}

fn shaped(vector: ArrayView1<'_, f64>, (rows, columns): (usize, usize)) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| vector[i * columns + j])
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    fn data(classes: usize) -> (Array2<f64>, Vec<usize>) {
        let x = Array2::from_shape_fn((60, 3), |(i, j)| ((7 * i + 11 * j * i + j) % 23) as f64);
        let y = (0..60).map(|i| (i * i + i / 7) % classes).collect();
        (x, y)
    }

    fn problem(classes: usize) -> (Problem<'static>, Array2<f64>) {
        let (x, y) = data(classes);
        let mut design = Array2::ones((60, 4));
        design.slice_mut(s![.., ..3]).assign(&(x / 23.0));
        let outputs = if classes == 2 { 1 } else { classes };
        let weights = Array2::from_shape_fn((4, outputs), |(i, j)| 0.3 * i as f64 - 0.2 * j as f64);
        let problem = Problem {
            design,
            y: y.leak(),
            outputs,
            penalty: 0.7,
        };
        (problem, weights)
    }

    #[test]
    fn gradient_and_hessian_are_the_differences_of_the_value() {
        for classes in [2, 3] {
            let (problem, weights) = problem(classes);
            let gradient = |w: &Array2<f64>| {
                problem.gradient(w, &problem.probabilities(&problem.design.dot(w)))
            };
            let probabilities = problem.probabilities(&problem.design.dot(&weights));
            let hessian = Hessian {
                problem: &problem,
                probabilities: &probabilities,
            };
            let dense = hessian.to_dense();
            let (h, found) = (1e-5, gradient(&weights));
            for index in 0..weights.len() {
                let at = (index / problem.outputs, index % problem.outputs);
                let moved = |by: f64| {
                    let mut moved = weights.clone();
                    moved[at] += by;
                    moved
                };
                let slope = (problem.value(&moved(h)) - problem.value(&moved(-h))) / (2.0 * h);
                assert_relative_eq!(found[at], slope, max_relative = 1e-6, epsilon = 1e-7);
                let column = (gradient(&moved(h)) - gradient(&moved(-h))) / (2.0 * h);
                let column = Array1::from_iter(column.iter().copied());
                assert_relative_eq!(
                    dense.column(index),
                    column,
                    max_relative = 1e-5,
                    epsilon = 1e-6
                );
            }
        }
    }

    #[test]
    fn the_gradient_is_zero_at_the_end() {
        for classes in [2, 4] {
            let (problem, _) = problem(classes);
            let weights = problem.minimum().unwrap();
            let p = problem.probabilities(&problem.design.dot(&weights));
            let largest = problem.gradient(&weights, &p);
            let largest = largest.iter().fold(0.0, |a: f64, g| a.max(g.abs()));
            assert!(largest < 1e-4, "{largest}");
        }
    }

    #[test]
    fn classes_that_a_line_separates_are_told_apart() {
        let x = Array2::from_shape_fn((40, 1), |(i, _)| i as f64);
        let y: Vec<usize> = (0..40).map(|i| usize::from(i > 19)).collect();
        let model = Linear::logistic(x.view(), &y, 2, 1e-3).unwrap();
        let found = model.predict_classes(x.view()).unwrap().most_probable();
        assert_eq!(found.to_vec(), y);
        let error = Linear::logistic(x.view(), &[5; 40], 2, 1.0).unwrap_err();
        assert!(error.to_string().contains("no class index"), "{error}");
    }
}
