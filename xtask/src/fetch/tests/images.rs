//! Image sets from a mirror in every spelling, from the cache, and what is refused.

use super::*;
use crate::failure::BadInput;
use std::io::Write;

const IMAGES: &[u8] = b"\0\0\x08\x03 images";
const LABELS: &[u8] = b"\0\0\x08\x01 labels";

fn images() -> Images {
    let text = format!(
        "schema = 1\n[[images]]\nname = \"tiny\"\ntitle = \"T\"\nlicence = \"L\"\nurls = []\n\
         [[images.file]]\nstem = \"train-images\"\ndims = 3\nitems = 7\nmd5 = \"\"\nsha256 = \"{}\"\n\
         [[images.file]]\nstem = \"train-labels\"\ndims = 1\nitems = 7\nmd5 = \"\"\nsha256 = \"{}\"\n",
        checksum::of_bytes(IMAGES),
        checksum::of_bytes(LABELS)
    );
    toml::from_str(&text).unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn obtained(data: &Path, mirror: Option<&Path>) -> Result<Origin> {
    let sources = Sources {
        data,
        bundled: Path::new("/nowhere"),
        mirror,
        offline: true,
    };
    obtain(images().find("tiny").unwrap(), &sources)
}

fn mirror(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let mirror = tempfile::tempdir().unwrap();
    fs::create_dir(mirror.path().join("tiny")).unwrap();
    for (name, bytes) in files {
        fs::write(mirror.path().join("tiny").join(name), bytes).unwrap();
    }
    mirror
}

#[test]
fn from_a_mirror_in_any_spelling_then_from_the_cache() {
    let packed = gzip(IMAGES);
    for (name, bytes) in [
        ("train-images-idx3-ubyte", IMAGES),
        ("train-images.idx3-ubyte", IMAGES),
        ("train-images-idx3-ubyte.gz", &packed),
        ("train-images.idx3-ubyte.gz", &packed),
    ] {
        let mirror = mirror(&[(name, bytes), ("train-labels-idx1-ubyte", LABELS)]);
        let data = tempfile::tempdir().unwrap();
        let folder = mirror.path().join("tiny");
        assert_eq!(
            obtained(data.path(), Some(mirror.path())).unwrap(),
            Origin::Mirror(folder)
        );
        let cached = data.path().join("tiny/train-images-idx3-ubyte");
        assert_eq!(fs::read(&cached).unwrap(), IMAGES);
        assert_eq!(obtained(data.path(), None).unwrap(), Origin::Cache);
        // A damaged copy is replaced.
        fs::write(&cached, "half").unwrap();
        assert!(matches!(
            obtained(data.path(), Some(mirror.path())).unwrap(),
            Origin::Mirror(_)
        ));
        assert_eq!(fs::read(&cached).unwrap(), IMAGES);
    }
}

#[test]
fn what_is_not_the_file_is_refused_and_kept_aside() {
    let other = mirror(&[("train-images-idx3-ubyte", b"\0\0\x08\x03 others")]);
    let data = tempfile::tempdir().unwrap();
    let error = obtained(data.path(), Some(other.path())).unwrap_err();
    let text = format!("{error:#}");
    assert!(
        text.contains("checksum differs") && text.contains("kept as"),
        "{text}"
    );
    assert!(error.chain().any(|cause| cause.is::<BadInput>()));
    assert!(
        data.path()
            .join("tiny/train-images-idx3-ubyte.rejected")
            .is_file()
    );
    assert!(!data.path().join("tiny/train-images-idx3-ubyte").exists());

    let page = mirror(&[(
        "train-images-idx3-ubyte.gz",
        b"<!DOCTYPE html><title>404</title>",
    )]);
    let text = format!(
        "{:#}",
        obtained(data.path(), Some(page.path())).unwrap_err()
    );
    assert!(
        text.ends_with("a web page (HTML) instead of data"),
        "{text}"
    );

    let packed = gzip(IMAGES);
    let torn = mirror(&[("train-images-idx3-ubyte.gz", &packed[..packed.len() - 6])]);
    let text = format!(
        "{:#}",
        obtained(data.path(), Some(torn.path())).unwrap_err()
    );
    assert!(text.contains("damaged gzip file"), "{text}");
}

#[test]
fn what_is_missing_is_said() {
    let data = tempfile::tempdir().unwrap();
    let empty = mirror(&[]);
    let text = format!(
        "{:#}",
        obtained(data.path(), Some(empty.path())).unwrap_err()
    );
    let name = "train-images-idx3-ubyte";
    let folder = empty.path().join("tiny");
    assert_eq!(
        text,
        format!(
            "{name}: the mirror {} has neither {name} nor {name}.gz",
            folder.display()
        )
    );
    let text = format!("{:#}", obtained(data.path(), None).unwrap_err());
    assert!(
        text.contains("--offline forbids downloading it; without a network,"),
        "{text}"
    );
}

#[test]
fn the_projects_description_is_sound() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/manifest.toml");
    let images = Images::beside(&manifest).unwrap();
    let names: Vec<_> = images.sets().map(|set| set.name.as_str()).collect();
    assert_eq!(names, ["mnist", "fashion-mnist"]);
    for set in images.sets() {
        assert_eq!((set.items(), set.files.len()), (70_000, 4));
        assert!(
            set.urls
                .iter()
                .all(|url| url.starts_with("http") && url.ends_with('/'))
        );
        for file in &set.files {
            assert_eq!((file.md5.len(), file.sha256.len()), (32, 64));
        }
    }
    assert!(
        Images::beside(Path::new("/nowhere/manifest.toml"))
            .unwrap()
            .sets()
            .next()
            .is_none()
    );
}

/// Every file of a mirror that has the official sets, against both published sums.
#[test]
fn the_official_files_have_the_published_sums() {
    let Some(mirror) = std::env::var_os("SVN_DATA_MIRROR").map(PathBuf::from) else {
        eprintln!("skipped: no SVN_DATA_MIRROR with mnist and fashion-mnist");
        return;
    };
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/manifest.toml");
    let data = tempfile::tempdir().unwrap();
    for set in Images::beside(&manifest).unwrap().sets() {
        if !mirror.join(&set.name).is_dir() {
            eprintln!("skipped: no {} in {}", set.name, mirror.display());
            continue;
        }
        let sources = Sources {
            data: data.path(),
            bundled: Path::new("/nowhere"),
            mirror: Some(&mirror),
            offline: true,
        };
        assert!(matches!(obtain(set, &sources).unwrap(), Origin::Mirror(_)));
        for file in &set.files {
            let path = file.find(&mirror.join(&set.name)).unwrap();
            if path.extension().is_some_and(|end| end == "gz") {
                assert_eq!(checksum::md5_of_bytes(&fs::read(path).unwrap()), file.md5);
            }
        }
    }
}
