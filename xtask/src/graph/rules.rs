//! The table of the crates: what each may and may not know.

/// What one crate may and may not know.
pub(super) struct Rule {
    pub name: &'static str,
    /// Crates of the workspace that it may depend on.
    pub may_use: &'static [&'static str],
    /// Crates of the workspace that its tests and examples may depend on besides.
    pub tests_may_use: &'static [&'static str],
    /// Crates that must not be reachable from it, however far.
    pub must_not_reach: &'static [&'static str],
    /// Paths that must not appear in its sources.
    pub must_not_say: &'static [&'static str],
}

const FILES_CLOCK_RNG: &[&str] = &[
    "std::fs",
    "std::time",
    "File::open",
    "Instant::now",
    "SystemTime",
    "rand::rng(",
    "thread_rng",
    "from_os_rng",
];

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "svn-datasets",
        may_use: &[],
        tests_may_use: &[],
        must_not_reach: &["ndarray", "torch-sys", "csv", "clap", "serde"],
        must_not_say: FILES_CLOCK_RNG,
    },
    Rule {
        name: "svn-linalg",
        may_use: &[],
        tests_may_use: &[],
        must_not_reach: &["torch-sys", "csv", "clap"],
        must_not_say: FILES_CLOCK_RNG,
    },
    Rule {
        name: "svn-curvature",
        may_use: &["svn-linalg"],
        tests_may_use: &[],
        must_not_reach: &["csv", "clap"],
        must_not_say: FILES_CLOCK_RNG,
    },
    Rule {
        name: "svn-stein",
        may_use: &["svn-linalg"],
        // A posterior of real data.
        tests_may_use: &["svn-datasets"],
        must_not_reach: &["torch-sys", "csv", "clap"],
        must_not_say: FILES_CLOCK_RNG,
    },
    Rule {
        name: "svn-models",
        may_use: &["svn-linalg", "svn-curvature", "svn-stein"],
        tests_may_use: &[],
        must_not_reach: &["csv", "clap"],
        must_not_say: &[],
    },
    Rule {
        name: "svn-bench",
        may_use: &[
            "svn-datasets",
            "svn-linalg",
            "svn-curvature",
            "svn-stein",
            "svn-models",
        ],
        tests_may_use: &[],
        must_not_reach: &[],
        must_not_say: &[],
    },
    Rule {
        name: "xtask",
        may_use: &[],
        tests_may_use: &[],
        must_not_reach: &["torch-sys", "openblas-src", "ndarray"],
        must_not_say: &[],
    },
];

/// What the build without default features must not reach: native libraries, and what compiles them.
pub(super) const NATIVE: &[&str] = &[
    "torch-sys",
    "openblas-src",
    "blas-src",
    "cblas-sys",
    "lapack-sys",
    "ndarray-linalg",
];
