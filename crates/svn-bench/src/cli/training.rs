//! Training options, one for each setting of a recipe: a new setting is an option without a line here.

use std::marker::PhantomData;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use svn_models::ModelError;
use svn_models::recipe::{Recipe, Setting};

use super::bench::StudyArgs;

/// What is given on the command line of a study.
#[derive(Debug)]
pub(super) struct Training<E> {
    pub recipe: Recipe,
    study: PhantomData<E>,
}

const HEADING: &str = "Training (left out: tuned, or the method's default)";

impl<E: StudyArgs> Training<E> {
    fn settings() -> impl Iterator<Item = &'static Setting> {
        let shown = |setting: &&Setting| !E::HIDDEN.contains(&setting.name);
        Recipe::SETTINGS.iter().filter(shown)
    }
}

impl<E: StudyArgs> Args for Training<E> {
    fn augment_args(command: Command) -> Command {
        Self::settings().fold(command, |command, setting| {
            let check = |text: &str| match Recipe::default().set(setting.name, text) {
                Ok(()) => Ok(text.to_owned()),
                Err(ModelError::Setting { expected, .. }) => Err(format!("expected {expected}")),
                Err(error) => Err(error.to_string()),
            };
            let arg = Arg::new(setting.name)
                .long(setting.name.replace('_', "-"))
                .help(setting.help.trim())
                .help_heading(HEADING);
            command.arg(match setting.value {
                "" => arg.action(ArgAction::SetTrue),
                name => arg.value_name(name).value_parser(check),
            })
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<E: StudyArgs> FromArgMatches for Training<E> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut recipe = Recipe::default();
        for setting in Self::settings() {
            let text = match setting.value {
                "" => matches.get_flag(setting.name).then_some("true"),
                _ => matches.get_one::<String>(setting.name).map(String::as_str),
            };
            if let Some(text) = text {
                recipe
                    .set(setting.name, text)
                    .map_err(|error| Error::raw(clap::error::ErrorKind::ValueValidation, error))?;
            }
        }
        Ok(Self {
            recipe,
            study: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
