//! The performance suite from outside: exit codes, the file, its fields.

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;
use predicates::prelude::*;
use serde_json::Value;

fn perf() -> Command {
    cargo_bin_cmd!("svn-perf")
}

fn is_positive(value: &Value) -> bool {
    value.as_f64().is_some_and(|value| value > 0.0)
}

#[test]
fn a_quick_run_writes_every_field() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.json");
    let peers = folder.path().join("peers.jsonl");
    std::fs::write(
        &peers,
        r#"{"name":"jax_svgd","shape":"yacht","dtype":"f64","median_ms":0.5,"versions":{"jax":"0"}}"#,
    )
    .unwrap();
    perf()
        .args(["--quick", "--shape", "yacht", "--jobs-check", "--json"])
        .arg(&path)
        .arg("--peer-results")
        .arg(&peers)
        .assert()
        .success()
        .stdout(predicate::str::contains("yacht/svgd"));
    let text = std::fs::read_to_string(&path).unwrap();
    let outcome: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(outcome["schema"], 1);
    assert!(is_positive(&outcome["env"]["cores"]));
    assert!(is_positive(&outcome["env"]["roofline"]["bandwidth_gb"]));
    let cases = outcome["cases"].as_array().unwrap();
    assert!(cases.len() >= 8);
    for case in cases {
        let name = &case["id"];
        for field in ["shape", "method", "kernel"] {
            assert!(case[field].is_string(), "{name}: {field}");
        }
        let is_newton = case["method"] == "svn";
        for field in ["hessian", "coupling", "solver"] {
            assert_eq!(case[field].is_string(), is_newton, "{name}: {field}");
        }
        assert_eq!(case["operations"].is_object(), is_newton, "{name}");
        assert_eq!(case["split"]["solve_ms"].is_number(), is_newton, "{name}");
        let (min, median) = (&case["min_ms"], &case["median_ms"]);
        assert!(
            is_positive(min) && min.as_f64() <= median.as_f64(),
            "{name}"
        );
        assert!(median.as_f64() <= case["max_ms"].as_f64(), "{name}");
        // The report of a step alone allocates.
        assert!(is_positive(&case["allocations"]), "{name}");
        if cfg!(target_os = "linux") {
            let empty = outcome["env"]["empty_process_mb"].as_f64().unwrap();
            assert!(case["peak_mb"].as_f64().unwrap() > empty, "{name}");
        }
    }
    let ratio = |name: &str| &outcome["ratios"][name];
    for name in [
        "svn_full_joint/svgd@yacht",
        "svn_block/svgd@yacht",
        "svgd/jax_svgd@yacht",
        "two_folds_parallel/sequential",
    ] {
        assert!(is_positive(ratio(name)), "{name}");
    }
    let svgd = cases
        .iter()
        .find(|case| case["id"] == "yacht/svgd")
        .unwrap();
    assert_eq!(
        ratio("svgd/jax_svgd@yacht").as_f64().unwrap(),
        svgd["median_ms"].as_f64().unwrap() / 0.5
    );
    // Named, but not measured in this run.
    for name in [
        "ensemble/torch_func@yacht",
        "svn_diag_block/svgd@lenet",
        "ll_svn_kfac/svgd@lenet",
    ] {
        let ratios = outcome["ratios"].as_object().unwrap();
        assert_eq!(ratios.get(name), Some(&Value::Null), "{name}");
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "no partial file stays");
}

#[test]
fn bad_arguments_are_named_in_one_line() {
    perf()
        .args(["--shape", "yatch"])
        .assert()
        .code(2)
        .stderr(predicate::str::contains("yatch").and(predicate::str::contains("yacht")));
    perf()
        .args(["--quick", "--peer-results", "no/such/file"])
        .assert()
        .code(2)
        .stderr(predicate::str::starts_with("error: no/such/file: "));
}
