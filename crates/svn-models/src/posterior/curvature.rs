//! Full curvature of a network from its accumulated rows, factored particle by particle.
//!
//! ```text
//! H_p       = w J_pᵀJ_p + δ I
//! (H_p + λ I)⁻¹ = (1/μ) [ I − (w/μ) J_pᵀ (I + (w/μ) J_p J_pᵀ)⁻¹ J_p ],   μ = δ + λ
//! W         = μ^(−1/2) [ I − J_pᵀ Q f(Λ) Qᵀ J_p ],   W Wᵀ = (H_p + λ I)⁻¹
//!             J_p J_pᵀ = Q Λ Qᵀ,   f(x) = (1 − √(μ/(μ + w x))) / x
//! ```
//!
//! `J_p` is never written out: rows are kept as layer inputs and cotangents ([`LayeredRows`]).

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis};
use svn_curvature::LayeredRows;
use svn_linalg::{
    Cholesky, CholeskyParams, Factor, FactorError, LinearOperator, SelfAdjoint, SymmetricEigen,
};
use svn_stein::FactoredCurvature;

/// `H_p` of all particles.
#[derive(Debug)]
pub(super) struct LayeredCurvature {
    pub rows: LayeredRows,
    /// `w`.
    pub weight: f64,
    /// `δ`.
    pub shift: f64,
}

impl FactoredCurvature for LayeredCurvature {
    fn particles(&self) -> usize {
        self.rows.particles()
    }

    fn dim(&self) -> usize {
        self.rows.dim()
    }

    fn operator(&self, particle: usize) -> Box<dyn SelfAdjoint + '_> {
        Box::new(OneParticle {
            curvature: self,
            particle,
        })
    }

    fn factor(&self, particle: usize, damping: f64) -> Result<Box<dyn Factor + '_>, FactorError> {
        let mu = self.shift + damping;
        let ratio = self.weight / mu;
        let mut small = self.rows.gram(particle).mapv(|e| ratio * e);
        small.diag_mut().mapv_inplace(|e| e + 1.0);
        Ok(Box::new(OneFactor {
            small: Cholesky::factorize(small.view(), &CholeskyParams::strict())?,
            curvature: self,
            particle,
            mu,
        }))
    }

    fn diagonal(&self, particle: usize) -> Array1<f64> {
        self.rows
            .squared_columns(particle)
            .mapv_into(|square| self.weight * square + self.shift)
    }
}

/// `H_p` as an operator.
struct OneParticle<'a> {
    curvature: &'a LayeredCurvature,
    particle: usize,
}

impl LinearOperator for OneParticle<'_> {
    fn nrows(&self) -> usize {
        self.curvature.rows.dim()
    }

    fn ncols(&self) -> usize {
        self.nrows()
    }

    fn apply_into(&self, x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        let LayeredCurvature {
            rows,
            weight,
            shift,
        } = self.curvature;
        out.assign(&x);
        let image = rows.multiply(self.particle, x);
        rows.multiply_transposed_into(self.particle, *weight, image.view(), *shift, out);
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.apply_into(x, out);
    }
}

impl SelfAdjoint for OneParticle<'_> {}

/// `H_p + λ I`, factored.
struct OneFactor<'a> {
    curvature: &'a LayeredCurvature,
    particle: usize,
    mu: f64,
    /// Cholesky factor of `I + (w/μ) J_p J_pᵀ`.
    small: Cholesky,
}

