//! Networks of one's own: layers as PyTorch prints them, with a head of one's own, and with a convolution.
//!
//! ```text
//! cargo run --example own_network
//! ```

use std::error::Error;

use ndarray::{Array1, Array2};
use svn_models::curvature::Layer;
use svn_models::recipe::Method;
use svn_models::{Ensemble, Task};

fn layers(text: &str) -> Result<Vec<Layer>, Box<dyn Error>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(str::parse).collect::<Result<_, _>>()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let x = Array2::from_shape_fn((120, 3), |(i, j)| (i as f64 * [0.31, 0.77, 1.9][j]).sin());
    let y = Array1::from_shape_fn(120, |i| 10.0 + x[[i, 0]] * x[[i, 1]] - x[[i, 2]]);

    // A narrow head: two features, and from these mean and log variance.
    let narrow = layers(
        "Linear(in_features=3, out_features=32, bias=True)
         Tanh()
         Linear(in_features=32, out_features=2, bias=True)
         Tanh()
         Linear(in_features=2, out_features=2, bias=True)",
    )?;
    let ensemble = Ensemble::builder().layers(&[3], narrow).epochs(10).fit(
        x.view(),
        y.view(),
        Task::Regression,
    )?;
    println!(
        "narrow head: {} parameters a member",
        ensemble.members().particles().ncols()
    );

    // Images of 8 × 8: bright above or below. Convolutions are evaluated by libtorch.
    let convolution = layers(
        "Conv2d(1, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
         ReLU()
         MaxPool2d(kernel_size=2, stride=2, padding=0)
         Flatten()
         Linear(in_features=64, out_features=1, bias=True)",
    )?;
    let images = Array2::from_shape_fn((80, 64), |(i, pixel)| {
        let above = pixel < 32;
        f64::from(above == (i % 2 == 0)) + 0.3 * ((i * 64 + pixel) as f64).sin()
    });
    let classes = Array1::from_shape_fn(80, |i| (i % 2) as f64);
    let fitted = Ensemble::builder()
        .method(Method::LlSvn)
        .layers(&[1, 8, 8], convolution)
        .epochs(5)
        .fit(images.view(), classes.view(), Task::Classification);
    match fitted {
        Ok(ensemble) => {
            let found = ensemble.predict_classes(images.view())?.most_probable();
            let right = found
                .iter()
                .enumerate()
                .filter(|(i, class)| i % 2 == **class);
            println!("convolution: {} of 80 right", right.count());
        }
        // A build without libtorch says so.
        Err(error) => println!("convolution: {error}"),
    }
    Ok(())
}
