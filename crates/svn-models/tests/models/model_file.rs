//! Models on disk: what is read predicts to the last bit what was written, and what is not whole says so.

use std::fs;
use std::path::Path;

use ndarray::{Array1, Array2};
use svn_models::recipe::{Method, Predictive, Recipe};
use svn_models::{Builder, Ensemble, Task};

fn rows() -> (Array2<f64>, Array1<f64>) {
    // Numbers whose shortest text is long.
    let awkward = [
        1.577_777_777_777_000_1,
        117.633_311_394_000_17,
        0.921_568_632_125_854_5,
    ];
    let x = Array2::from_shape_fn((50, 3), |(i, j)| {
        awkward[j] * (1.0 + (i as f64 * 0.37).sin())
    });
    let y = Array1::from_shape_fn(50, |i| awkward[1] * x[[i, 0]] + (i as f64).cos());
    (x, y)
}

fn quick<'o>(predictive: Predictive) -> Builder<'o> {
    let recipe = Recipe {
        predictive: Some(predictive),
        temperature: Some(true),
        ..Recipe::default()
    };
    Ensemble::builder()
        .recipe(&recipe)
        .epochs(3)
        .particles(2)
        .hidden(&[6])
}

#[test]
fn what_is_read_predicts_what_was_written() {
    let (x, y) = rows();
    let folder = tempfile::tempdir().unwrap();
    let classes = Array1::from_shape_fn(50, |i| (i % 3) as f64 - 1.0);
    for method in Method::ALL {
        for predictive in [Predictive::Moments, Predictive::Laplace, Predictive::Fill] {
            let place = folder.path().join("numbers");
            let written = quick(predictive)
                .method(method)
                .feature_names(&["length", "width", "height"])
                .fit(x.view(), y.view(), Task::Regression)
                .unwrap();
            written.save(&place).unwrap();
            let read = Ensemble::load(&place).unwrap();
            assert_eq!(
                read.predict(x.view()).unwrap(),
                written.predict(x.view()).unwrap(),
                "{method}"
            );
            assert_eq!(read.settings(), written.settings());
            assert_eq!(read.members().particles(), written.members().particles());
            let nll = [&read, &written].map(|ensemble| ensemble.training().validation_nll);
            assert_eq!(nll[0].to_bits(), nll[1].to_bits());
            assert_eq!(read.feature_names().unwrap(), ["length", "width", "height"]);

            // Over one that is there.
            let written = quick(predictive)
                .method(method)
                .fit(x.view(), classes.view(), Task::Classification)
                .unwrap();
            written.save(&place).unwrap();
            let read = Ensemble::load(&place).unwrap();
            assert_eq!(
                read.predict_classes(x.view()).unwrap(),
                written.predict_classes(x.view()).unwrap()
            );
            assert_eq!(read.labels(), ["-1", "0", "1"]);
        }
    }
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing is left beside the model");
}

fn saved(folder: &Path) {
    let (x, y) = rows();
    let ensemble = quick(Predictive::Moments).fit(x.view(), y.view(), Task::Regression);
    ensemble.unwrap().save(folder.join("model")).unwrap();
}

#[test]
fn what_is_not_whole_says_so() {
    let folder = tempfile::tempdir().unwrap();
    saved(folder.path());
    let (json, tensors) = (
        folder.path().join("model/model.json"),
        folder.path().join("model/model.safetensors"),
    );
    let (text, bytes) = (
        fs::read_to_string(&json).unwrap(),
        fs::read(&tensors).unwrap(),
    );
    let said = |new_text: &str, new_bytes: &[u8]| {
        fs::write(&json, new_text).unwrap();
        fs::write(&tensors, new_bytes).unwrap();
        let said = Ensemble::load(folder.path().join("model"))
            .unwrap_err()
            .to_string();
        assert!(!said.contains('\n') && said.contains("model"), "{said}");
        said
    };
    let other_sum = |bytes: &[u8]| {
        let line = text
            .lines()
            .find(|line| line.contains("tensors_crc32"))
            .unwrap();
        text.replace(
            line,
            &format!("  \"tensors_crc32\": {}", crc32fast::hash(bytes)),
        )
    };
    assert!(said(&text[..text.len() / 2], &bytes).contains("model.json is damaged: EOF"));
    assert!(said("hello", &bytes).contains("model.json is damaged"));
    let newer = text.replace("\"schema\": 1", "\"schema\": 7");
    assert!(said(&newer, &bytes).contains("has schema 7, this program reads 1 to 2"));
    let strange = text.replace("\"method\"", "\"manner\"");
    assert!(said(&strange, &bytes).contains("unknown field `manner`"));
    let cut = &bytes[..bytes.len() - 8];
    assert!(said(&text, cut).contains("not the one that model.json describes"));
    assert!(said(&other_sum(cut), cut).contains("model.safetensors is damaged"));
    // A header that asks for terabytes.
    let mut huge = bytes.clone();
    huge[..8].copy_from_slice(&(1u64 << 42).to_le_bytes());
    assert!(said(&other_sum(&huge), &huge).contains("model.safetensors is damaged"));
    // Weights of another network.
    let wide = text.replacen("6\n", "7\n", 1);
    assert!(wide != text && said(&wide, &bytes).contains("damaged: particles has shape"));
    let wider = text.replace("\"features\": 3", "\"features\": 4");
    assert!(said(&wider, &bytes).contains("features and their scaling differ"));
    let nan = bytes.len() - 8;
    let mut hole = bytes.clone();
    hole[nan..].copy_from_slice(&f64::NAN.to_le_bytes());
    assert!(said(&other_sum(&hole), &hole).contains("not finite"));
    fs::write(&json, &text).unwrap();
    fs::remove_file(&tensors).unwrap();
    assert!(
        Ensemble::load(folder.path().join("model"))
            .unwrap_err()
            .to_string()
            .contains("model.safetensors: ")
    );
}

#[test]
fn a_folder_that_holds_something_else_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.txt"), "years").unwrap();
    let (x, y) = rows();
    let ensemble = quick(Predictive::Moments)
        .fit(x.view(), y.view(), Task::Regression)
        .unwrap();
    let error = ensemble.save(folder.path()).unwrap_err().to_string();
    assert!(
        error.ends_with("is there and holds no model.json; choose another folder"),
        "{error}"
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("thesis.txt")).unwrap(),
        "years"
    );
    // An empty one is as good as none, and so is a path that is not there yet.
    let empty = tempfile::tempdir().unwrap();
    ensemble.save(empty.path().join("deep/er")).unwrap();
    fs::create_dir(empty.path().join("new")).unwrap();
    ensemble.save(empty.path().join("new")).unwrap();
    Ensemble::load(empty.path().join("new")).unwrap();
}
