//! The chosen settings as `DATASET.toml`, one table a method, with what they were chosen by.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use svn_models::recipe::{Method, Recipe};

use crate::engine::{EngineError, TunedSettings, write_atomically};

/// The best settings of a method on a data set.
#[derive(Debug, Clone, PartialEq)]
pub struct Winner {
    /// Name of the study.
    pub study: String,
    /// Name of the data set.
    pub dataset: String,
    /// How the particles move.
    pub method: Method,
    /// How rows were cut.
    pub protocol: &'static str,
    /// Runs there are.
    pub planned: usize,
    /// The user's seed.
    pub seed: u64,
    /// Configurations that were tried.
    pub configurations: usize,
    /// Folds they were tried on.
    pub folds: usize,
    /// Mean over folds of the best validation NLL.
    pub score: f64,
    /// The same of the method's default; none if it failed.
    pub default_score: Option<f64>,
    /// Resolved settings.
    pub settings: Recipe,
}

impl Winner {
    /// The table of its method, with a line on how it was chosen.
    fn block(&self) -> Result<String, toml::ser::Error> {
        let default = self
            .default_score
            .map_or_else(|| "failed".to_owned(), |score| format!("{score:.4}"));
        let mut text = format!(
            "# Validation NLL {:.4} (default: {default}); {} configurations on {} of {} folds, protocol {}, seed {}.\n",
            self.score, self.configurations, self.folds, self.planned, self.protocol, self.seed,
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "[{}]", self.method);
        text.push_str(&toml::to_string(&self.settings)?);
        Ok(text)
    }
}

/// Write `DATASET.toml` for the winners of one data set into a folder, which is created. Tables of other methods that
/// the file holds already stay as they are. Atomic: a crash leaves the old file.
///
/// # Errors
/// [`EngineError::Tuned`] if the file that is there is no file of settings; [`EngineError::Store`] if it cannot
/// be written.
pub fn write_winners(
    folder: &Path,
    dataset: &str,
    winners: &[Winner],
) -> Result<PathBuf, EngineError> {
    let io = |path: &Path, source| EngineError::Io {
        path: path.to_owned(),
        source,
    };
    std::fs::create_dir_all(folder).map_err(|error| io(folder, error))?;
    let path = folder.join(format!("{dataset}.toml"));
    let old = match std::fs::read_to_string(&path) {
        Ok(text) => {
            TunedSettings::parse(&path, &text)?;
            text
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(io(&path, error)),
    };
    let mut blocks: Vec<(Method, String)> = old
        .split("\n\n")
        .filter_map(|block| Some((method_of(block)?, block.trim_end().to_owned() + "\n")))
        .filter(|(method, _)| winners.iter().all(|winner| winner.method != *method))
        .collect();
    for winner in winners {
        let block = winner
            .block()
            .map_err(|error| io(&path, std::io::Error::other(error)))?;
        blocks.push((winner.method, block));
    }
    blocks.sort_by_key(|(method, _)| *method);
    let study = winners.first().map_or("", |winner| &winner.study);
    let mut text = format!(
        "# Settings for {dataset}, chosen on validation rows by `bench-{study} --tune`; every trial is in tune.jsonl.\n"
    );
    for (_, block) in blocks {
        text.push('\n');
        text.push_str(&block);
    }
    write_atomically(&path, text.as_bytes())?;
    Ok(path)
}

/// The method whose table a block of lines holds.
fn method_of(block: &str) -> Option<Method> {
    let name = |line: &str| line.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    block.lines().find_map(|line| name(line.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::TunedSource;
    use svn_models::recipe::Noise;
    use svn_models::stein::Bandwidth;

    fn winner(method: Method, lr: f64) -> Winner {
        Winner {
            study: "uci".to_owned(),
            dataset: "yacht".to_owned(),
            method,
            protocol: "paper",
            planned: 5,
            seed: 0,
            configurations: 18,
            folds: 3,
            score: 0.12345,
            default_score: Some(0.5),
            settings: Recipe {
                lr: Some(lr),
                batch_size: Some(16),
                hidden: Some(vec![50, 50]),
                noise: Some(Noise::Heteroscedastic),
                bandwidth: (method != Method::Ensemble).then_some(Bandwidth::Dimension),
                ..Recipe::default()
            },
        }
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let winners = [winner(Method::Svn, 1.0), winner(Method::Ensemble, 0.03)];
        let path = write_winners(folder.path(), "yacht", &winners).unwrap();
        let tuned = TunedSource::Path(folder.path().to_owned())
            .load("yacht")
            .unwrap();
        for winner in &winners {
            assert_eq!(tuned.method(winner.method), Some(&winner.settings));
        }
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(
            text,
            "# Settings for yacht, chosen on validation rows by `bench-uci --tune`; every trial is in tune.jsonl.\n\n\
             # Validation NLL 0.1235 (default: 0.5000); 18 configurations on 3 of 5 folds, protocol paper, seed 0.\n\
             [ensemble]\nlr = 0.03\nbatch_size = 16\nhidden = [50, 50]\nnoise = \"heteroscedastic\"\n\n\
             # Validation NLL 0.1235 (default: 0.5000); 18 configurations on 3 of 5 folds, protocol paper, seed 0.\n\
             [svn]\nlr = 1.0\nbatch_size = 16\nhidden = [50, 50]\nnoise = \"heteroscedastic\"\nbandwidth = \"2d\"\n"
        );
    }

    #[test]
    fn tables_of_other_methods_stay_and_a_strange_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let write = |winners: &[Winner]| write_winners(folder.path(), "yacht", winners);
        write(&[winner(Method::Ensemble, 0.03), winner(Method::Svn, 1.0)]).unwrap();
        let path = write(&[winner(Method::Svn, 0.3), winner(Method::Svgd, 0.1)]).unwrap();
        let tuned = TunedSettings::read(&path).unwrap();
        let lr = |method| tuned.method(method).and_then(|settings| settings.lr);
        assert_eq!(
            [Method::Ensemble, Method::Svgd, Method::Svn].map(lr),
            [Some(0.03), Some(0.1), Some(0.3)]
        );
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches("# Validation NLL").count(), 3);

        std::fs::write(&path, "hello\n").unwrap();
        assert!(write(&[winner(Method::Svn, 0.3)]).unwrap_err().is_input());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "hello\n");
    }
}
