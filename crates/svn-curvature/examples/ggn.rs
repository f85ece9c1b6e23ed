//! The generalised Gauss-Newton matrix of a network: as rows, by Kronecker factors, by its diagonal.
//!
//! ```text
//! cargo run --example ggn
//! ```

use std::error::Error;

use ndarray::Array2;
use svn_curvature::{
    Accumulate, Backend, BatchSlots, KfacAccumulator, Layer, LayeredRows, Loss, Sequential,
};
use svn_linalg::{LinearOperator, ParticleOperators};

fn main() -> Result<(), Box<dyn Error>> {
    let layers = vec![Layer::linear(6, 50), Layer::relu(), Layer::linear(50, 3)];
    let network = Sequential::new(&[6], layers)?;
    let dim = network.layout().dim();
    let weights = Array2::from_shape_fn((1, dim), |(_, i)| 0.3 * (i as f64).sin());
    let x = Array2::from_shape_fn((16, 6), |(i, j)| ((6 * i + j) as f64).cos());

    let samples = Backend::default().samples(&network, x.view())?;
    let linear = samples.linearize(&network, weights.view())?;
    let root = Loss::Categorical.root(linear.outputs())?;

    // Σ_i J_iᵀ S_i S_iᵀ J_i as it is: 16 samples of two rows each, kept as layer inputs and cotangents.
    let mut rows =
        LayeredRows::new(&*linear, 1, 32).ok_or("a layer has several positions a sample")?;
    rows.write(&*linear, root.view(), 0)?;
    let full = rows.curvature(1.0, 1e-3);

    let mut kfac = KfacAccumulator::new(&*linear);
    kfac.accumulate(&*linear, root.view())?;
    let kfac = kfac.finish_for(16.0)?;

    let gradient = linear.vjp(Array2::ones((16, 3)).view().insert_axis(ndarray::Axis(0)))?;
    let g = gradient.row(0);
    println!("{dim} parameters");
    println!(
        "gᵀ H g   rows {:.4}",
        g.dot(&full.operator(0).apply_vec(g)?)
    );
    println!(
        "         Kronecker factors {:.4}",
        g.dot(&kfac.operator(0).apply_vec(g)?)
    );
    println!("trace    rows {:.4}", full.diagonal(0).sum());
    println!("         Kronecker factors {:.4}", kfac.diagonal(0).sum());
    let step = full.factor(0, 1.0)?.solve_vec(g)?;
    println!(
        "damped Gauss-Newton step: length {:.4}",
        step.dot(&step).sqrt()
    );
    Ok(())
}
