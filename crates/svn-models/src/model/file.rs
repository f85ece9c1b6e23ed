//! A model on disk: a folder of two files.
//!
//! | file | holds |
//! |---|---|
//! | `model.safetensors` | weights, `N × d`, and what Laplace approximations need of each member, in f64 |
//! | `model.json` | schema, version, what was asked for, scaling, labels, likelihood, training, checksum of the other file |
//!
//! Both are needed, and nothing else: no training data. A folder is written beside its place and moved there whole.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use ndarray::{Array, Array2, Dimension, IxDyn};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use super::{Ensemble, Target, Training, Tried};
use crate::linear::Linear;
use crate::members::MemberCurvature;
use crate::predictive::Choices;
use crate::recipe::{Method, Problem, Recipe, Resolved};
use crate::scaling::FeatureScaler;
use crate::{Backend, Device, Likelihood, Members, ModelError};

/// Version of the format: 2 where the recipe names a likelihood, a selection or precisions of layers, or a linear
/// model is stacked; else 1, which programs of before can read.
const SCHEMA: u32 = 2;
const JSON: &str = "model.json";
const TENSORS: &str = "model.safetensors";
const WEIGHTS: &str = "weights";

/// Why a model could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFileError {
    /// What the system says.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },
    /// A folder that holds something else is not written over.
    #[error("{} is there and holds no {JSON}; choose another folder", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// Of another version of the format.
    #[error("{} has schema {found}, this program reads 1 to {SCHEMA}; use the version that wrote it ({version})", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: u64,
        /// The version that wrote it.
        version: String,
    },
    /// Not what was written.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

/// What every schema has.
#[derive(Deserialize)]
struct Header {
    schema: u64,
    #[serde(default)]
    version: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    schema: u32,
    version: String,
    method: Method,
    problem: Problem,
    recipe: Recipe,
    /// Features in the order of the columns, if they were named.
    features: Option<Vec<String>>,
    feature_scaler: FeatureScaler,
    target: Target,
    /// A linear model that counts as so many members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    linear: Option<(Linear, usize)>,
    likelihood: Likelihood,
    choices: Choices,
    /// Among which the likelihood or the prior precisions were chosen.
    #[serde(default, rename = "likelihoods", skip_serializing_if = "Vec::is_empty")]
    tried: Vec<Tried>,
    train_rows: usize,
    validation_rows: usize,
    validation_nll: f64,
    best_epoch: usize,
    epochs: usize,
    /// CRC-32 of the tensors' file.
    tensors_crc32: u32,
}

impl Ensemble {
    /// Write the model into a folder, which is made, or written over if it holds a model.
    ///
    /// # Errors
    /// [`ModelFileError::Io`], [`ModelFileError::Occupied`]. What was there before is left as it was.
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<(), ModelError> {
        Ok(save(self, folder.as_ref())?)
    }

    /// Read a model. It predicts to the last bit what the one that was written does, on the same machine and backend.
    ///
    /// # Errors
    /// [`ModelFileError`].
    pub fn load(folder: impl AsRef<Path>) -> Result<Self, ModelError> {
        load(folder.as_ref())
    }
}

fn save(ensemble: &Ensemble, folder: &Path) -> Result<(), ModelFileError> {
    if folder.exists() && !folder.join(JSON).is_file() {
        let empty = fs::read_dir(folder).is_ok_and(|mut files| files.next().is_none());
        if !empty {
            return Err(ModelFileError::Occupied {
                path: folder.to_owned(),
            });
        }
    }
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).map_err(io(parent))?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".model-");
    // As any folder: not for its owner alone, as temporary ones are.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    let made = builder.tempdir_in(parent).map_err(io(parent))?;
    let tensors = tensors(ensemble, &made.path().join(TENSORS))?;
    write(&made.path().join(TENSORS), &tensors)?;
    let training = &ensemble.training;
    let description = Description {
        schema: {
            let recipe = &ensemble.resolved.recipe;
            let named = recipe.likelihood.is_some() || recipe.select.is_some();
            match named || recipe.layer_precisions.is_some() || ensemble.linear.is_some() {
                true => SCHEMA,
                false => 1,
            }
        },
        version: env!("CARGO_PKG_VERSION").to_owned(),
        method: ensemble.resolved.method,
        problem: ensemble.resolved.problem.clone(),
        recipe: ensemble.resolved.recipe.clone(),
        features: ensemble.feature_names.clone(),
        feature_scaler: ensemble.features.clone(),
        target: ensemble.target.clone(),
        linear: ensemble.linear.clone(),
        likelihood: ensemble.members.likelihood(),
        choices: ensemble.predictor.choices(),
        tried: training.tried.clone(),
        train_rows: training.train_rows,
        validation_rows: training.validation_rows,
        validation_nll: training.validation_nll,
        best_epoch: training.best_epoch,
        epochs: training.epochs,
        tensors_crc32: crc32fast::hash(&tensors),
    };
    let json = made.path().join(JSON);
    let text = serde_json::to_string_pretty(&description).map_err(|error| ModelFileError::Io {
        path: json.clone(),
        source: error.into(),
    })?;
    write(&json, text.as_bytes())?;
    // Out of the way first: a folder cannot be moved onto one that is not empty.
    let before = tempfile::Builder::new()
        .prefix(".model-before-")
        .tempdir_in(parent)
        .map_err(io(parent))?;
    if folder.exists() {
        fs::rename(folder, before.path().join("model")).map_err(io(folder))?;
    }
    let moved = fs::rename(made.path(), folder);
    if moved.is_err() && before.path().join("model").exists() {
        fs::rename(before.path().join("model"), folder).map_err(io(folder))?;
    }
    moved.map_err(io(folder))
}

