//! Folders of models: what is written over, what is damaged.

use super::*;

#[test]
fn what_is_in_a_folder_is_not_lost() {
    let place = place();
    let folder = place.path();
    fit(folder, "houses.csv", "price", "model", &[]);
    let before = read(folder, "model/table.json");
    let again = [
        "fit",
        "houses.csv",
        "--target",
        "rooms",
        "--out",
        "model",
        "--epochs",
        "1",
    ];
    let (code, _, stderr) = svn(folder, &again);
    assert!(code == 2 && stderr.contains("--overwrite"), "{stderr}");
    assert_eq!(read(folder, "model/table.json"), before);
    done(folder, &[&again[..], &["--overwrite"]].concat());
    assert_ne!(read(folder, "model/table.json"), before);
    std::fs::create_dir(folder.join("mine")).unwrap();
    write(folder, "mine/thesis.tex", "\\begin");
    let into = [
        "fit",
        "houses.csv",
        "--target",
        "price",
        "--out",
        "mine",
        "--overwrite",
    ];
    let (code, _, stderr) = svn(folder, &into);
    assert!(
        code == 2 && stderr.contains("holds something else"),
        "{stderr}"
    );
    assert_eq!(std::fs::read_dir(folder.join("mine")).unwrap().count(), 1);
}

#[test]
fn a_table_that_is_none_leaves_no_folder() {
    let place = place();
    let folder = place.path();
    for target in ["prize", "id"] {
        let into = [
            "fit",
            "houses.csv",
            "--target",
            target,
            "--drop",
            "area,rooms,town,garden,price",
            "--out",
            "m",
        ];
        let (code, _, stderr) = svn(folder, &into);
        assert_eq!(code, 2, "{stderr}");
        assert_eq!(
            stderr.lines().last().unwrap().matches("error").count(),
            1,
            "{stderr}"
        );
        assert!(!folder.join("m").exists());
    }
    let (_, _, stderr) = svn(
        folder,
        &["fit", "houses.csv", "--target", "prize", "--out", "m"],
    );
    assert!(stderr.contains("price"), "{stderr}");
}

#[test]
fn damaged_models_are_one_line() {
    let place = place();
    let folder = place.path();
    fit(folder, "houses.csv", "price", "model", &[]);
    let table = read(folder, "model/table.json");
    let json = read(folder, "model/model.json");
    let weights = std::fs::read(folder.join("model/model.safetensors")).unwrap();
    let refused = |part: &str| {
        for arguments in [
            ["predict", "model", "new.csv"].as_slice(),
            &["evaluate", "model", "new.csv"],
            &["inspect", "model"],
            &["report", "model"],
        ] {
            let (code, stdout, stderr) = svn(folder, arguments);
            assert_ne!(code, 0, "{arguments:?}");
            assert_eq!(stdout, "");
            assert!(
                stderr.contains(part) && stderr.lines().count() == 1,
                "{part}: {stderr}"
            );
            assert!(stderr.len() < 300, "{stderr}");
        }
    };
    write(folder, "model/table.json", &table[..table.len() / 2]);
    refused("table.json is damaged");
    write(
        folder,
        "model/table.json",
        table.replacen("\"version\": 1", "\"version\": 2", 1),
    );
    refused("version 2");
    write(folder, "model/table.json", &table);
    write(
        folder,
        "model/model.json",
        json.replacen("\"epochs\": 15", "\"epochs\": 16", 1),
    );
    refused("not of the model.json");
    write(folder, "model/model.json", &json);
    write(
        folder,
        "model/model.safetensors",
        &weights[..weights.len() - 3],
    );
    refused("damaged");
    write(folder, "model/model.safetensors", &weights);
    done(folder, &["inspect", "model"]);
}

/// Bytes changed, cut off, put in: a model is data, and what is none is one line.
#[test]
fn mutated_models_are_refused_or_predict() {
    let place = place();
    let folder = place.path();
    fit(folder, "houses.csv", "price", "model", &[]);
    let files = ["table.json", "model.json", "model.safetensors"];
    let whole = files.map(|file| std::fs::read(folder.join("model").join(file)).unwrap());
    let mut numbers = super::table::Numbers::new(7);
    let mut refused = 0;
    for case in 0..90 {
        let (file, bytes) = (files[case % 3], &whole[case % 3]);
        let mut bytes = bytes.clone();
        let at = numbers.below(bytes.len());
        match numbers.below(4) {
            0 => bytes[at] ^= 1 << numbers.below(8),
            1 => bytes.truncate(at),
            2 => bytes.insert(at, b"0-9{}[],\"\0"[numbers.below(9)]),
            _ => drop(bytes.drain(at..(at + 9).min(bytes.len()))),
        }
        write(folder, &format!("model/{file}"), &bytes);
        let (code, stdout, stderr) = svn(folder, &["predict", "model", "new.csv"]);
        write(folder, &format!("model/{file}"), &whole[case % 3]);
        if code == 0 {
            assert_eq!(stdout.lines().count(), 41);
            continue;
        }
        refused += 1;
        assert!(
            stderr.starts_with("error: ") && stderr.lines().count() == 1,
            "{file}: {stderr}"
        );
        assert!(stderr.len() <= 300 && stdout.is_empty(), "{file}: {stderr}");
    }
    assert!(refused > 60, "{refused}");
}
