//! From a table to a model in a folder: read, train, judge on validation rows, keep.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use svn_models::fit::{Checkpoint, CheckpointError, Epoch};
use svn_models::recipe::{Head, Method, Predictive, Recipe, Selection};
use svn_models::stein::Flow;
use svn_models::{Candidate, Ensemble, ModelError, Tried};

use super::folder::{Cost, Folder, sha256};
use super::judge::judge;
use super::kept::{Kept, Read};
use super::{TabularError, Truth};
use crate::data::{Ask, Learned, Reading, Schema, Table, Targets};
use crate::engine::{Checkpoints, EpochProgress, at_end, curve, read_checkpoint, warnings};
use crate::report::number;

/// What is asked for; the same request on the same file gives the same bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The table.
    pub data: PathBuf,
    /// What is to be learnt from it.
    pub ask: Ask,
    /// How the particles move.
    pub method: Method,
    /// Settings that are not the defaults.
    pub recipe: Recipe,
    /// Share of the rows that is set aside for validation; else all rows up to 10,000 judge in five folds, unless the recipe
    /// selects otherwise.
    pub validation: Option<f64>,
    /// Of split, starting weights and order of the rows.
    pub seed: u64,
}

/// Rows up to which folds choose the epoch.
const FOLDED: usize = 10_000;

/// Share of more rows that is set aside.
const SHARE: f64 = 0.2;

/// Watches a fit.
#[allow(unused_variables, reason = "the default is to ignore")]
pub trait Watch {
    /// A sentence for the user.
    fn tell(&self, text: &str) {}
    /// A sentence that the user should not miss.
    fn warn(&self, text: &str) {}
    /// An epoch is over.
    fn epoch(&self, progress: EpochProgress) {}
}

impl Watch for () {}

/// A model that is in its folder.
#[derive(Debug)]
pub struct Fitted {
    /// The ensemble.
    pub ensemble: Ensemble,
    /// What is kept beside it.
    pub kept: Kept,
    /// What it took.
    pub cost: Cost,
}

/// Request and hash of the file at the time.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Begun {
    request: Request,
    sha256: String,
}

/// Fit a table into a folder.
///
/// # Errors
/// [`TabularError::Data`] for a table that cannot be learnt from, [`TabularError::Folder`] for a folder that is not free; then
/// nothing is written. [`TabularError::Model`] for training, which leaves a fit that can be gone on with.
pub fn fit(
    path: &Path,
    request: Request,
    overwrite: bool,
    watch: &dyn Watch,
) -> Result<Fitted, TabularError> {
    let started = Instant::now();
    Folder::check(path, overwrite)?;
    let (learned, read) = learn(&request, watch)?;
    let sha256 = read.sha256.clone();
    let data = std::path::absolute(&request.data).map_err(TabularError::io(&request.data))?;
    // It may be gone on with from another folder.
    let begun = Begun {
        request: Request {
            data,
            ..request.clone()
        },
        sha256,
    };
    let folder = Folder::begin(path, overwrite, &begun)?;
    work(&folder, &request, (learned, read), started, watch)
}

/// Go on with the fit of a folder; none if its model is there already.
///
/// # Errors
/// As for [`fit`]; [`TabularError::Changed`] for a table that is not the one of then.
pub fn resume(path: &Path, watch: &dyn Watch) -> Result<Option<Fitted>, TabularError> {
    let started = Instant::now();
    if Folder::is_done(path)? {
        return Ok(None);
    }
    let (folder, begun): (_, Begun) = Folder::resume(path)?;
    let (learned, read) = learn(&begun.request, watch)?;
    if read.sha256 != begun.sha256 {
        let path = begun.request.data;
        return Err(TabularError::Changed { path });
    }
    work(&folder, &begun.request, (learned, read), started, watch).map(Some)
}

fn learn(request: &Request, watch: &dyn Watch) -> Result<(Learned, Read), TabularError> {
    watch.tell(&format!("reading {}", request.data.display()));
    let sha256 = sha256(&request.data)?;
    let table = Table::open(&request.data, &Reading::default())?;
    let learned = Schema::learn(&table, &request.ask)?;
    for finding in &learned.findings {
        watch.tell(&finding.to_string());
    }
    let file = request.data.file_name().unwrap_or_default();
    let read = Read {
        file: file.to_string_lossy().into_owned(),
        sha256,
        rows: table.len(),
        columns: table.columns.len(),
        training_rows: 0,
        validation_rows: 0,
    };
    Ok((learned, read))
}

fn work(
    folder: &Folder,
    request: &Request,
    (learned, mut read): (Learned, Read),
    started: Instant,
    watch: &dyn Watch,
) -> Result<Fitted, TabularError> {
    let checkpoint = read_checkpoint(&folder.checkpoint(), &|text| watch.warn(text));
    if let Some(checkpoint) = &checkpoint {
        watch.tell(&format!("going on after epoch {}", checkpoint.epoch()));
    }
    let resumed = checkpoint.is_some();
    let ensemble = match train(folder, request, &learned, checkpoint, watch) {
        // Of other settings or rows, as a newer version may have; not one that cannot be written.
        Err(ModelError::Checkpoint(error))
            if resumed && !matches!(error, CheckpointError::Io { .. }) =>
        {
            watch.warn(&format!("{error}; the fit starts anew"));
            train(folder, request, &learned, None, watch)?
        }
        other => other?,
    };
    let training = ensemble.training();
    read.training_rows = training.train_rows;
    read.validation_rows = training.validation_rows;
    let truth = match &learned.target {
        Targets::Numbers(y) => Truth::Numbers(y.to_vec()),
        Targets::Labels(labels) => {
            let classes = labels.iter().map(|label| ensemble.class_of(label));
            // Every label is one that was trained on.
            Truth::Classes(classes.map(Option::unwrap_or_default).collect())
        }
    };
    let judged = judge(&ensemble, request.method, &learned, &truth)?;
    let mut told = warnings(&training.history, &training.ending);
    told.extend(at_end(&ensemble));
    told.extend(judged.warnings);
    let training_s = training
        .epoch_times
        .iter()
        .map(|time| time.as_secs_f64())
        .sum();
    let kept = Kept {
        version: super::kept::VERSION,
        model_sha256: String::new(),
        read,
        scores: judged.scores,
        coverage: judged.coverage,
        reliability: judged.reliability,
        conformal: judged.conformal,
        novelty: judged.novelty,
        importance: judged.importance,
        curve: curve(&training.history),
        findings: learned.findings.iter().map(ToString::to_string).collect(),
        warnings: told,
        schema: learned.schema,
    };
    let cost = Cost {
        training_s,
        whole_s: started.elapsed().as_secs_f64(),
    };
    let kept = folder.finish(&ensemble, kept, cost)?;
    Ok(Fitted {
        ensemble,
        kept,
        cost,
    })
}

