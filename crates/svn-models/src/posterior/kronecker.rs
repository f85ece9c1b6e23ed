//! Kronecker-factored curvature with noise weight and prior, factored particle by particle.
//!
//! ```text
//! H_p = w ⊕_l G_l ⊗ A_l + δ I = ⊕_l (U ⊗ V) (w Λ + δ) (U ⊗ V)ᵀ
//! diag(U ⊗ V diag(Λ) (U ⊗ V)ᵀ) = (U∘U) Λ (V∘V)ᵀ                       as an O × K' matrix
//! ```

use crate::ModelError;
use ndarray::{Array1, Array2, s};
use svn_curvature::{Homogeneous, Kfac, ParticleCurvature};
use svn_linalg::{
    BlockDiagonal, Damped, Factor, FactorError, FactorizeDamped, KroneckerEigen, Scaled,
    SelfAdjoint,
};
use svn_stein::FactoredCurvature;

type Blocks = BlockDiagonal<Homogeneous<KroneckerEigen>>;

/// `H_p` of all particles.
#[derive(Debug)]
pub(super) struct KroneckerCurvature {
    /// `w ⊕ G ⊗ A + δ I` by particle.
    operators: Vec<Damped<Scaled<Blocks>>>,
    /// Diagonals of `⊕ G ⊗ A`, `N × d`.
    diagonals: Array2<f64>,
    weight: f64,
    shift: f64,
}

impl KroneckerCurvature {
    /// `w` times `kfac` plus `δ`; `fan_ins` are those of the layers that it covers.
    pub fn new(
        kfac: &Kfac,
        fan_ins: &[usize],
        weight: f64,
        shift: f64,
    ) -> Result<Self, ModelError> {
        let mut diagonals = Array2::zeros((kfac.particles(), kfac.dim()));
        let mut operators = Vec::with_capacity(kfac.particles());
        for (p, mut diagonal) in diagonals.rows_mut().into_iter().enumerate() {
            let blocks = kfac.blocks(p)?;
            let mut start = 0;
            for (block, fan_in) in blocks.blocks().iter().zip(fan_ins) {
                let entries = homogeneous_diagonal(block.inner());
                let weights = entries.slice(s![.., ..*fan_in]);
                let biases = entries.slice(s![.., *fan_in..]);
                for entry in weights.iter().chain(&biases) {
                    diagonal[start] = *entry;
                    start += 1;
                }
            }
            operators.push(with(blocks, weight, shift)?);
        }
        Ok(Self {
            operators,
            diagonals,
            weight,
            shift,
        })
    }

    /// The same factors under another noise weight.
    pub fn set_weight(&mut self, weight: f64) -> Result<(), ModelError> {
        if weight == self.weight {
            return Ok(());
        }
        for operator in &mut self.operators {
            let blocks = operator.operator().operator().clone();
            *operator = with(blocks, weight, self.shift)?;
        }
        self.weight = weight;
        Ok(())
    }
}

fn with(blocks: Blocks, weight: f64, shift: f64) -> Result<Damped<Scaled<Blocks>>, ModelError> {
    let scaled = Scaled::new(weight, blocks).map_err(svn_curvature::CurvatureError::from)?;
    Ok(Damped::new(scaled, shift).map_err(svn_curvature::CurvatureError::from)?)
}

/// `(U∘U) Λ (V∘V)ᵀ`, outputs × (inputs and 1).
fn homogeneous_diagonal(product: &KroneckerEigen) -> Array2<f64> {
    let (left, right) = product.vectors();
    let square = |x: &f64| x * x;
    left.map(square)
        .dot(&product.spectrum())
        .dot(&right.map(square).t())
}

impl FactoredCurvature for KroneckerCurvature {
    fn particles(&self) -> usize {
        self.operators.len()
    }

    fn dim(&self) -> usize {
        self.diagonals.ncols()
    }

    fn operator(&self, particle: usize) -> Box<dyn SelfAdjoint + '_> {
        // Clones share the eigenbases.
        Box::new(self.operators[particle].clone())
    }

    fn factor(&self, particle: usize, damping: f64) -> Result<Box<dyn Factor + '_>, FactorError> {
        Ok(Box::new(
            self.operators[particle].factorize_damped(damping)?,
        ))
    }

    fn diagonal(&self, particle: usize) -> Array1<f64> {
        self.diagonals
            .row(particle)
            .mapv(|entry| self.weight * entry + self.shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{MlpSettings, initial_particles};
    use approx::assert_relative_eq;
    use ndarray::Array2;
    use svn_curvature::{Accumulate, Activation, KfacAccumulator, Loss, convert};
    use svn_linalg::{Cholesky, CholeskyParams};

    fn case() -> (Kfac, KroneckerCurvature) {
        let network = MlpSettings {
            inputs: 3,
            hidden: vec![4],
            outputs: 3,
            activation: Activation::Tanh,
        }
        .build()
        .unwrap();
        let particles = initial_particles(&network, 2, 1);
        let x = Array2::from_shape_fn((7, 3), |(i, j)| ((3 * i + 5 * j) as f64).sin());
        let linear = network
            .linearize(
                &convert::tensor(particles.view()).unwrap(),
                &convert::tensor(x.view()).unwrap(),
            )
            .unwrap();
        let mut accumulator = KfacAccumulator::new(&linear).unwrap();
        let root = Loss::Categorical.root(linear.outputs()).unwrap();
        accumulator.accumulate(&linear, &root).unwrap();
        let kfac = accumulator.finish().unwrap();
        let mut curvature = KroneckerCurvature::new(&kfac, &[3, 4], 1.0, 0.3).unwrap();
        curvature.set_weight(0.7).unwrap();
        (kfac, curvature)
    }

    #[test]
    fn operator_and_diagonal_are_weight_times_kfac_plus_shift() {
        let (kfac, curvature) = case();
        for p in 0..2 {
            let expected = kfac.dense(p).unwrap() * 0.7 + Array2::<f64>::eye(kfac.dim()) * 0.3;
            let found = curvature.operator(p).to_dense();
            for (a, b) in found.iter().zip(&expected) {
                assert_relative_eq!(a, b, epsilon = 1e-13);
            }
            for (a, b) in curvature.diagonal(p).iter().zip(expected.diag()) {
                assert_relative_eq!(a, b, epsilon = 1e-13);
            }
        }
    }

    #[test]
    fn factor_is_that_of_the_dense_damped_matrix() {
        let (_, curvature) = case();
        for p in 0..2 {
            let dim = curvature.dim();
            let damped = curvature.operator(p).to_dense() + Array2::<f64>::eye(dim) * 0.2;
            let reference = Cholesky::factorize(damped.view(), &CholeskyParams::strict()).unwrap();
            let factor = curvature.factor(p, 0.2).unwrap();
            let eye = Array2::eye(dim);
            let (a, b) = (
                factor.solve(eye.view()).unwrap(),
                reference.solve(eye.view()).unwrap(),
            );
            for (a, b) in a.iter().zip(&b) {
                assert_relative_eq!(a, b, epsilon = 1e-12);
            }
            assert_relative_eq!(factor.log_det(), reference.log_det(), max_relative = 1e-12);
        }
    }
}
