//! Sound sets in every spelling, and each fault with its message.

use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;
use crate::data::images::{Synthetic, synthetic};

/// IDX bytes of some values.
fn idx(sizes: &[u32], values: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, sizes.len() as u8];
    bytes.extend(sizes.iter().flat_map(|size| size.to_be_bytes()));
    bytes.extend(values);
    bytes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The four files of a set of 12 training and 5 test images, as `(stem, dims, bytes)`.
fn files() -> Vec<(&'static str, usize, Vec<u8>)> {
    let set = synthetic(Synthetic::Digits, 12, 5, 0);
    let (pixels, labels) = (set.pixels(), set.classes());
    let images = |rows: std::ops::Range<usize>| {
        let values: Vec<u8> = rows
            .clone()
            .flat_map(|row| pixels.row(row).to_vec())
            .collect();
        idx(&[rows.len() as u32, 28, 28], &values)
    };
    let classes = |rows: std::ops::Range<usize>| {
        let values: Vec<u8> = rows.clone().map(|row| labels[row] as u8).collect();
        idx(&[rows.len() as u32], &values)
    };
    vec![
        ("train-images", 3, images(0..12)),
        ("train-labels", 1, classes(0..12)),
        ("t10k-images", 3, images(12..17)),
        ("t10k-labels", 1, classes(12..17)),
    ]
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (stem, dims, bytes) in files() {
            folder.put(&format!("{stem}-idx{dims}-ubyte"), &bytes);
        }
        folder
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.0.path().join(name), bytes).unwrap();
    }

    fn load(&self) -> Result<ImageSet, DataError> {
        read_images("mnist", self.0.path())
    }

    /// The message, without the folder.
    fn fault(&self) -> String {
        let text = self.load().unwrap_err().to_string();
        text.replace(&format!("{}/", self.0.path().display()), "")
    }
}

#[test]
fn both_spellings_plain_or_packed_give_the_same_set() {
    let drawn = synthetic(Synthetic::Digits, 12, 5, 0);
    for (joint, pack) in [("-", false), (".", false), ("-", true), (".", true)] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("mnist")).unwrap();
        for (stem, dims, bytes) in files() {
            let end = if pack { ".gz" } else { "" };
            let bytes = if pack { gzip(&bytes) } else { bytes };
            let name = format!("mnist/{stem}{joint}idx{dims}-ubyte{end}");
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        let mut path = SearchPath::default();
        path.push("SVN_DATA_MIRROR", folder.path());
        let set = load_images("mnist", &path).unwrap();
        assert_eq!(set.pixels(), drawn.pixels());
        assert_eq!((set.classes(), set.train), (drawn.classes(), 12));
        assert_eq!(set.sha256, drawn.sha256);
        // Sound, but not the published files: each of the four is told.
        assert_eq!(set.warnings.len(), 4);
        assert!(set.warnings[0].contains("is not the published file (SHA-256 "));
    }
}

#[test]
fn levels_are_scaled_by_255() {
    let set = Folder::new().load().unwrap();
    let (row, level) = (3, set.pixels()[[3, 400]]);
    assert_eq!(set.scaled(&[0, row])[[1, 400]], f64::from(level) / 255.0);
    assert_eq!(set.targets(&[11, 13]).to_vec(), [1.0, 1.0]);
    assert!(!set.is_empty());
}

#[test]
fn faults_name_file_and_row() {
    let labels = "train-labels-idx1-ubyte";
    let folder = Folder::new();
    folder.put(labels, &idx(&[11], &[0; 11]));
    assert_eq!(
        folder.fault(),
        format!(
            "{labels}: 11 labels for the 12 images of train-images-idx3-ubyte; the two files do not belong together"
        )
    );
    let mut twelve = [3; 12];
    twelve[7] = 10;
    folder.put(labels, &idx(&[12], &twelve));
    assert_eq!(
        folder.fault(),
        format!("{labels}: label 10 of image 7 (counted from 0), expected 0 to 9")
    );
    folder.put(labels, &files()[0].2);
    assert_eq!(
        folder.fault(),
        format!("{labels}: 3 dimensions, expected 1; are images and labels swapped?")
    );

    let images = "t10k-images-idx3-ubyte";
    let folder = Folder::new();
    folder.put(images, &idx(&[5, 2, 3], &[0; 30]));
    assert_eq!(
        folder.fault(),
        format!("{images}: images of 2 × 3 pixels, expected 28 × 28")
    );
    folder.put(images, &idx(&[0, 28, 28], &[]));
    assert_eq!(folder.fault(), format!("{images}: no images"));
    folder.put(images, &files()[2].2[..2000]);
    assert_eq!(
        folder.fault(),
        format!("{images}: truncated or damaged: 3920 values announced ([5, 28, 28]), 1984 found")
    );
    folder.put(images, b"\x00\x00\x0d\x03");
    assert_eq!(
        folder.fault(),
        format!("{images}: values of type 0x0d, expected unsigned bytes (0x08)")
    );
    folder.put(images, b"not an image");
    assert!(folder.fault().starts_with(&format!(
        "{images}: not an IDX file: it starts with `6e 6f 74 20`"
    )));
    let packed = gzip(&files()[2].2);
    folder.put(images, &packed[..packed.len() / 2]);
    assert!(folder.fault().starts_with(&format!(
        "{images}: the gzip file ends inside the data, at byte "
    )));
    folder.put(images, b"<!DOCTYPE html><html>");
    assert!(folder.fault().contains("this is an HTML page, not data"));
}

#[test]
fn missing_files_are_said() {
    let folder = Folder::new();
    std::fs::remove_file(folder.0.path().join("t10k-labels-idx1-ubyte")).unwrap();
    assert!(
        folder
            .fault()
            .contains("no t10k-labels-idx1-ubyte, t10k-labels-idx1-ubyte.gz,")
    );
    let empty = tempfile::tempdir().unwrap();
    let mut path = SearchPath::default();
    path.push("SVN_DATA_DIR", empty.path());
    let place = empty.path().display();
    assert_eq!(
        load_images("mnist", &path).unwrap_err().to_string(),
        format!(
            "image set `mnist` not found: looked for its IDX files (train-images-idx3-ubyte and so on, plain or .gz) in \
             {place}/mnist (SVN_DATA_DIR); fetch it with `cargo xtask fetch-data mnist` or name its folder with --data DIR"
        )
    );
}

/// Against the official files where a mirror has them: published checksums, shapes, and the known class counts.
#[test]
fn the_official_files_are_the_published_ones() {
    let Some(mirror) = std::env::var_os("SVN_DATA_MIRROR").map(PathBuf::from) else {
        eprintln!("skipped: no SVN_DATA_MIRROR with mnist and fashion-mnist");
        return;
    };
    for name in ["mnist", "fashion-mnist"] {
        let mut path = SearchPath::default();
        path.push("SVN_DATA_MIRROR", &mirror);
        let Ok(set) = load_images(name, &path) else {
            eprintln!("skipped: no {name} in {}", mirror.display());
            continue;
        };
        assert_eq!(
            (set.len(), set.train, set.warnings.len()),
            (70_000, 60_000, 0)
        );
        let classes = set.classes();
        let count = |class: usize| classes[60_000..].iter().filter(|&&c| c == class).count();
        if name == "mnist" {
            assert_eq!((count(0), count(1), count(5)), (980, 1135, 892));
        } else {
            assert!((0..10).all(|class| count(class) == 1000));
        }
    }
}
