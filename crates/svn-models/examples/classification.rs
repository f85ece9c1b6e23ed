//! Classes by name: probabilities, and how much of the doubt the members share.
//!
//! ```text
//! cargo run --example classification
//! ```

use std::error::Error;

use ndarray::{Array2, array};
use svn_models::Ensemble;

fn main() -> Result<(), Box<dyn Error>> {
    // Three kinds of flowers by the length and the width of a petal, cm.
    let kinds = [
        ("small", [1.4, 0.2]),
        ("middle", [4.3, 1.3]),
        ("large", [5.6, 2.0]),
    ];
    let x = Array2::from_shape_fn((150, 2), |(i, j)| {
        kinds[i % 3].1[j] * (1.0 + 0.12 * (i as f64 * [12.9898, 78.233][j]).sin())
    });
    let labels: Vec<&str> = (0..150).map(|i| kinds[i % 3].0).collect();

    let ensemble = Ensemble::builder()
        .epochs(20)
        .fit_labels(x.view(), &labels)?;

    let new = array![[1.5, 0.25], [4.95, 1.65], [20.0, 0.0]];
    let prediction = ensemble.predict_classes(new.view())?;
    let (entropy, disagreement) = (prediction.entropy(), prediction.mutual_information());
    for (i, label) in ensemble.classify(new.view())?.iter().enumerate() {
        let probabilities = prediction.mean_probability();
        let each: Vec<_> = ensemble
            .labels()
            .iter()
            .zip(probabilities.row(i))
            .map(|(label, probability)| format!("{label} {probability:.3}"))
            .collect();
        println!(
            "{}: {label} ({}), entropy {:.3} nats, of which members disagree {:.3}",
            new.row(i),
            each.join(", "),
            entropy[i],
            disagreement[i]
        );
    }
    Ok(())
}
