//! Making the libtorch folder in the cache: one at a time, all or nothing, checked on every use.

use super::recipe::Recipe;
use super::wheel;
use crate::paths::unwritable;
use crate::say;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Lies in a finished folder: the size of each of its files.
#[derive(Serialize, Deserialize)]
struct Stamp {
    files: BTreeMap<String, u64>,
}

const STAMP: &str = "stamp.json";

/// The folder of a recipe where it is whole; says what is wrong where it is damaged.
pub(super) fn find(cache: &Path, recipe: &Recipe) -> Option<PathBuf> {
    let folder = cache.join(&recipe.folder);
    match damage(&folder) {
        None => Some(folder),
        Some(_) if !folder.exists() => None,
        Some(what) => {
            say::error(format_args!("{} is damaged ({what})", folder.display()));
            None
        }
    }
}

/// Downloads with `download`, verifies, extracts and moves the finished folder into place.
///
/// A second process waits and then uses what the first one made. An interrupted run leaves only
/// folders ending in `.partial`, which the next one removes.
pub(super) fn install(
    cache: &Path,
    recipe: &Recipe,
    download: impl FnOnce(&Recipe, &Path) -> Result<()>,
) -> Result<PathBuf> {
    fs::create_dir_all(cache).map_err(|fault| unwritable(cache, &fault))?;
    let _lock = lock(&cache.join("setup.lock"))?;
    let folder = cache.join(&recipe.folder);
    if damage(&folder).is_none() {
        return Ok(folder);
    }
    let fresh = |kind: &str| -> Result<PathBuf> {
        let path = cache.join(format!("{}.{kind}.partial", recipe.folder));
        remove(&path)?;
        fs::create_dir(&path).map_err(|fault| unwritable(&path, &fault))?;
        Ok(path)
    };
    let (wheels, staging) = (fresh("wheels")?, fresh("new")?);
    let made = make(recipe, &wheels, &staging, download);
    let cleaned = remove(&wheels);
    if let Err(error) = made {
        remove(&staging)?;
        return Err(error);
    }
    cleaned?;
    if folder.exists() {
        let old = cache.join(format!("{}.old.partial", recipe.folder));
        remove(&old)?;
        fs::rename(&folder, &old)?;
        fs::rename(&staging, &folder)?;
        remove(&old)?;
    } else {
        fs::rename(&staging, &folder)?;
    }
    Ok(folder)
}

fn make(
    recipe: &Recipe,
    wheels: &Path,
    staging: &Path,
    download: impl FnOnce(&Recipe, &Path) -> Result<()>,
) -> Result<()> {
    download(recipe, wheels)?;
    for wheel in &recipe.wheels {
        say::error(format_args!(
            "verifying and extracting {}",
            wheel.requirement
        ));
        let file = wheel::verified(wheel, wheels)?;
        wheel::unpack(wheel, &file, staging)?;
        fs::remove_file(&file)?;
    }
    for (path, content) in &recipe.written {
        fs::write(staging.join(path), content).with_context(|| format!("cannot write {path}"))?;
    }
    let mut stamp = Stamp {
        files: BTreeMap::new(),
    };
    list(staging, "", &mut stamp.files)?;
    fs::write(staging.join(STAMP), serde_json::to_vec_pretty(&stamp)?)?;
    Ok(())
}

/// What is wrong with a folder; `None` where every stamped file has its size.
fn damage(folder: &Path) -> Option<String> {
    let read = fs::read(folder.join(STAMP)).map_err(|_| "no stamp".to_string());
    let stamp = read.and_then(|text| {
        serde_json::from_slice::<Stamp>(&text).map_err(|_| "unreadable stamp".to_string())
    });
    match stamp {
        Err(what) => Some(what),
        Ok(stamp) => {
            stamp
                .files
                .iter()
                .find_map(|(name, &size)| match fs::metadata(folder.join(name)) {
                    Err(_) => Some(format!("{name} is missing")),
                    Ok(found) if found.len() != size => {
                        Some(format!("{name} has {} bytes, expected {size}", found.len()))
                    }
                    Ok(_) => None,
                })
        }
    }
}

fn list(folder: &Path, prefix: &str, files: &mut BTreeMap<String, u64>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            list(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.insert(name, entry.metadata()?.len());
        }
    }
    Ok(())
}

