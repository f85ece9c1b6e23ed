//! A model that outlives the program: no training data is needed to predict with it.
//!
//! ```text
//! cargo run --example save_and_load
//! ```

use std::error::Error;

use ndarray::{Array1, Array2};
use svn_models::recipe::{Predictive, Recipe};
use svn_models::{Ensemble, Task};

fn main() -> Result<(), Box<dyn Error>> {
    let x = Array2::from_shape_fn((80, 2), |(i, j)| (i as f64 * [0.7, 1.3][j]).cos());
    let y = Array1::from_shape_fn(80, |i| 5000.0 + 900.0 * x[[i, 0]] * x[[i, 1]]);
    // Mixtures of Laplace approximations keep what they need of the training rows' curvature.
    let recipe = Recipe {
        predictive: Some(Predictive::Laplace),
        ..Recipe::default()
    };
    let ensemble = Ensemble::builder()
        .recipe(&recipe)
        .epochs(10)
        .feature_names(&["left", "right"])
        .fit(x.view(), y.view(), Task::Regression)?;

    let folder = std::env::temp_dir().join(format!("svn-model-{}", std::process::id()));
    ensemble.save(&folder)?;
    let read = Ensemble::load(&folder)?;
    assert_eq!(read.predict(x.view())?, ensemble.predict(x.view())?);
    println!(
        "{}: features {:?}, the same predictions to the last bit",
        folder.display(),
        read.feature_names().unwrap_or_default()
    );
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
