//! What a fit says and keeps.

use super::*;

#[test]
fn numbers_from_table_to_page() {
    let place = place();
    let folder = place.path();
    let (stdout, stderr) = fit(folder, "houses.csv", "price", "model", &["--epochs", "60"]);
    // What was read, what was left out and why, which task and why.
    assert!(stderr.contains("reading houses.csv"), "{stderr}");
    assert!(stderr.contains("`id`"), "{stderr}");
    assert!(stderr.contains("regression"), "{stderr}");
    assert!(
        stdout.contains("ridge regression") && stdout.contains("mean"),
        "{stdout}"
    );
    assert!(stdout.contains("90 % intervals hold"), "{stdout}");
    let files = ["cost.json", "model.json", "model.safetensors", "table.json"];
    let mut found: Vec<String> = std::fs::read_dir(folder.join("model"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    assert_eq!(found, files);

    done(folder, &["predict", "model", "new.csv", "-o", "out.csv"]);
    let out = read(folder, "out.csv");
    assert_eq!(
        out.lines().next(),
        Some("mean,sd,epistemic_sd,aleatoric_sd,lower,upper,novelty")
    );
    let prices = column(&read(folder, "new.csv"), "price");
    let (mean, lower, upper) = (
        column(&out, "mean"),
        column(&out, "lower"),
        column(&out, "upper"),
    );
    assert_eq!(mean.len(), prices.len());
    let held = (0..40).filter(|&i| lower[i] <= prices[i] && prices[i] <= upper[i]);
    assert!(held.count() >= 25);
    let sd = column(&out, "sd");
    let parts = (column(&out, "epistemic_sd"), column(&out, "aleatoric_sd"));
    for (i, sd) in sd.iter().enumerate() {
        let sum = (parts.0[i].powi(2) + parts.1[i].powi(2)).sqrt();
        assert!((sum / sd - 1.0).abs() < 1e-12 && lower[i] < mean[i] && mean[i] < upper[i]);
    }

    let (stdout, _) = done(
        folder,
        &["evaluate", "model", "new.csv", "--plots", "plots"],
    );
    let rmse = prices
        .iter()
        .zip(&mean)
        .map(|(y, m)| (y - m).powi(2))
        .sum::<f64>()
        / 40.0;
    let shown = stdout.lines().find(|line| line.contains("rmse")).unwrap();
    let value: f64 = shown.split('┆').nth(1).unwrap().trim().parse().unwrap();
    assert!(
        (value / rmse.sqrt() - 1.0).abs() < 0.01,
        "{shown} {}",
        rmse.sqrt()
    );
    for name in ["coverage.svg", "residuals.svg"] {
        assert!(read(folder, &format!("plots/{name}")).starts_with("<svg"));
    }

    let (stdout, _) = done(folder, &["inspect", "model"]);
    assert!(
        stdout.contains("price of houses.csv") && stdout.contains("area"),
        "{stdout}"
    );
    done(folder, &["report", "model"]);
    let page = read(folder, "model/report.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.matches("<svg").count() == 2);
    assert!(
        !page.contains("http")
            || page.matches("http").count() == page.matches("http://www.w3.org").count()
    );
}

#[test]
fn classes_are_written_as_they_were() {
    let place = place();
    let folder = place.path();
    let (stdout, _) = fit(folder, "flowers.csv", "kind", "model", &["--epochs", "40"]);
    assert!(
        stdout.contains("logistic regression") && stdout.contains("base rate"),
        "{stdout}"
    );
    let (out, _) = done(folder, &["predict", "model", "flowers.csv"]);
    let header = out.lines().next().unwrap();
    assert_eq!(
        header,
        "label,p(007),\"p(a \"\"b\"\")\",p(iris),entropy,mutual_information,novelty"
    );
    let rows: Vec<&str> = out.lines().skip(1).collect();
    assert_eq!(rows.len(), 150);
    for kind in ["007,", "\"a \"\"b\"\"\",", "iris,"] {
        assert!(rows.iter().any(|row| row.starts_with(kind)), "{kind}");
    }
    let (stdout, _) = done(folder, &["evaluate", "model", "flowers.csv"]);
    assert!(
        stdout.contains("auroc") && stdout.contains("150 rows"),
        "{stdout}"
    );
}

/// Without validation rows there is nothing to judge by, which is said; everything else works.
#[test]
fn what_rows_left_out_choose_afterwards_is_told() {
    let place = place();
    let folder = place.path();
    for (data, target, setting, told) in [
        (
            "houses.csv",
            "price",
            &["--predictive", "student-t"][..],
            "members are Student t of ",
        ),
        (
            "flowers.csv",
            "kind",
            &["--temperature"][..],
            "logits are divided by ",
        ),
    ] {
        let (stdout, stderr) = fit(folder, data, target, target, setting);
        let line = stdout.lines().find(|line| line.starts_with(told));
        let line = line.unwrap_or_else(|| panic!("{stdout}"));
        // Tails are those of Gaussians: no likelihood is tried.
        assert!(!stderr.contains("tried student-t"), "{stderr}");
        let (inspected, _) = done(folder, &["inspect", target]);
        assert!(inspected.lines().any(|other| other == line), "{inspected}");
        done(folder, &["report", target]);
        assert!(read(folder, &format!("{target}/report.html")).contains(line));
    }
}

#[test]
fn the_evidence_chooses_a_prior_and_all_rows_are_fitted() {
    let place = place();
    let folder = place.path();
    for (data, target, model) in [("houses.csv", "price", "a"), ("flowers.csv", "kind", "b")] {
        let (stdout, stderr) = fit(folder, data, target, model, &["--select", "evidence"]);
        assert!(
            stderr.contains("tried prior precision 0.1: NLL "),
            "{stderr}"
        );
        let told = "warning: all rows were trained on: no row judges the model";
        assert!(stderr.contains(told), "{stderr}");
        let chosen = stdout
            .lines()
            .find(|line| line.starts_with("prior precision "));
        let (chosen, each) = chosen
            .unwrap()
            .split_once("; negative log evidence")
            .unwrap();
        let chosen = chosen.trim_start_matches("prior precision ");
        let each = each.split_once(": ").unwrap().1.split(", ");
        let each: Vec<(&str, f64)> = each
            .map(|one| one.split_once(' ').unwrap())
            .map(|(precision, nll)| (precision, nll.replace('−', "-").parse().unwrap()))
            .collect();
        let best = each.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        assert_eq!((each.len(), chosen), (7, best.0), "{stdout}");
        assert!(
            stdout.contains(" rows fitted, 0 for validation; best epoch 15 of 15"),
            "{stdout}"
        );
        let (stdout, _) = done(folder, &["inspect", model]);
        assert!(
            stdout.contains(&format!("prior precision {chosen};")),
            "{stdout}"
        );
        done(folder, &["predict", model, data, "-o", "out.csv"]);
        done(folder, &["evaluate", model, data]);
        done(folder, &["report", model]);
        let page = read(folder, &format!("{model}/report.html"));
        assert!(page.contains("negative log evidence") && !page.contains("Validation rows"));
    }
    let by_layer = ["--select", "evidence-by-layer", "--prior-precision", "2"];
    let (stdout, stderr) = fit(folder, "houses.csv", "price", "layers", &by_layer);
    assert!(stderr.contains("tried layer precisions "), "{stderr}");
    // 2, and factors of layers if these were better, then both with their evidence.
    let chosen = stdout
        .lines()
        .find(|line| line.starts_with("prior precision 2"));
    let (chosen, each) = chosen
        .unwrap()
        .split_once("; negative log evidence")
        .unwrap();
    let each: Vec<&str> = each.split(", ").collect();
    assert!(
        each.len() >= 3 && each[2].starts_with("by layer "),
        "{each:?}"
    );
    match chosen.strip_prefix("prior precision 2 times ") {
        None => assert_eq!(chosen, "prior precision 2"),
        Some(factors) => {
            let factors = factors.strip_suffix(" by layer").unwrap().replace(',', "/");
            assert!(
                each.iter()
                    .any(|one| one.starts_with(&format!("by layer {factors} "))),
                "{stdout}"
            );
        }
    }
    done(folder, &["predict", "layers", "new.csv", "-o", "l.csv"]);
    let arguments = ["predict", "a", "new.csv", "-o", "c.csv", "--conformal"];
    let (code, _, stderr) = svn(folder, &arguments);
    let told = "needs 9 validation rows or more, the model has 0";
    assert!(code == 2 && stderr.contains(told), "{code} {stderr}");
    let arguments = [
        "fit",
        "houses.csv",
        "--target",
        "price",
        "--select",
        "evidence",
        "--likelihood",
        "mixture",
        "--out",
        "d",
    ];
    let (code, _, stderr) = svn(folder, &arguments);
    let told = "likelihood is mixture beside select = evidence; expected gaussian or student-t";
    assert!(code != 0 && stderr.contains(told), "{code} {stderr}");
    let aside = ["--select", "evidence", "--validation", "0.2", "--out", "e"];
    let arguments = ["fit", "houses.csv", "--target", "price"];
    let (code, _, stderr) = svn(folder, &[&arguments[..], &aside].concat());
    let told = "--validation is beside a --select that sets no rows aside";
    assert!(code == 2 && stderr.contains(told), "{code} {stderr}");
}

#[test]
fn a_model_that_a_line_beats_is_told() {
    let place = place();
    let folder = place.path();
    // One epoch of a first-order method learns next to nothing.
    let (_, stderr) = fit(
        folder,
        "houses.csv",
        "price",
        "model",
        &["--epochs", "1", "--method", "ensemble"],
    );
    assert!(
        stderr.contains("warning: ensemble") && stderr.contains("does not beat ridge regression"),
        "{stderr}"
    );
}

#[test]
fn the_same_request_gives_the_same_bytes_and_another_seed_others() {
    let place = place();
    let folder = place.path();
    for (out, seed) in [("a", "0"), ("b", "0"), ("c", "1")] {
        fit(folder, "houses.csv", "price", out, &["--seed", seed]);
    }
    let bytes = |model: &str, file: &str| std::fs::read(folder.join(model).join(file)).unwrap();
    for file in ["model.json", "model.safetensors", "table.json"] {
        assert_eq!(bytes("a", file), bytes("b", file), "{file}");
        assert_ne!(bytes("a", file), bytes("c", file), "{file}");
    }
}

#[test]
fn a_file_of_options_says_the_same_as_options() {
    let place = place();
    let folder = place.path();
    write(
        folder,
        "fit.toml",
        "target = 'price'\ndrop = ['town']\nepochs = 15\nhidden = [8]\nparticles = 3\nseed = 4\n",
    );
    done(
        folder,
        &["fit", "houses.csv", "--config", "fit.toml", "--out", "a"],
    );
    fit(
        folder,
        "houses.csv",
        "price",
        "b",
        &["--drop", "town", "--seed", "4"],
    );
    assert_eq!(read(folder, "a/model.json"), read(folder, "b/model.json"));
    assert_eq!(read(folder, "a/table.json"), read(folder, "b/table.json"));
    assert!(!read(folder, "a/table.json").contains("Bern"));
}

#[test]
fn groups_and_copies_stay_on_one_side() {
    let place = place();
    let folder = place.path();
    let text = houses(60, 5);
    let twice: String = text
        .lines()
        .chain(text.lines().skip(1))
        .map(|line| format!("{line}\n"))
        .collect();
    // Without the ids, which tell copies apart.
    write(folder, "twice.csv", &twice);
    let (_, stderr) = fit(folder, "twice.csv", "price", "model", &["--drop", "id"]);
    assert!(stderr.contains("60"), "{stderr}");
    let (_, stderr) = fit(
        folder,
        "houses.csv",
        "price",
        "grouped",
        &["--group", "town"],
    );
    assert!(!stderr.contains("error"), "{stderr}");
    let table = read(folder, "grouped/table.json");
    assert!(
        !table.contains("\"column\": \"town\""),
        "a group is no feature"
    );
}
