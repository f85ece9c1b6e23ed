//! Independent random streams from one seed: ChaCha20 keyed by the seed, stream number from a purpose in words.

use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use sha2::{Digest, Sha256};

/// The random stream for a purpose such as `("split", "yacht")`: same seed and purpose, same numbers, on any
/// machine; any other purpose, independent numbers. The stream number is the head of the SHA-256 of the words.
///
/// # Examples
/// ```
/// use rand::Rng;
/// let draw = |seed, name| svn_bench::split::stream(seed, &["split", name]).next_u64();
/// assert_eq!(draw(0, "yacht"), draw(0, "yacht"));
/// assert_ne!(draw(0, "yacht"), draw(0, "energy"));
/// assert_ne!(draw(0, "yacht"), draw(1, "yacht"));
/// ```
pub fn stream(seed: u64, purpose: &[&str]) -> ChaCha20Rng {
    let mut hash = Sha256::new();
    for word in purpose {
        hash.update((word.len() as u64).to_le_bytes());
        hash.update(word.as_bytes());
    }
    let digest = hash.finalize();
    let mut head = [0; 8];
    head.copy_from_slice(&digest[..8]);
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    rng.set_stream(u64::from_le_bytes(head));
    rng
}