/// What was tried, for people.
fn told(one: &Tried) -> String {
    let what = match one.candidate {
        Candidate::PriorPrecision(_) => "prior precision ",
        Candidate::LayerPrecisions(_) => "layer precisions ",
        _ => "",
    };
    format!("tried {what}{}: NLL {}", one.candidate.value(), score(one))
}

fn score(one: &Tried) -> String {
    one.nll.map_or_else(|| "–".to_owned(), number)
}

/// Tails and temperature that rows which were not trained on have chosen, in a line; none where there are none.
pub fn afterwards(ensemble: &Ensemble) -> Option<String> {
    let predictor = ensemble.predictor();
    let tails = predictor.tails().map(|tails| {
        let (degrees, scale) = (tails.degrees, number(tails.scale));
        format!(
            "members are Student t of {degrees} degrees of freedom, squared scales times {scale}"
        )
    });
    let temperature = predictor.temperature();
    tails.or(temperature.map(|by| format!("logits are divided by {}", number(by))))
}

/// What was tried and scored, in a line; none where nothing was.
pub fn tried(ensemble: &Ensemble) -> Option<String> {
    let tried = &ensemble.training().tried;
    let each = tried.iter().map(|one| match &one.candidate {
        // Whose value is a list in a list.
        layers @ Candidate::LayerPrecisions(_) => {
            let factors = layers.value().replace(',', "/");
            format!("by layer {factors} {}", score(one))
        }
        other => format!("{} {}", other.value(), score(one)),
    });
    let each = each.collect::<Vec<String>>().join(", ");
    let recipe = &ensemble.settings().recipe;
    let chosen = match tried.first()?.candidate {
        Candidate::PriorPrecision(_) => {
            let layers = recipe.layer_precisions.clone();
            let layers = layers.map(|factors| Candidate::LayerPrecisions(factors).value());
            format!(
                "prior precision {}{}; negative log evidence of the rows fitted, nats a row",
                recipe.prior_precision?,
                layers.map_or_else(String::new, |factors| format!(" times {factors} by layer"))
            )
        }
        _ => format!(
            "likelihood {}; NLL of unseen rows after a quarter of the epochs",
            Candidate::Likelihood(recipe.likelihood?).value()
        ),
    };
    Some(format!("{chosen}: {each}"))
}

fn train(
    folder: &Folder,
    request: &Request,
    learned: &Learned,
    checkpoint: Option<Checkpoint>,
    watch: &dyn Watch,
) -> Result<Ensemble, ModelError> {
    let path = folder.checkpoint();
    let mut checkpoints = Checkpoints::new(&path);
    let mut observer = |epoch: &Epoch<'_>| {
        checkpoints.keep(epoch)?;
        watch.epoch(EpochProgress::of(epoch));
        Ok(Flow::Continue)
    };
    let mut recipe = request.recipe.clone();
    if recipe.select.is_none()
        && request.validation.is_none()
        && request.method != Method::Linear
        && recipe.goes_with(Selection::Kfold)
        && learned.x.nrows() <= FOLDED
    {
        recipe.select = Some(Selection::Kfold);
    }
    // What is not said of the target is tried, on rows that members have not seen.
    if recipe.likelihood.is_none()
        && recipe.predictive != Some(Predictive::StudentT)
        && !recipe.select.is_some_and(Selection::is_evidence)
        && request.method != Method::Linear
        && matches!(learned.target, Targets::Numbers(_))
    {
        recipe.likelihood = Some(Head::Auto);
    }
    let mut tried = folder.tried();
    let known = tried.clone();
    let mut on_tried = |one: &Tried| {
        watch.tell(&told(one));
        tried.push(one.clone());
        // Without the file they are tried again after an interruption.
        if let Err(error) = folder.keep_tried(&tried) {
            watch.warn(&error.to_string());
        }
    };
    let mut builder = Ensemble::builder()
        .tried(known)
        .on_tried(&mut on_tried)
        .method(request.method)
        .recipe(&recipe)
        .seed(request.seed)
        .validation_share(request.validation.unwrap_or(SHARE))
        .feature_names(&learned.schema.feature_names())
        .observer(&mut observer);
    if let Some(groups) = &learned.groups {
        builder = builder.groups(groups);
    }
    if let Some(checkpoint) = checkpoint {
        builder = builder.checkpoint(checkpoint);
    }
    match &learned.target {
        Targets::Numbers(y) => builder.fit(learned.x.view(), y.view(), learned.schema.task()),
        Targets::Labels(labels) => builder.fit_labels(learned.x.view(), labels),
    }
}
