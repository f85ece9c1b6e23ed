//! Training options, one for each setting of a recipe: a new setting is an option without a line here.

use std::marker::PhantomData;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use svn_models::ModelError;
use svn_models::recipe::{Recipe, Setting};

use super::value::seconds;

/// Says which settings have no option.
pub(super) trait Hides {
    /// Their names.
    const HIDDEN: &'static [&'static str];
}

/// What is given on the command line.
#[derive(Debug)]
pub(super) struct Training<E> {
    pub recipe: Recipe,
    hidden: PhantomData<E>,
}

/// Set one by its name; a time may have a unit.
///
/// # Errors
/// What was expected.
pub(super) fn set(recipe: &mut Recipe, name: &str, text: &str) -> Result<(), String> {
    let timed = Recipe::SETTINGS
        .iter()
        .any(|setting| setting.name == name && setting.value == "SECONDS");
    let text = match timed {
        true => seconds(text)?.to_string(),
        false => text.to_owned(),
    };
    match recipe.set(name, &text) {
        Ok(()) => Ok(()),
        Err(ModelError::Setting { expected, .. }) => Err(format!("expected {expected}")),
        Err(error) => Err(error.to_string()),
    }
}

const HEADING: &str = "Training (left out: tuned, or the method's default)";

impl<E: Hides> Training<E> {
    fn settings() -> impl Iterator<Item = &'static Setting> {
        let shown = |setting: &&Setting| !E::HIDDEN.contains(&setting.name);
        Recipe::SETTINGS.iter().filter(shown)
    }
}

impl<E: Hides> Args for Training<E> {
    fn augment_args(command: Command) -> Command {
        Self::settings().fold(command, |command, setting| {
            let check = |text: &str| {
                set(&mut Recipe::default(), setting.name, text).map(|()| text.to_owned())
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

impl<E: Hides> FromArgMatches for Training<E> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut recipe = Recipe::default();
        for setting in Self::settings() {
            let text = match setting.value {
                "" => matches.get_flag(setting.name).then_some("true"),
                _ => matches.get_one::<String>(setting.name).map(String::as_str),
            };
            if let Some(text) = text {
                set(&mut recipe, setting.name, text)
                    .map_err(|error| Error::raw(clap::error::ErrorKind::ValueValidation, error))?;
            }
        }
        Ok(Self {
            recipe,
            hidden: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
