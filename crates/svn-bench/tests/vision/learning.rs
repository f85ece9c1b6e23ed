//! What six methods learn in two epochs, on digits drawn here and, where a mirror has it, on MNIST.

use super::*;

/// Six methods, two epochs, 256 images: every one gets from ln 10 = 2.30 to where it tells most digits of a kind, and
/// its second epoch is better than its first.
fn six_methods_learn(dataset: &str, bound: f64) {
    let out = tempfile::tempdir().unwrap();
    let arguments = format!(
        "--dataset {dataset} --split official --subset 256 --test-subset 200 --epochs 2 --activation relu \
         --batch-size 8 --lr 0.002 --jobs 2 --device cpu --corruption-images 50"
    );
    let (code, stdout, stderr) = finish(&mut svn(&arguments, out.path()));
    assert_eq!(code, 0, "{stderr}");
    let records = records(out.path());
    let method = |record: &Value| record["method"].as_str().unwrap().to_owned();
    let methods: Vec<String> = records.iter().map(method).collect();
    assert_eq!(
        methods,
        [
            "ensemble",
            "wgd",
            "svgd",
            "newton-ensemble",
            "svn",
            "ll-svn"
        ]
    );
    for record in &records {
        let name = method(record);
        let nll = record["metrics"]["nll"].as_f64().unwrap();
        let curve: Vec<f64> = record["curve"]
            .as_array()
            .unwrap()
            .iter()
            .map(|point| point["validation_nll"].as_f64().unwrap())
            .collect();
        eprintln!("{dataset} {name}: test nll {nll:.3}, validation nll {curve:.3?}");
        assert!(nll < bound, "{name}: {nll}");
        assert!(curve[1] < curve[0], "{name}: {curve:?}");
        assert_eq!(record["best_epoch"], 2);
        assert_eq!(record["extra"]["reliability"].as_array().unwrap().len(), 15);
        assert_eq!(record["extra"]["corruption"].as_array().unwrap().len(), 12);
        assert!(stdout.contains(&name));
    }
    let summary = json(&out.path().join("summary.json"));
    let results = summary["results"].as_array().unwrap();
    assert_eq!(results.len(), 6);
    let ll_svn = results
        .iter()
        .find(|row| row["method"] == "ll-svn")
        .unwrap();
    assert_eq!(
        (
            &ll_svn["settings"]["hessian"],
            &ll_svn["settings"]["coupling"]
        ),
        (&"kfac".into(), &"block-diagonal".into())
    );
    let baselines: Vec<_> = ll_svn["versus"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| &v["baseline"])
        .collect();
    assert_eq!(baselines, ["ensemble", "wgd", "svgd", "newton-ensemble"]);
    assert!(ll_svn["cost"]["step_ms"].as_f64().unwrap() > 0.0);
    let name = format!("reliability-{dataset}-256.svg");
    let figure = std::fs::read_to_string(out.path().join(&name)).unwrap();
    assert!(
        methods
            .iter()
            .all(|method| figure.contains(method.as_str()))
    );
    assert!(
        std::fs::read_to_string(out.path().join("report.md"))
            .unwrap()
            .contains(&name)
    );
    assert!(!out.path().join("checkpoints").exists());
}

#[test]
fn six_methods_learn_digits_drawn_here() {
    six_methods_learn("synthetic-digits", 1.9);
}

#[test]
fn six_methods_learn_mnist() {
    let mirror = std::env::var_os("SVN_DATA_MIRROR").map(std::path::PathBuf::from);
    match mirror.filter(|folder| folder.join("mnist").is_dir()) {
        Some(_) => six_methods_learn("mnist", 1.9),
        // To the terminal past the harness, which would swallow it.
        None => {
            use std::io::Write;
            let line =
                "skipped: six_methods_learn_mnist needs SVN_DATA_MIRROR with a folder mnist\n";
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    }
}
