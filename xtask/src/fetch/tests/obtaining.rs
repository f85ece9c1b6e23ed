//! The ways a set is obtained, and what is said when that fails.

use super::*;

const GOOD: &str = "x,y\n1,2\n3,4.5\n";

fn obtained(set: &Dataset, data: &Path, mirror: Option<&Path>) -> Result<Origin> {
    obtain(
        set,
        &Sources {
            data,
            bundled: Path::new("/nowhere"),
            mirror,
            offline: true,
        },
    )
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn from_a_mirror_plain_or_gzip_then_from_the_cache() {
    for packed in [false, true] {
        let (mirror, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = mirror
            .path()
            .join(if packed { "tiny.csv.gz" } else { "tiny.csv" });
        if packed {
            let mut gzip = flate2::write::GzEncoder::new(
                fs::File::create(&file).unwrap(),
                flate2::Compression::fast(),
            );
            gzip.write_all(GOOD.as_bytes()).unwrap();
            gzip.finish().unwrap();
        } else {
            fs::write(&file, GOOD).unwrap();
        }
        let set = set("format = \"whitespace\"");
        assert_eq!(
            obtained(&set, data.path(), Some(mirror.path())).unwrap(),
            Origin::Mirror(file)
        );
        assert_eq!(
            fs::read_to_string(data.path().join("tiny.csv")).unwrap(),
            GOOD
        );
        assert_eq!(obtained(&set, data.path(), None).unwrap(), Origin::Cache);
        assert_eq!(names(data.path()), ["tiny.csv"]);
    }
}

#[test]
fn a_wrong_mirror_file_is_kept_aside_and_overwrites_nothing() {
    let (mirror, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(mirror.path().join("tiny.csv"), "x,y\n1,2\n").unwrap();
    fs::write(data.path().join("tiny.csv"), "old").unwrap();
    let set = set("format = \"whitespace\"");
    let error = obtained(&set, data.path(), Some(mirror.path())).unwrap_err();
    let (file, kept) = (
        mirror.path().join("tiny.csv"),
        data.path().join("tiny.csv.rejected"),
    );
    assert_eq!(
        format!("{error:#}"),
        format!(
            "{}: checksum differs\n  expected sha-256 {}\n  received sha-256 {}\n  kept as {}",
            file.display(),
            set.sha256,
            checksum::of_bytes(b"x,y\n1,2\n"),
            kept.display()
        )
    );
    assert!(error.is::<BadInput>());
    assert_eq!(
        fs::read_to_string(data.path().join("tiny.csv")).unwrap(),
        "old"
    );
    assert_eq!(fs::read_to_string(kept).unwrap(), "x,y\n1,2\n");
}

#[test]
fn a_damaged_cached_file_is_replaced() {
    let (mirror, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(mirror.path().join("tiny.csv"), GOOD).unwrap();
    fs::write(data.path().join("tiny.csv"), "x,y\n1,2\n3,4").unwrap();
    let origin = obtained(
        &set("format = \"whitespace\""),
        data.path(),
        Some(mirror.path()),
    )
    .unwrap();
    assert!(matches!(origin, Origin::Mirror(_)));
    assert_eq!(
        fs::read_to_string(data.path().join("tiny.csv")).unwrap(),
        GOOD
    );
}

#[test]
fn a_mirror_without_the_set_or_with_a_damaged_gzip_file() {
    let (mirror, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let set = set("format = \"whitespace\"");
    let text = obtained(&set, data.path(), Some(mirror.path()))
        .unwrap_err()
        .to_string();
    assert_eq!(
        text,
        format!(
            "the mirror {} has neither tiny.csv nor tiny.csv.gz",
            mirror.path().display()
        )
    );
    fs::write(mirror.path().join("tiny.csv.gz"), b"\x1f\x8b\x08\0half").unwrap();
    let text = obtained(&set, data.path(), Some(mirror.path()))
        .unwrap_err()
        .to_string();
    assert!(text.contains("tiny.csv.gz: damaged gzip file"), "{text}");
}

#[test]
fn a_page_in_a_mirror_is_called_so_whatever_its_name() {
    let (mirror, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = mirror.path().join("tiny.csv.gz");
    fs::write(&file, "\n<html><title>Not found</title></html>").unwrap();
    let set = set("format = \"whitespace\"");
    let text = format!(
        "{:#}",
        obtained(&set, data.path(), Some(mirror.path())).unwrap_err()
    );
    let expected = format!(
        "{}: a web page (HTML) instead of data\n  kept as ",
        file.display()
    );
    assert!(text.starts_with(&expected), "{text}");
}

#[test]
fn offline_says_what_is_missing() {
    let data = tempfile::tempdir().unwrap();
    let text = obtained(&set("format = \"whitespace\""), data.path(), None)
        .unwrap_err()
        .to_string();
    assert_eq!(
        text,
        format!(
            "not in {} and --offline forbids downloading it; {}",
            data.path().display(),
            download::HINT
        )
    );
}

#[test]
fn a_download_that_converts_to_something_else_is_kept_aside() {
    let data = tempfile::tempdir().unwrap();
    let set = set("format = \"whitespace\"");
    let target = data.path().join("tiny.csv");
    let text = convert_and_store(&set, b"1 2\n3 4.25\n", &target)
        .unwrap_err()
        .to_string();
    let expected = format!(
        "tiny.csv, as converted: checksum differs\n  expected sha-256 {}\n  received sha-256 {}\n  the download was kept as {}",
        set.sha256,
        checksum::of_bytes(b"x,y\n1,2\n3,4.25\n"),
        data.path().join("raw.dat.rejected").display()
    );
    assert_eq!(text, expected);
    assert_eq!(names(data.path()), ["raw.dat.rejected"]);
    let text = convert_and_store(&set, b"1 2\nthree 4.5\n", &target)
        .unwrap_err()
        .to_string();
    assert!(
        text.starts_with(
            "https://example.org/raw.dat: row 2, column `x`: `three` is not a number\n"
        ),
        "{text}"
    );
}

fn real_mirror() -> Option<PathBuf> {
    let folder = std::env::var_os("SVN_DATA_MIRROR")
        .map(PathBuf::from)
        .filter(|folder| folder.is_dir());
    if folder.is_none() {
        eprintln!("left out: SVN_DATA_MIRROR names no folder");
    }
    folder
}

fn real_manifest() -> Manifest {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    Manifest::read(&root.join("datasets/manifest.toml")).unwrap()
}

/// With SVN_DATA_MIRROR set, every set of the project passes through the mirror as it is.
#[test]
fn the_real_mirror_fits_the_manifest() {
    let Some(mirror) = real_mirror() else { return };
    let manifest = real_manifest();
    for set in manifest
        .datasets()
        .filter(|set| mirror::find(&mirror, set).is_some())
    {
        let (file, text) = mirror::read(&mirror, set).unwrap();
        store::verify(&text, &set.sha256, &file).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(
            text.lines().next().unwrap(),
            set.columns.join(","),
            "{}",
            set.name
        );
        assert_eq!(text.lines().count(), set.rows + 1, "{}", set.name);
        for cell in text.lines().skip(1).flat_map(|line| line.split(',')) {
            assert_eq!(
                number::shortest(cell.parse().unwrap()),
                cell,
                "{}",
                set.name
            );
        }
    }
}

/// The converted sets of the mirror, laid out as the manifest says the official files are, convert back.
#[test]
fn every_text_layout_of_the_manifest_converts_back() {
    let Some(mirror) = real_mirror() else { return };
    let manifest = real_manifest();
    let with_text = |set: &&Dataset| {
        set.raw.format != manifest::Format::Workbook && mirror::find(&mirror, set).is_some()
    };
    for set in manifest.datasets().filter(with_text) {
        let text = String::from_utf8(mirror::read(&mirror, set).unwrap().1).unwrap();
        let raw = laid_out(set, &text);
        let raw = match &set.raw.member {
            Some(name) => zip_of(&[(name, &raw)]),
            None => raw.into_bytes(),
        };
        assert!(converted(set, &raw) == text, "{}", set.name);
    }
}

/// A converted file in the layout of its official one, with something in the columns to drop.
fn laid_out(set: &Dataset, text: &str) -> String {
    let separator = set.raw.delimiter.map_or(
        if set.raw.format == manifest::Format::Arff {
            ","
        } else {
            "  "
        }
        .into(),
        String::from,
    );
    let label = |cell: &str| {
        set.raw
            .labels
            .iter()
            .find(|(_, class)| class.to_string() == cell)
            .map_or(cell.into(), |(name, _)| name.clone())
    };
    let line = |cells: &[String]| {
        let cell = |name: &String| match set.columns.iter().position(|other| other == name) {
            Some(column) => cells[column].clone(),
            None => "\"dropped here\"".to_string(),
        };
        set.raw_columns()
            .iter()
            .map(cell)
            .collect::<Vec<_>>()
            .join(&separator)
            + "\r\n"
    };
    let mut out = String::from(if set.raw.format == manifest::Format::Arff {
        "@relation r\n@data\n"
    } else {
        ""
    });
    if set.raw.header {
        out += &line(&set.columns);
    }
    for (i, row) in text.lines().skip(1).enumerate() {
        let mut cells: Vec<String> = row.split(',').map(str::to_string).collect();
        let target = cells.len() - 1;
        cells[target] = label(&cells[target]);
        out += &line(&cells);
        if let Some(missing) = set.raw.missing.as_ref().filter(|_| i % 50 == 0) {
            cells[i % target] = missing.clone();
            out += &line(&cells);
        }
    }
    out
}
