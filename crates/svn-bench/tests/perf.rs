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

fn case_of<'a>(cases: &'a [Value], id: &str) -> &'a Value {
    cases.iter().find(|case| case["id"] == id).unwrap()
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
        .args(["--quick", "--shape", "yacht", "--json"])
        .arg(&path)
        .arg("--peer-results")
        .arg(&peers)
        .assert()
        .success()
        .stdout(
            predicate::str::contains("yacht/svgd").and(predicate::str::contains("jax_svgd (f64)")),
        );
    let text = std::fs::read_to_string(&path).unwrap();
    let outcome: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(outcome["schema"], 3);
    assert!(is_positive(&outcome["machine"]["cores"]));
    let cases = outcome["cases"].as_array().unwrap();
    assert!(cases.len() >= 8);
    for case in cases {
        let name = case["id"].as_str().unwrap();
        let is_newton = name.contains("/svn/");
        assert_eq!(case["operations"].is_object(), is_newton, "{name}");
        let step = &case["step_ms"];
        let (min, median) = (&step["min"], step["median"].as_f64());
        assert!(is_positive(min) && min.as_f64() <= median, "{name}");
        assert!(median <= step["max"].as_f64(), "{name}");
        // The report of a step alone allocates.
        assert!(is_positive(&case["allocations"]), "{name}");
    }
    let kfac = &case_of(cases, "yacht/svn/kfac/gram/ring-8/curvature")["operations"];
    assert!(is_positive(&kfac["products"]) && is_positive(&kfac["factors"]));
    assert_eq!(kfac["route"], "decoupled");
    let figure = |name: &str| {
        let figures = outcome["figures"].as_array().unwrap();
        figures
            .iter()
            .find(|figure| figure["name"] == name)
            .unwrap()
    };
    for (name, wanted) in [
        ("svn_joint_ring ms@yacht", 1.5),
        ("svn_block ms@yacht", 10.0),
        ("svgd/jax_svgd@yacht", 0.4),
    ] {
        assert!(is_positive(&figure(name)["found"]), "{name}");
        assert_eq!(figure(name)["wanted"], wanted, "{name}");
    }
    let svgd = &case_of(cases, "yacht/svgd")["step_ms"]["median"];
    assert_eq!(
        figure("svgd/jax_svgd@yacht")["found"].as_f64().unwrap(),
        svgd.as_f64().unwrap() / 0.5
    );
    // Named, but not measured in this run.
    for name in ["ensemble/torch_func@yacht", "ll_svn_kfac/svgd@lenet"] {
        assert_eq!(figure(name)["found"], Value::Null, "{name}");
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
    let folder = tempfile::tempdir().unwrap();
    let peers = folder.path().join("peers.jsonl");
    std::fs::write(&peers, "\n{\"name\":1}\n").unwrap();
    perf()
        .args(["--quick", "--peer-results"])
        .arg(&peers)
        .assert()
        .code(2)
        .stderr(predicate::str::contains("peers.jsonl: line 2: "));
}