impl Factor for OneFactor<'_> {
    fn dim(&self) -> usize {
        self.curvature.rows.dim()
    }

    fn solve_into(&self, b: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        let rows = &self.curvature.rows;
        let image = rows.multiply(self.particle, b);
        let mut inner = Array2::zeros(image.raw_dim());
        self.small.solve_into(image.view(), inner.view_mut());
        out.assign(&b);
        let scale = -self.curvature.weight / (self.mu * self.mu);
        rows.multiply_transposed_into(self.particle, scale, inner.view(), self.mu.recip(), out);
    }

    fn inverse_sqrt_into(&self, z: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        let LayeredCurvature { rows, weight, .. } = self.curvature;
        let (mu, w) = (self.mu, *weight);
        out.assign(&z);
        let root = mu.sqrt().recip();
        // The Gram matrix is finite: `LayeredRows` refuses rows that are not.
        let Ok(eigen) = SymmetricEigen::factorize(rows.gram(self.particle)) else {
            out.fill(f64::NAN);
            return;
        };
        // (1 − √(μ/(μ + w x))) / x without the cancellation at small x.
        let f = |x: f64| {
            let s = (mu + w * x.max(0.0)).sqrt();
            w / (s * (s + mu.sqrt()))
        };
        let image = eigen.vectors().t().dot(&rows.multiply(self.particle, z));
        let scaled = image * eigen.values().mapv(f).insert_axis(Axis(1));
        let inner = eigen.vectors().dot(&scaled);
        rows.multiply_transposed_into(self.particle, -root, inner.view(), root, out);
    }

    fn log_det(&self) -> f64 {
        self.small.log_det() + self.dim() as f64 * self.mu.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use rand::{SeedableRng, rngs::ChaCha12Rng};
    use rand_distr::{Distribution, StandardNormal};
    use svn_curvature::{Activation, convert};
    use tch::Tensor;

    use crate::network::{MlpSettings, initial_particles};

    fn normal(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        Array2::from_shape_simple_fn((rows, columns), || StandardNormal.sample(&mut rng))
    }

    /// Curvature of two particles from five samples with two outputs, in a slot of 12 rows, and the rows written out.
    fn case() -> (LayeredCurvature, ndarray::Array3<f64>) {
        let network = MlpSettings {
            inputs: 3,
            hidden: vec![4, 3],
            outputs: 2,
            activation: Activation::Tanh,
        }
        .build()
        .unwrap();
        let particles = initial_particles(&network, 2, 1);
        let linear = network
            .linearize(
                &convert::tensor(particles.view()).unwrap(),
                &convert::tensor(normal(5, 3, 2).view()).unwrap(),
            )
            .unwrap();
        let root = Tensor::from_slice(normal(2 * 5, 4, 3).as_slice().unwrap()).view([2, 5, 2, 2]);
        let mut rows = LayeredRows::new(&linear, 12).unwrap();
        rows.write(&linear, &root, 0..12).unwrap();
        let explicit = convert::array(&linear.rows(&root).unwrap()).unwrap();
        let curvature = LayeredCurvature {
            rows,
            weight: 0.7,
            shift: 0.3,
        };
        (curvature, explicit)
    }

    fn dense(
        curvature: &LayeredCurvature,
        explicit: &ndarray::Array3<f64>,
        p: usize,
    ) -> Array2<f64> {
        let rows = explicit.index_axis(Axis(0), p);
        rows.t().dot(&rows) * curvature.weight + Array2::<f64>::eye(rows.ncols()) * curvature.shift
    }

    fn assert_close(found: &Array2<f64>, expected: &Array2<f64>) {
        let scale = expected.iter().fold(1.0f64, |m, v| m.max(v.abs()));
        for (a, b) in found.iter().zip(expected) {
            assert_relative_eq!(a, b, epsilon = 1e-12 * scale);
        }
    }

    #[test]
    fn operator_and_diagonal_are_those_of_the_rows_written_out() {
        let (curvature, explicit) = case();
        for p in 0..2 {
            let expected = dense(&curvature, &explicit, p);
            assert_close(&curvature.operator(p).to_dense(), &expected);
            let diagonal = curvature.diagonal(p).insert_axis(Axis(1));
            assert_close(&diagonal, &expected.diag().to_owned().insert_axis(Axis(1)));
        }
    }

    #[test]
    fn factor_inverts_the_damped_matrix_and_its_root_squares_to_the_inverse() {
        let (curvature, explicit) = case();
        let dim = curvature.dim();
        for p in 0..2 {
            let damped = dense(&curvature, &explicit, p) + Array2::<f64>::eye(dim) * 0.2;
            let factor = curvature.factor(p, 0.2).unwrap();
            let inverse = factor.solve(Array2::eye(dim).view()).unwrap();
            assert_close(&inverse.dot(&damped), &Array2::eye(dim));
            let root = factor.inverse_sqrt(Array2::eye(dim).view()).unwrap();
            assert_close(&root.dot(&root.t()), &inverse);
            let reference = Cholesky::factorize(damped.view(), &CholeskyParams::strict()).unwrap();
            assert_relative_eq!(factor.log_det(), reference.log_det(), max_relative = 1e-12);
        }
    }
}
