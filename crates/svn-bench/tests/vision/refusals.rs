//! Arguments and files that are refused, and images of one's own.

use svn_bench::data::images::{Synthetic, synthetic};

use super::*;

/// Four sound IDX files of 40 training and 10 test images.
fn write_images(folder: &Path) {
    let set = synthetic(Synthetic::Digits, 40, 10, 0);
    let classes = set.classes();
    for (part, rows) in [("train", 0..40), ("t10k", 40..50)] {
        let count = (rows.len() as u32).to_be_bytes();
        let mut images = [&[0, 0, 8, 3], &count[..], &[0, 0, 0, 28, 0, 0, 0, 28]].concat();
        let mut labels = [&[0, 0, 8, 1], &count[..]].concat();
        for row in rows {
            images.extend(set.pixels().row(row));
            labels.push(classes[row] as u8);
        }
        std::fs::write(folder.join(format!("{part}-images-idx3-ubyte")), images).unwrap();
        std::fs::write(folder.join(format!("{part}-labels-idx1-ubyte")), labels).unwrap();
    }
}

#[test]
fn bad_arguments_are_one_line_and_exit_2() {
    let out = tempfile::tempdir().unwrap();
    let run = "--dataset synthetic-digits --split official";
    for (arguments, message) in [
        (
            String::new(),
            "the following required arguments were not provided: --dataset <NAME>",
        ),
        (
            "--dataset emnist".to_owned(),
            "error: unknown image set `emnist`, did you mean `mnist`?; known: mnist, fashion-mnist, synthetic-digits, synthetic-letters\n",
        ),
        (
            format!("{run} --method sgd"),
            "unknown method `sgd`; known: ensemble, wgd,",
        ),
        (
            format!("{run} --device gpu"),
            "device is gpu; expected cpu, cuda, cuda:INDEX or auto",
        ),
        (
            format!("{run} --device cuda:99"),
            "error: --device cuda:99 was asked for; libtorch finds ",
        ),
        (
            "--dataset mnist --split random".to_owned(),
            "[possible values: paper, official]",
        ),
        (
            format!("{run} --folds 2"),
            "error: --folds is for --split paper; the official split has one test part\n",
        ),
        (
            "--dataset synthetic-digits --folds 6".to_owned(),
            "error: --folds 6: expected 1 to 5\n",
        ),
        (
            format!("{run} --subset 0"),
            "invalid value '0' for '--subset <N>'",
        ),
        (
            format!("{run} --subset 5000"),
            "error: data set `synthetic-digits`: 5000 rows asked for, the learning part has 4000\n",
        ),
        (
            format!("{run} --test-subset 1001"),
            "error: data set `synthetic-digits`: 1001 rows asked for, the test part has 1000\n",
        ),
        (
            format!("{run} --subset 100 --batch-size 81"),
            "error: synthetic-digits, ensemble: batch_size is 81; expected at most the 80 training rows\n",
        ),
        (
            format!("{run} --seeds 0"),
            "invalid value '0' for '--seeds <K>'",
        ),
        (
            format!("{run} --newton-lr nan"),
            "invalid value 'nan' for '--newton-lr <RATE>'",
        ),
        (
            format!("{run} --method svn --lr 0.1 --newton-lr 0.2"),
            "error: svn has one step size: leave out --lr or --newton-lr\n",
        ),
        (
            format!("{run} --activation swish"),
            "expected relu, tanh, sigmoid, gelu",
        ),
        (
            format!("{run} --ll-mode both"),
            "expected joint or pretrained",
        ),
        (
            format!("{run} --low-data"),
            "the argument '--split <NAME>' cannot be used with '--low-data'",
        ),
    ] {
        let (code, _, stderr) = finish(&mut svn(&arguments, out.path()));
        assert_eq!(code, 2, "{arguments}: {stderr}");
        assert!(stderr.contains(message), "{arguments}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{arguments}: {stderr}");
    }
}

#[test]
fn bad_files_are_one_line_and_exit_2() {
    let out = tempfile::tempdir().unwrap();
    let label = "train-labels-idx1-ubyte";
    let image = "t10k-images-idx3-ubyte";
    type Fault<'a> = (&'a str, &'a dyn Fn(&mut Vec<u8>), &'a str);
    let faults: [Fault<'_>; 5] = [
        (
            image,
            &|bytes| bytes[2] = 0x0d,
            "values of type 0x0d, expected unsigned bytes (0x08)",
        ),
        (
            image,
            &|bytes| bytes.truncate(1000),
            "truncated or damaged: 7840 values announced ([10, 28, 28]), 984 found",
        ),
        (
            label,
            &|bytes| {
                bytes[7] -= 1;
                bytes.pop();
            },
            "39 labels for the 40 images of ",
        ),
        (
            label,
            &|bytes| bytes[8 + 17] = 12,
            "label 12 of image 17 (counted from 0), expected 0 to 9",
        ),
        (
            image,
            &|bytes| *bytes = b"<html><body>moved</body></html>".to_vec(),
            "this is an HTML page, not data",
        ),
    ];
    for (name, damage, message) in faults {
        let data = tempfile::tempdir().unwrap();
        write_images(data.path());
        let path = data.path().join(name);
        let mut bytes = std::fs::read(&path).unwrap();
        damage(&mut bytes);
        std::fs::write(&path, bytes).unwrap();
        let mut command = svn("--dataset mnist --split official --no-ood", out.path());
        let (code, _, stderr) = finish(command.arg("--data").arg(data.path()));
        assert_eq!(code, 2, "{stderr}");
        let start = format!("error: {}: ", path.display());
        assert!(
            stderr.starts_with(&start) && stderr.contains(message),
            "{stderr}"
        );
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
    let data = tempfile::tempdir().unwrap();
    let mut command = svn("--dataset mnist --split official", out.path());
    let command = command
        .arg("--data")
        .arg(data.path())
        .env_remove("SVN_DATA_MIRROR");
    let (code, _, stderr) = finish(command);
    assert_eq!((code, stderr.lines().count()), (2, 1), "{stderr}");
    assert!(
        stderr.starts_with("error: image set `mnist` not found: looked for its IDX files"),
        "{stderr}"
    );
    write_images(data.path());
    std::fs::remove_file(data.path().join(label)).unwrap();
    let (code, _, stderr) = finish(command);
    assert_eq!((code, stderr.lines().count()), (2, 1), "{stderr}");
    assert!(
        stderr.contains(&format!("no {label}, {label}.gz,")),
        "{stderr}"
    );
}

/// Images that are sound but not the published ones are used, and every result says so; a foreign set that is not at
/// hand is done without.
#[test]
fn images_of_ones_own_are_used_with_a_warning() {
    let (out, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_images(data.path());
    let mut command = svn(
        "--dataset mnist --split official --method ensemble --epochs 1 --particles 1 --corruption-images 0",
        out.path(),
    );
    command
        .arg("--data")
        .arg(data.path())
        .env_remove("SVN_DATA_MIRROR");
    let (code, _, stderr) = finish(&mut command);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("is not the published file"), "{stderr}");
    // The same files are not taken for the other set.
    assert!(
        stderr.contains(
            "no out-of-distribution score for mnist: image set `fashion-mnist` not found"
        ),
        "{stderr}"
    );
    let record = &records(out.path())[0];
    assert!(record["metrics"].get("ood_auroc").is_none());
    assert_eq!(record["warnings"].as_array().unwrap().len(), 4);
    assert_eq!(
        record["rows"],
        serde_json::json!({"train": 32, "validation": 8, "test": 10})
    );
}
