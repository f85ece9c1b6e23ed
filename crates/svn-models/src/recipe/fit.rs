//! A fit as the recipe says, of one part or two.

use super::{LastLayerMode, Method, NetworkKind, Resolved};
use crate::fit::{Ending, Fit, Observer, Part, Start, Within, fit, fit_last_layer, fit_linear};
use crate::{Device, ModelError, Rows};

impl Resolved {
    /// Train on the first of `rows`, choose on the second: all layers, for pretrained LL-SVN the last layer alone after
    /// that, and with a warm-up by first-order steps before the others. Patience is that of each part, the time limit that of both.
    ///
    /// # Errors
    /// As for [`fit`] and [`fit_last_layer`].
    pub fn fit(
        &self,
        device: Device,
        seed: u64,
        (train, validation): (&Rows, &Rows),
        start: Start<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Fit, ModelError> {
        let settings = self.fit_settings(device, seed)?;
        if self.method == Method::Linear {
            if self.problem.network != NetworkKind::Mlp {
                let expected = "a method of networks; a linear model has no layers of its own";
                return Err(ModelError::setting("method", self.method, expected));
            }
            return fit_linear(&settings, train, validation);
        }
        let pretrained = self.recipe.ll_mode == Some(LastLayerMode::Pretrained);
        let warmup = self.warmup_settings(device, seed)?;
        // A run that goes on from trained members is warm.
        let warmup = warmup.filter(|_| !matches!(start, Start::Members(_)));
        let (settings, mut last) = match warmup {
            Some(before) if !pretrained => (before, settings),
            _ if pretrained => (settings, self.last_layer_settings(device, seed)?),
            _ => return fit(&settings, train, validation, start, observer),
        };
        let part = Part {
            after: last.epochs,
            ..Part::default()
        };
        let mut watch = Within {
            observer: &mut *observer,
            part,
        };
        let before = fit(&settings, train, validation, start, &mut watch)?;
        // Who ends a run ends all of it.
        if let Ending::Observer | Ending::TimeLimit = before.ending {
            return Ok(before);
        }
        let elapsed = before.epoch_times.iter().sum();
        last.time_limit = last.time_limit.map(|limit| limit.saturating_sub(elapsed));
        let part = Part {
            before: before.history.len(),
            elapsed,
            ..Part::default()
        };
        let mut watch = Within { observer, part };
        let members = &before.ensemble;
        let last = match pretrained {
            true => fit_last_layer(&last, members, train, validation, &mut watch)?,
            false => fit(
                &last,
                train,
                validation,
                Start::Members(members),
                &mut watch,
            )?,
        };
        Ok(before.then(last))
    }
}
