//! The command lines of a plan, parsed as the command itself would be, and the studies behind them.

use std::any::Any;

use clap::{CommandFactory, FromArgMatches};

use super::super::bench::{Bench, StudyArgs};
use super::super::{Arguments, Command};
use crate::engine::EngineError;
use crate::terminal::sentence;

/// What is done with a command line, of whichever study it is.
pub(super) trait Visit {
    type Output;

    fn bench<A: StudyArgs + 'static>(self, bench: &Bench<A>) -> Self::Output;
}

/// Parses command lines.
pub(super) struct Parser(clap::Command);

impl Parser {
    pub(super) fn new() -> Self {
        Self(Arguments::command())
    }

    /// Names of the studies.
    pub(super) fn studies(&self) -> Vec<String> {
        let commands = self.0.get_subcommands().map(clap::Command::get_name);
        let names = commands.filter_map(|name| name.strip_prefix("bench-"));
        names.map(str::to_owned).collect()
    }

    /// Let a visitor in on a command line such as `bench-uci --dataset=yacht`; `home` is the folder of the study's files.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence.
    pub(super) fn visit<V: Visit>(
        &mut self,
        arguments: &[String],
        home: &std::path::Path,
        visitor: V,
    ) -> Result<V::Output, String> {
        let words = std::iter::once("svn").chain(arguments.iter().map(String::as_str));
        let matches = self.0.try_get_matches_from_mut(words);
        let parsed = matches.and_then(|matches| Arguments::from_arg_matches(&matches));
        let wrong = |error: clap::Error| {
            let text = sentence(&error);
            text.strip_prefix("error: ").unwrap_or(&text).to_owned()
        };
        let mut parsed = parsed.map_err(wrong)?;
        match &mut parsed.command {
            Command::BenchUci(bench) => Ok(visitor.bench(quiet(bench, home))),
            Command::BenchVision(bench) => Ok(visitor.bench(quiet(bench, home))),
            Command::BenchMimic(bench) => Ok(visitor.bench(quiet(bench, home))),
            Command::BenchToy(bench) => Ok(visitor.bench(quiet(bench, home))),
            _ => Err("not a command of a study".to_owned()),
        }
    }
}

/// Without a word of its own, in the folder of the sweep.
fn quiet<'b, A: StudyArgs>(bench: &'b mut Bench<A>, home: &std::path::Path) -> &'b Bench<A> {
    bench.common.quiet = true;
    bench.common.jobs = Some(1);
    bench.common.out = Some(home.to_owned());
    bench
}

/// Studies with their data, kept for command lines that differ in settings alone.
pub(super) struct Studies {
    kept: Vec<(String, Box<dyn Any>)>,
    most: usize,
}

impl Studies {
    /// Keep so many, the last ones.
    pub(super) fn keeping(most: usize) -> Self {
        let kept = Vec::new();
        Self { kept, most }
    }

    /// The study of a command line.
    ///
    /// # Errors
    /// What loading it says.
    pub(super) fn of<A: StudyArgs + 'static>(
        &mut self,
        bench: &Bench<A>,
    ) -> Result<&A::Study, EngineError> {
        let (common, asked) = (&bench.common, bench.asked());
        let data = (common.seed, common.seeds, common.device, &common.data);
        let methods = A::OF_METHODS.then_some((&asked.methods, asked.settings.hessian));
        let study = &bench.study;
        let key = format!(
            "{}: {study:?} {data:?} {methods:?}",
            std::any::type_name::<A>()
        );
        let place = self.kept.iter().position(|(known, _)| *known == key);
        let place = match place {
            Some(place) => place,
            None => {
                let study = bench.study.study(common, &asked)?;
                if self.kept.len() >= self.most {
                    self.kept.remove(0);
                }
                self.kept.push((key, Box::new(study)));
                self.kept.len() - 1
            }
        };
        self.kept[place].1.downcast_ref().ok_or_else(|| {
            // The name of the type is in the key.
            EngineError::Arguments("internal error: a study of another type".to_owned())
        })
    }
}
