#![doc = include_str!("../README.md")]
#![deny(missing_docs, unsafe_code)]

/// `manifest.toml`: the tables of the benchmark, their files and where these come from.
pub const MANIFEST: &str = include_str!("../manifest.toml");

/// `images.toml`: the image sets, their files and where these come from.
pub const IMAGES: &str = include_str!("../images.toml");

/// The sets that are small and free enough to be part of this crate: name and text of the file, by name.
pub const BUNDLED: &[(&str, &str)] = &[
    ("autompg", include_str!("../autompg.csv")),
    ("breast", include_str!("../breast.csv")),
];

/// The file of a bundled set.
pub fn bundled(name: &str) -> Option<&'static str> {
    let mut sets = BUNDLED.iter();
    sets.find_map(|&(known, text)| (known == name).then_some(text))
}
