//! Files that are cut off, damaged or of another run say so with their name; where they are written.

use std::fs;

use svn_models::stein::{FirstOrder, Method};

use super::*;

#[test]
fn files_that_are_no_whole_checkpoint_say_so_with_their_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ckpt");
    let (_, settings) = cases().swap_remove(0);
    interrupted(&settings, 2, &path);
    let bytes = fs::read(&path).unwrap();
    let message = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        Checkpoint::read(&path).unwrap_err().to_string()
    };
    let file = path.display().to_string();
    let (all, again) = (bytes.len(), "remove it to start anew");
    assert_eq!(
        message(&bytes[..all - 1]),
        format!(
            "checkpoint {file} has {} bytes of {all}; it was cut off or added to; {again}",
            all - 1
        )
    );
    assert_eq!(
        message(&bytes[..10]),
        format!("checkpoint {file} has 10 bytes of 24; it was cut off or added to; {again}")
    );
    let longer = [&bytes[..], b"x"].concat();
    assert!(message(&longer).contains(&format!("has {} bytes of {all}", all + 1)));
    for foreign in [&b"{\"schema\": 1}"[..], b"", b"SVN"] {
        assert!(message(foreign).starts_with(&format!("{file} is no checkpoint")));
    }
    let mut other = bytes.clone();
    other[8] = 9;
    assert!(message(&other).starts_with(&format!(
        "checkpoint {file} has format 9; this program reads 5;"
    )));
    for place in [30, all / 2, all - 1] {
        let mut flipped = bytes.clone();
        flipped[place] ^= 4;
        let expected = format!("checkpoint {file} is damaged: its checksum is another; {again}");
        assert_eq!(message(&flipped), expected);
    }
    fs::remove_file(&path).unwrap();
    let absent = Checkpoint::read(&path).unwrap_err().to_string();
    assert!(
        absent.starts_with(&format!("checkpoint {file}: ")),
        "{absent}"
    );
}

#[test]
fn what_differs_from_the_run_that_wrote_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ckpt");
    let (_, settings) = cases().swap_remove(2);
    let (train, validation) = data(&settings);
    interrupted(&settings, 2, &path);
    let go_on = |settings: &FitSettings, train: &Rows, validation: &Rows| {
        let start = Start::Checkpoint(Box::new(Checkpoint::read(&path).unwrap()));
        fit(settings, train, validation, start, &mut |_: &Epoch<'_>| {
            Ok(Flow::Stop)
        })
    };
    let message = |change: &dyn Fn(&mut FitSettings)| {
        let mut other = settings.clone();
        change(&mut other);
        go_on(&other, &train, &validation).unwrap_err().to_string()
    };
    let file = format!("checkpoint {}", path.display());
    assert_eq!(
        message(&|s| s.seed = 5),
        format!("{file} was made with seed 4; this run has 5")
    );
    assert_eq!(
        message(&|s| s.prior_precision = 0.25),
        format!("{file} was made with prior precision 0.5; this run has 0.25")
    );
    assert_eq!(
        message(&|s| s.epochs = 1),
        format!("{file} was made with epochs 5, of which 2 are done; this run has 1")
    );
    for (name, change) in [
        (
            "curvature",
            (&|s: &mut FitSettings| s.curvature.every = 2) as &dyn Fn(&mut FitSettings),
        ),
        ("batch size", &|s| s.batch_size = 8),
        ("layer precisions", &|s| {
            s.layer_precisions = vec![1.0, 2.0, 1.0]
        }),
        ("particles", &|s| s.particles = 2),
        ("method", &|s| {
            s.method = Method::Ensemble {
                step: FirstOrder::adam(0.1),
            }
        }),
    ] {
        assert!(
            message(change).starts_with(&format!("{file} was made with {name} ")),
            "{name}"
        );
    }
    let other = rows(100, 0, 0.01);
    let error = go_on(&settings, &other, &validation)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with(&format!(
            "{file} was made with other training rows: 100 × 2, checksum"
        )),
        "{error}"
    );
    let error = go_on(&settings, &train, &rows(31, 0, 0.4))
        .unwrap_err()
        .to_string();
    assert!(error.contains("other validation rows: 30 × 2"), "{error}");
    assert!(go_on(&settings, &train, &validation).is_ok());
}

#[test]
fn a_checkpoint_takes_the_place_of_the_last_one_and_leaves_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ckpt");
    let (_, settings) = cases().swap_remove(0);
    interrupted(&settings, 1, &path);
    interrupted(&settings, 3, &path);
    assert_eq!(Checkpoint::read(&path).unwrap().epoch(), 3);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let checkpoint = Checkpoint::read(&path).unwrap();
    let nowhere = folder.path().join("absent").join("run.ckpt");
    let error = checkpoint.write(&nowhere).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("checkpoint {}: ", nowhere.display())),
        "{error}"
    );
}
