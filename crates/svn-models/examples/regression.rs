//! A number with its uncertainty, from arrays in their own units.
//!
//! ```text
//! cargo run --example regression
//! ```

use std::error::Error;

use ndarray::{Array1, Array2};
use svn_models::{Ensemble, Task};

fn main() -> Result<(), Box<dyn Error>> {
    // Prices around 300 000 of flats of 30 to 130 square metres; the larger, the more they differ.
    let area = |i: usize| 30.0 + 100.0 * (i as f64 * 0.618).fract();
    let x = Array2::from_shape_fn((200, 1), |(i, _)| area(i));
    let y = Array1::from_shape_fn(200, |i| {
        3000.0 * area(i) + 400.0 * area(i) * (i as f64 * 12.9898).sin()
    });

    let ensemble = Ensemble::builder()
        .epochs(20)
        .fit(x.view(), y.view(), Task::Regression)?;

    // Inside what was seen, and far outside.
    let new = Array2::from_shape_vec((3, 1), vec![40.0, 120.0, 400.0])?;
    let prediction = ensemble.predict(new.view())?;
    let (low, high) = prediction.interval(0.9)?;
    println!("    m²      mean   members disagree     noise   90 % between");
    for i in 0..3 {
        println!(
            "{:6.0} {:9.0} {:18.0} {:9.0}   {:.0} and {:.0}",
            new[[i, 0]],
            prediction.mean()[i],
            prediction.epistemic_sd()[i],
            prediction.aleatoric_sd()[i],
            low[i],
            high[i]
        );
    }
    let training = ensemble.training();
    println!(
        "{} rows fitted, {} for validation, NLL {:.3} nats",
        training.train_rows, training.validation_rows, training.validation_nll
    );
    Ok(())
}