fn load(folder: &Path) -> Result<Ensemble, ModelError> {
    let json = folder.join(JSON);
    let text = fs::read_to_string(&json).map_err(io(&json))?;
    let damaged = |path: &Path, what: String| ModelFileError::Damaged {
        path: path.to_owned(),
        what: what.replace('\n', "; "),
    };
    let in_json = |error: serde_json::Error| damaged(&json, error.to_string());
    let header: Header = serde_json::from_str(&text).map_err(in_json)?;
    if !(1..=u64::from(SCHEMA)).contains(&header.schema) {
        return Err(ModelFileError::Schema {
            path: json,
            found: header.schema,
            version: header.version,
        }
        .into());
    }
    let description: Description = serde_json::from_str(&text).map_err(in_json)?;
    let path = folder.join(TENSORS);
    let bytes = fs::read(&path).map_err(io(&path))?;
    if crc32fast::hash(&bytes) != description.tensors_crc32 {
        return Err(damaged(&path, format!("it is not the one that {JSON} describes")).into());
    }
    // Checks that every tensor lies within the file.
    let tensors =
        SafeTensors::deserialize(&bytes).map_err(|error| damaged(&path, error.to_string()))?;
    let resolved = Resolved {
        method: description.method,
        problem: description.problem,
        recipe: description.recipe,
    };
    if description.feature_scaler.features() != resolved.problem.features {
        return Err(damaged(&json, "features and their scaling differ".to_owned()).into());
    }
    let settings = resolved.fit_settings(Device::Cpu, 0)?;
    let network = settings.build_network(resolved.problem.features)?;
    let weights = matrix(&tensors, WEIGHTS).map_err(|what| damaged(&path, what))?;
    let backend: Backend = settings.backend();
    let members = Members::new(network, description.likelihood, weights, backend)
        .map_err(|error| damaged(&path, error.to_string()))?;
    let count = members.particles().nrows();
    let read = |name: String| match tensors.names().contains(&name.as_str()) {
        true => matrix(&tensors, &name).map(Some),
        false => Ok(None),
    };
    let curvature = (0..count).map(|member| {
        MemberCurvature::from_parts(
            read(format!("laplace.{member}.rows"))?,
            read(format!("laplace.{member}.matrix"))?,
            members.likelihood(),
        )
    });
    let curvature: Option<Vec<_>> = curvature
        .collect::<Result<Option<Vec<_>>, String>>()
        .map_err(|what| damaged(&path, what))?;
    Ok(Ensemble {
        predictor: description
            .choices
            .predictor(curvature)
            .map_err(|what| damaged(&json, what))?,
        members,
        linear: description.linear,
        features: description.feature_scaler,
        feature_names: description.features,
        target: description.target,
        resolved,
        training: Training {
            train_rows: description.train_rows,
            validation_rows: description.validation_rows,
            set_aside: Vec::new(),
            out_of_fold: None,
            validation_nll: description.validation_nll,
            tried: description.tried,
            best_epoch: description.best_epoch,
            epochs: description.epochs,
            history: Vec::new(),
            step_times: Vec::new(),
            epoch_times: Vec::new(),
            ending: crate::fit::Ending::Completed,
        },
    })
}

fn tensors(ensemble: &Ensemble, path: &Path) -> Result<Vec<u8>, ModelFileError> {
    let mut arrays = vec![(WEIGHTS.to_owned(), ensemble.members.particles().to_owned())];
    for (member, curvature) in ensemble.predictor.curvature().iter().enumerate() {
        let (name, array) = curvature.part();
        arrays.push((format!("laplace.{member}.{name}"), array.to_owned()));
    }
    let bytes: Vec<(String, Vec<usize>, Vec<u8>)> = arrays
        .into_iter()
        .map(|(name, array)| (name, array.shape().to_vec(), little_endian(&array)))
        .collect();
    let refused = |error: safetensors::SafeTensorError| ModelFileError::Io {
        path: path.to_owned(),
        source: std::io::Error::other(error.to_string()),
    };
    let views = bytes
        .iter()
        .map(|(name, shape, bytes)| {
            let view = TensorView::new(Dtype::F64, shape.clone(), bytes).map_err(refused)?;
            Ok((name.clone(), view))
        })
        .collect::<Result<HashMap<_, _>, ModelFileError>>()?;
    safetensors::serialize(views, None).map_err(refused)
}

fn little_endian<D: Dimension>(array: &Array<f64, D>) -> Vec<u8> {
    array.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A matrix of finite numbers, or what is wrong.
fn matrix(tensors: &SafeTensors<'_>, name: &str) -> Result<Array2<f64>, String> {
    let tensor = tensors.tensor(name).map_err(|error| error.to_string())?;
    if tensor.dtype() != Dtype::F64 {
        return Err(format!("{name} holds {:?}, expected F64", tensor.dtype()));
    }
    let chunks = tensor.data().chunks_exact(8);
    let values: Vec<f64> = chunks
        .filter_map(|bytes| bytes.try_into().ok().map(f64::from_le_bytes))
        .collect();
    if !values.iter().all(|value| value.is_finite()) {
        return Err(format!("{name} holds a number that is not finite"));
    }
    let array = Array::from_shape_vec(IxDyn(tensor.shape()), values);
    array
        .and_then(|array| array.into_dimensionality())
        .map_err(|_| format!("{name} has shape {:?}, expected a matrix", tensor.shape()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), ModelFileError> {
    let mut file = fs::File::create(path).map_err(io(path))?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(io(path))
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> ModelFileError + use<> {
    let path = path.to_owned();
    move |source| ModelFileError::Io { path, source }
}
