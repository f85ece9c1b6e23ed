//! What to take from which wheel, for each platform.
//!
//! The Linux wheels of PyTorch are CUDA builds. What a CPU program needs of them is small: the
//! headers, `libtorch_cpu` with its neighbours, and two CUDA libraries that `libtorch_cpu` names but
//! does not use without a GPU. A linker script stands in for `libtorch.so`, which would pull in
//! `libtorch_cuda`. The sums are those of the files as received in November 2026.

use super::LIBTORCH_VERSION;
use crate::failure::bad_input;
use anyhow::Result;

/// How one platform's libtorch folder is made.
#[derive(Clone, Debug)]
pub(super) struct Recipe {
    /// Name of the folder in the cache.
    pub folder: String,
    /// Platform tags for pip.
    pub tags: &'static [&'static str],
    /// What to download, and what to take from it.
    pub wheels: Vec<Wheel>,
    /// Files written as they are: path and content.
    pub written: Vec<(&'static str, String)>,
}

/// One wheel, pinned by version and checksum.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    /// What pip is asked for, `name==version`.
    pub requirement: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// From → to; a path that ends in `/` stands for everything below it.
    pub take: Vec<(String, String)>,
}

/// The recipe for the machine that this program was built for.
pub(super) fn for_this_platform() -> Result<Recipe> {
    let musl = cfg!(target_env = "musl");
    for_platform(std::env::consts::OS, std::env::consts::ARCH, musl)
}

fn for_platform(os: &str, arch: &str, musl: bool) -> Result<Recipe> {
    match (os, arch, musl) {
        ("linux", "x86_64", false) => Ok(linux(
            arch,
            &[
                "manylinux_2_28_x86_64",
                "manylinux2014_x86_64",
                "manylinux_2_25_x86_64",
                "manylinux_2_17_x86_64",
            ],
            [
                "7aa2f9bbc6d4595ba72138026b2074be1233186150e9292865e04b7a63b8c67a",
                "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
                "9dcca41c12a734192b14e7128ae116bc9ce1b9da686e2ebf48ae7a4415f76650",
            ],
            &[],
        )),
        ("linux", "aarch64", false) => Ok(linux(
            arch,
            &[
                "manylinux_2_28_aarch64",
                "manylinux2014_aarch64",
                "manylinux_2_25_aarch64",
                "manylinux_2_17_aarch64",
            ],
            [
                "d91aac77f24082809d2c5a93f52a5f085032740a1ebc9252a7b052ef5a4fddc6",
                "ef9bcbe90493a2b9d810e43d249adb3d02e98dd30200d86607d8d02687c43f55",
                "d7e4d908315461b6ecbdadfd3c403cc796ed218b293ad117568c947e811cff28",
            ],
            &[
                "libarm_compute.so",
                "libarm_compute_graph.so",
                "libgfortran.so.5",
                "libnvpl_blas_core.so.0",
                "libnvpl_blas_lp64_gomp.so.0",
                "libnvpl_lapack_core.so.0",
                "libnvpl_lapack_lp64_gomp.so.0",
            ],
        )),
        ("macos", "aarch64", _) => Ok(Recipe {
            folder: format!("libtorch-{LIBTORCH_VERSION}-cpu-{arch}"),
            tags: &["macosx_11_0_arm64"],
            wheels: vec![Wheel {
                requirement: format!("torch=={LIBTORCH_VERSION}"),
                sha256: "7b6a60d48062809f58595509c524b88e6ddec3ebe25833d6462eeab81e5f2ce4".into(),
                take: vec![
                    pair("torch/include/", "include/"),
                    pair("torch/lib/", "lib/"),
                ],
            }],
            written: vec![("build-version", format!("{LIBTORCH_VERSION}\n"))],
        }),
        _ => Err(bad_input(format!(
            "no libtorch {LIBTORCH_VERSION} to install on {os} {arch}{}: \
             set LIBTORCH to one of your own, or LIBTORCH_USE_PYTORCH=1",
            if musl { " with musl" } else { "" }
        ))),
    }
}

/// `sums` of torch, the CUDA runtime and CUPTI; `more` libraries of this architecture.
fn linux(arch: &str, tags: &'static [&'static str], sums: [&str; 3], more: &[&str]) -> Recipe {
    let [torch, runtime, cupti] = sums;
    let libraries = ["libtorch_cpu.so", "libc10.so", "libgomp.so.1"];
    let mut take = vec![pair("torch/include/", "include/")];
    take.extend(
        libraries
            .iter()
            .chain(more)
            .map(|name| pair(&format!("torch/lib/{name}"), &format!("lib/{name}"))),
    );
    let cuda = |requirement: &str, sha256: &str, library: &str| Wheel {
        requirement: requirement.into(),
        sha256: sha256.into(),
        take: vec![pair(
            &format!("nvidia/cu13/lib/{library}"),
            &format!("lib/{library}"),
        )],
    };
    Recipe {
        folder: format!("libtorch-{LIBTORCH_VERSION}-cpu-lean-{arch}"),
        tags,
        wheels: vec![
            Wheel {
                requirement: format!("torch=={LIBTORCH_VERSION}"),
                sha256: torch.into(),
                take,
            },
            cuda("nvidia-cuda-runtime==13.0.96", runtime, "libcudart.so.13"),
            cuda("nvidia-cuda-cupti==13.5.25", cupti, "libcupti.so.13"),
        ],
        written: vec![
            ("lib/libtorch.so", "INPUT(libtorch_cpu.so)\n".into()),
            ("build-version", format!("{LIBTORCH_VERSION}\n")),
        ],
    }
}

fn pair(from: &str, to: &str) -> (String, String) {
    (from.to_string(), to.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pin_is_a_whole_sum() {
        for (os, arch) in [
            ("linux", "x86_64"),
            ("linux", "aarch64"),
            ("macos", "aarch64"),
        ] {
            let recipe = for_platform(os, arch, false).unwrap();
            for wheel in &recipe.wheels {
                assert!(
                    wheel.sha256.len() == 64 && wheel.sha256.bytes().all(|b| b.is_ascii_hexdigit()),
                    "{wheel:?}"
                );
                assert!(wheel.requirement.contains("=="));
            }
            assert!(recipe.folder.ends_with(arch));
        }
    }

    #[test]
    fn other_platforms_are_told_what_to_do() {
        for (os, arch, musl) in [
            ("windows", "x86_64", false),
            ("linux", "x86_64", true),
            ("macos", "x86_64", false),
        ] {
            let text = for_platform(os, arch, musl).unwrap_err().to_string();
            assert!(
                text.contains(os) && text.contains("set LIBTORCH to one of your own"),
                "{text}"
            );
        }
    }
}