fn lock(path: &Path) -> Result<File> {
    let file = File::create(path).map_err(|fault| unwritable(path, &fault))?;
    if file.try_lock().is_err() {
        say::error("another set-up is running: waiting for it");
        file.lock()
            .with_context(|| format!("cannot lock {}", path.display()))?;
    }
    Ok(file)
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(all(test, feature = "fetch"))]
mod tests {
    use super::super::recipe::Wheel;
    use super::*;
    use crate::checksum;
    use anyhow::bail;
    use std::io::Write;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn archive() -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        let stored = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored);
        for (name, content) in [
            ("torch/include/a/b.h", "header"),
            ("torch/lib/libc10.so", "library"),
            ("torch/x.py", "no"),
        ] {
            zip.start_file(name, stored).unwrap();
            zip.write_all(content.as_bytes()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    fn recipe() -> Recipe {
        let take = [
            ("torch/include/", "include/"),
            ("torch/lib/libc10.so", "lib/libc10.so"),
        ];
        Recipe {
            folder: "libtorch-1.0".into(),
            tags: &[],
            wheels: vec![Wheel {
                requirement: "torch==1.0".into(),
                sha256: checksum::of_bytes(&archive()),
                take: take
                    .map(|(from, to)| (from.to_string(), to.to_string()))
                    .to_vec(),
            }],
            written: vec![("lib/libtorch.so", "INPUT(libc10.so)\n".into())],
        }
    }

    fn deliver(_: &Recipe, folder: &Path) -> Result<()> {
        Ok(fs::write(
            folder.join("torch-1.0-cp311-any.whl"),
            archive(),
        )?)
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
    fn takes_what_the_rules_name_and_leaves_nothing_else() {
        let cache = tempfile::tempdir().unwrap();
        assert_eq!(find(cache.path(), &recipe()), None);
        let folder = install(cache.path(), &recipe(), deliver).unwrap();
        assert_eq!(
            fs::read_to_string(folder.join("include/a/b.h")).unwrap(),
            "header"
        );
        assert_eq!(
            fs::read_to_string(folder.join("lib/libtorch.so")).unwrap(),
            "INPUT(libc10.so)\n"
        );
        assert_eq!(names(&folder), ["include", "lib", STAMP]);
        assert_eq!(names(cache.path()), ["libtorch-1.0", "setup.lock"]);
        assert_eq!(find(cache.path(), &recipe()), Some(folder));
    }

    #[test]
    fn an_interrupted_run_leaves_nothing_half_made_and_the_next_succeeds() {
        let cache = tempfile::tempdir().unwrap();
        let error = install(cache.path(), &recipe(), |_, _| bail!("network lost")).unwrap_err();
        assert_eq!(error.to_string(), "network lost");
        assert_eq!(names(cache.path()), ["setup.lock"]);
        // As after a kill in the middle.
        fs::create_dir_all(cache.path().join("libtorch-1.0.new.partial/lib")).unwrap();
        fs::write(
            cache.path().join("libtorch-1.0.new.partial/lib/half.so"),
            "ha",
        )
        .unwrap();
        let folder = install(cache.path(), &recipe(), deliver).unwrap();
        assert!(!folder.join("lib/half.so").exists());
        assert_eq!(names(cache.path()), ["libtorch-1.0", "setup.lock"]);
    }

    #[test]
    fn a_wrong_checksum_is_refused_with_both_sums() {
        let cache = tempfile::tempdir().unwrap();
        let other =
            |_: &Recipe, folder: &Path| Ok(fs::write(folder.join("torch-1.0-x.whl"), "abc")?);
        let text = install(cache.path(), &recipe(), other)
            .unwrap_err()
            .to_string();
        assert!(
            text.contains(&recipe().wheels[0].sha256) && text.contains(&checksum::of_bytes(b"abc")),
            "{text}"
        );
        assert_eq!(names(cache.path()), ["setup.lock"]);
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_told_before_the_download() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        fs::write(&cache, "a file").unwrap();
        let error = install(&cache, &recipe(), |_, _| bail!("downloaded")).unwrap_err();
        let start = format!("cannot write {}: ", cache.display());
        let text = error.to_string();
        assert!(
            text.starts_with(&start) && text.contains("SVN_CACHE_DIR"),
            "{text}"
        );
    }

    #[test]
    fn a_missing_member_is_named() {
        let cache = tempfile::tempdir().unwrap();
        let mut recipe = recipe();
        recipe.wheels[0]
            .take
            .push(("torch/lib/libgomp.so.1".into(), "lib/libgomp.so.1".into()));
        let text = install(cache.path(), &recipe, deliver)
            .unwrap_err()
            .to_string();
        assert_eq!(text, "torch==1.0 has no torch/lib/libgomp.so.1");
    }

    #[test]
    fn a_damaged_folder_is_found_and_made_again() {
        let cache = tempfile::tempdir().unwrap();
        let folder = install(cache.path(), &recipe(), deliver).unwrap();
        let library = folder.join("lib/libc10.so");
        fs::write(&library, "lib").unwrap();
        assert_eq!(
            damage(&folder).unwrap(),
            "lib/libc10.so has 3 bytes, expected 7"
        );
        fs::remove_file(&library).unwrap();
        assert_eq!(damage(&folder).unwrap(), "lib/libc10.so is missing");
        assert_eq!(find(cache.path(), &recipe()), None);
        install(cache.path(), &recipe(), deliver).unwrap();
        assert_eq!(fs::read_to_string(&library).unwrap(), "library");
        assert_eq!(names(cache.path()), ["libtorch-1.0", "setup.lock"]);
    }

    #[test]
    fn two_at_once_download_once() {
        let cache = tempfile::tempdir().unwrap();
        let downloads = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    install(cache.path(), &recipe(), |recipe, folder| {
                        downloads.fetch_add(1, Ordering::SeqCst);
                        std::thread::sleep(std::time::Duration::from_millis(50));
                        deliver(recipe, folder)
                    })
                    .unwrap();
                });
            }
        });
        assert_eq!(downloads.load(Ordering::SeqCst), 1);
    }
}
