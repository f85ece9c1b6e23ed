//! From a study and what is asked for to groups of runs: settings and splits checked before anything runs.

use svn_models::recipe::{Method, Recipe, Resolved, Selection};

use super::{Configuration, EngineError, Of, RunId, Study, TunedSource, memory, out_of_range};

/// Runs of a design whose rows are cut before anything runs.
const CHECKED: usize = 100;

/// Copies of the training rows that a run holds at once: the data, the fold, scaled, in batches.
const COPIES: f64 = 5.0;

/// What is asked for, beside the study's own options.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Methods; repetitions count once.
    pub methods: Vec<Method>,
    /// Training settings that go before all others.
    pub settings: Recipe,
    /// Settings chosen for data set and method, behind those.
    pub tuned: TunedSource,
    /// Worker threads, at least 1.
    pub jobs: usize,
}

/// A design and a method: its runs differ in seed and fold alone.
#[derive(Debug, Clone)]
pub struct Group<D> {
    /// With resolved settings.
    pub configuration: Configuration<D>,
    /// Hash of the configuration.
    pub config: String,
    /// Seeds and folds.
    pub runs: Vec<RunId>,
}

/// Everything that is to be done.
#[expect(
    missing_debug_implementations,
    reason = "it holds a study with its data"
)]
pub struct Plan<'s, S: Study> {
    /// What is fitted and measured.
    pub study: &'s S,
    /// Design by design, method by method.
    pub groups: Vec<Group<S::Design>>,
    /// Sentences for the user.
    pub warnings: Vec<String>,
}

impl<'s, S: Study> Plan<'s, S> {
    /// Resolve the settings of every group, and see that the rows of every run can be cut.
    ///
    /// # Errors
    /// [`EngineError`]; all of them are about arguments or input.
    pub fn new(study: &'s S, asked: &Asked) -> Result<Self, EngineError> {
        if asked.jobs == 0 {
            return Err(out_of_range("jobs", 0, "at least 1").into());
        }
        let methods = distinct(&asked.methods);
        let designs = study.designs();
        if designs.is_empty() || methods.is_empty() {
            let message = "nothing to do: name a --dataset and a --method";
            return Err(EngineError::Arguments(message.to_owned()));
        }
        let mut warnings = study.warnings();
        warnings.extend(shared_rate(&asked.settings, &methods)?);
        let mut groups = Vec::new();
        for design in &designs {
            let runs = study.runs(design);
            for &run in runs.iter().take(CHECKED) {
                study.check(Of { design, run })?;
            }
            for &method in &methods {
                let settings = resolve(study, design, method, asked, &mut warnings)?.recipe;
                let configuration = Configuration {
                    study: S::NAME.to_owned(),
                    design: design.clone(),
                    method,
                    settings,
                };
                groups.push(Group {
                    config: configuration.hash(),
                    configuration,
                    runs: runs.clone(),
                });
            }
        }
        warnings.extend(unheard(&asked.settings, &groups));
        Ok(Self {
            study,
            groups,
            warnings,
        })
    }

    /// Number of runs.
    pub fn jobs(&self) -> usize {
        self.groups.iter().map(|group| group.runs.len()).sum()
    }
}

impl<D: Clone> Group<D> {
    /// About how many bytes of memory a run of it takes beside the program, the fold's copies of the data among them.
    pub(crate) fn bytes<S: Study<Design = D>>(&self, study: &S) -> f64 {
        let problem = study.problem(&self.configuration.design);
        let data = COPIES * 8.0 * problem.rows as f64 * (problem.features + 1) as f64;
        let needed = memory::needed(&self.resolved(study, problem.rows));
        data + needed.map_or(0.0, |needed| needed.bytes)
    }

    /// Its settings as the method has them, for so many training rows.
    pub(super) fn resolved<S: Study<Design = D>>(&self, study: &S, rows: usize) -> Resolved {
        let mut problem = study.problem(&self.configuration.design);
        problem.rows = rows;
        Resolved {
            method: self.configuration.method,
            problem,
            recipe: self.configuration.settings.clone(),
        }
    }
}

/// Command line, then tuned, then study, then the method's default.
fn resolve<S: Study>(
    study: &S,
    design: &S::Design,
    method: Method,
    asked: &Asked,
    warnings: &mut Vec<String>,
) -> Result<Resolved, EngineError> {
    use super::Design as _;
    let dataset = design.dataset();
    let mut given = asked.settings.meant_for(method);
    let tuned = asked.tuned.load(dataset)?;
    match tuned.method(method) {
        Some(tuned) => given = given.or(&tuned.meant_for(method)),
        None => warnings.extend(asked.tuned.silent_about(dataset, method)),
    }
    let mut given = given.or(&study.recipe(design, method).meant_for(method));
    if given.select.is_some_and(Selection::is_evidence) {
        // Which chooses what the user does not give; no other way to choose has a say.
        given.prior_precision = asked.settings.prior_precision;
    }
    let wrong = |source| EngineError::Recipe {
        dataset: dataset.to_owned(),
        method,
        source: Box::new(source),
    };
    let resolved = given
        .resolve(method, &study.problem(design))
        .map_err(wrong)?;
    match memory::too_much(&resolved, memory::of_this_machine()).map_err(wrong)? {
        None => Ok(resolved),
        Some(text) => Err(EngineError::Arguments(format!(
            "{dataset}, {method}: {text}"
        ))),
    }
}

/// A sentence where one `--lr` is the step size of first-order and of Newton steps, of which one seldom suits both.
///
/// # Errors
/// [`EngineError::Arguments`] for a `--lr` that no method would hear.
fn shared_rate(settings: &Recipe, methods: &[Method]) -> Result<Option<String>, EngineError> {
    let newton_alone = |method: &&Method| !method.is_first_order();
    let first = methods.iter().find(newton_alone);
    let Some((lr, method)) = settings.lr.zip(first) else {
        return Ok(None);
    };
    let others = methods.iter().any(|method| method.is_first_order());
    match (settings.newton_lr, others) {
        (Some(_), false) => Err(EngineError::Arguments(format!(
            "{method} has one step size: leave out --lr or --newton-lr"
        ))),
        (None, true) => Ok(Some(format!(
            "--lr {lr} is also the step size of the Newton steps of {method}; --newton-lr gives them their own"
        ))),
        _ => Ok(None),
    }
}

/// A sentence for each given setting that no run makes use of.
fn unheard<D>(given: &Recipe, groups: &[Group<D>]) -> Vec<String> {
    let fields = |recipe: &Recipe| serde_json::to_value(recipe).unwrap_or_default();
    let given = fields(given);
    let used: Vec<_> = groups
        .iter()
        .map(|group| fields(&group.configuration.settings))
        .collect();
    let names = given
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name);
    names
        .filter(|name| {
            let heard = |settings: &serde_json::Value| settings.get(name.as_str()).is_some();
            // A step size may have become that of Newton steps; no patience is no setting.
            let other = match name.as_str() {
                "lr" => used
                    .iter()
                    .any(|settings| settings.get("newton_lr").is_some()),
                "patience" => given["patience"] == 0,
                _ => false,
            };
            !other && !used.iter().any(heard)
        })
        .map(|name| {
            let option = name.replace('_', "-");
            format!("--{option} has no effect: nothing that is run makes use of it")
        })
        .collect()
}

/// The values in order, without repetitions.
pub(crate) fn distinct<T: Clone + PartialEq>(values: &[T]) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(value) {
            seen.push(value.clone());
        }
    }
    seen
}
