//! Class probabilities of an ensemble's members and their mixture.
//!
//! ```text
//! p_pic = softmax(f_pi)_c      mean probability  p̄_ic = (1/N) Σ_p p_pic      mean logit  f̄_i = (1/N) Σ_p f_pi
//! NLL of the mean probability  −(1/n) Σ_i [ log Σ_p e^(log p_p,i,y_i) − log N ]
//! NLL of the mean logit        −(1/n) Σ_i log softmax(f̄_i)_{y_i}
//! ```
//!
//! All sums of exponentials have the largest term drawn out: a probability of 10⁻⁴⁰⁰ still has its logarithm.

use super::shape::scattered;
use crate::ModelError;
use crate::likelihood::class_index;
use ndarray::{Array1, Array2, Array3, ArrayView1, ArrayView2, ArrayView3, Axis, s};

/// What the `N` members say of `n` rows with `C` classes.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassPrediction {
    pub(super) logits: Array3<f64>,
}

impl ClassPrediction {
    /// From the members' logits of `C ≥ 2` classes.
    ///
    /// # Shapes
    /// `logits`: `N × n × C`.
    ///
    /// # Errors
    /// [`ModelError::Shape`] for none, or a single class; [`ModelError::Predicted`] for a logit that is not finite.
    pub fn new(logits: Array3<f64>) -> Result<Self, ModelError> {
        let (members, rows, classes) = logits.dim();
        if members == 0 || rows == 0 || classes < 2 {
            return Err(ModelError::Shape {
                what: "logits of a prediction".into(),
                found: vec![members, rows, classes],
                expected: vec![members.max(1), rows.max(1), classes.max(2)],
            });
        }
        match logits.indexed_iter().find(|(_, value)| !value.is_finite()) {
            Some(((member, row, _), &value)) => Err(ModelError::Predicted {
                what: "logit",
                member,
                row,
                value,
                expected: "finite",
            }),
            None => Ok(Self { logits }),
        }
    }

    /// Of weights that training has just moved, which may say anything; one logit `f` of two classes is `(0, f)`.
    ///
    /// # Shapes
    /// `outputs`: `N × n × c`, of which the last of `classes`.
    pub(crate) fn unchecked(outputs: ArrayView3<'_, f64>, classes: usize) -> Self {
        let (members, rows, found) = outputs.dim();
        let mut logits = Array3::zeros((members, rows, classes));
        logits
            .slice_mut(s![.., .., classes - found..])
            .assign(&outputs);
        Self { logits }
    }

    /// Two classes from the one logit `ln p₁/p₀` of a Bernoulli likelihood, `N × n`.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn bernoulli(logit: ArrayView2<'_, f64>) -> Result<Self, ModelError> {
        Self::new(Self::unchecked(logit.insert_axis(Axis(2)), 2).logits)
    }

    /// These rows, in this order; a row may come more than once.
    ///
    /// # Panics
    /// For an index that is no row.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        Self {
            logits: self.logits.select(Axis(1), rows),
        }
    }

    /// Of all rows, from parts that each have some of them: the rows of a part go to the places that stand beside it.
    ///
    /// # Errors
    /// [`ModelError::Shape`] for parts of another number of members or classes, or places that are not all rows once.
    pub fn gather(parts: &[(Vec<usize>, Self)]) -> Result<Self, ModelError> {
        let mut places: Vec<usize> = parts
            .iter()
            .flat_map(|(places, _)| places)
            .copied()
            .collect();
        places.sort_unstable();
        let rows = places.len();
        let alike = |part: &Self, first: &Self| {
            (part.members(), part.classes()) == (first.members(), first.classes())
        };
        let each = places.iter().enumerate().all(|(row, &place)| row == place)
            && parts
                .iter()
                .all(|(places, part)| places.len() == part.rows() && alike(part, &parts[0].1));
        let whole = parts
            .iter()
            .map(|(places, part)| (places.as_slice(), &part.logits));
        match scattered(rows, whole).filter(|_| each) {
            Some(logits) => Ok(Self { logits }),
            None => Err(ModelError::Shape {
                what: "parts of a prediction".into(),
                found: parts.iter().map(|(_, part)| part.rows()).collect(),
                expected: vec![rows],
            }),
        }
    }

    /// With the member of `other` as `count` more members of this one.
    ///
    /// # Errors
    /// [`ModelError::Shape`] for other rows or classes.
    pub fn with_member(self, other: &Self, count: usize) -> Result<Self, ModelError> {
        let (members, rows, classes) = self.logits.dim();
        if other.logits.dim() != (1, rows, classes) {
            return Err(ModelError::Shape {
                what: "a member's logits".into(),
                found: other.logits.shape().to_vec(),
                expected: vec![1, rows, classes],
            });
        }
        let logits = Array3::from_shape_fn((members + count, rows, classes), |(p, i, c)| {
            match p < members {
                true => self.logits[[p, i, c]],
                false => other.logits[[0, i, c]],
            }
        });
        Ok(Self { logits })
    }

    /// Members `N`.
    pub fn members(&self) -> usize {
        self.logits.len_of(Axis(0))
    }

    /// Rows `n`.
    pub fn rows(&self) -> usize {
        self.logits.len_of(Axis(1))
    }

    /// Classes `C`.
    pub fn classes(&self) -> usize {
        self.logits.len_of(Axis(2))
    }

    /// Member logits, `N × n × C`.
    pub fn logits(&self) -> ArrayView3<'_, f64> {
        self.logits.view()
    }

    /// Logarithms of the member probabilities, `N × n × C`.
    pub fn log_probabilities(&self) -> Array3<f64> {
        let mut out = self.logits.clone();
        for mut row in out.rows_mut() {
            let total = log_sum_exp(row.iter().copied());
            row -= total;
        }
        out
    }

    /// Member probabilities, `N × n × C`.
    pub fn probabilities(&self) -> Array3<f64> {
        self.log_probabilities().mapv_into(f64::exp)
    }

    /// Probabilities of the mixture, `n × C`; rows sum to 1.
    pub fn mean_probability(&self) -> Array2<f64> {
        self.log_mean_probability().mapv_into(f64::exp)
    }

    /// Their logarithms, `n × C`, exact where the probabilities themselves underflow.
    pub fn log_mean_probability(&self) -> Array2<f64> {
        let members = (self.logits.len_of(Axis(0)).max(1) as f64).ln();
        self.log_probabilities().map_axis(Axis(0), |values| {
            log_sum_exp(values.iter().copied()) - members
        })
    }

    /// Mean of the member logits, `n × C`. Logits are known up to a constant a row, which the softmax forgets.
    pub fn mean_logit(&self) -> Array2<f64> {
        self.logits.sum_axis(Axis(0)) / self.logits.len_of(Axis(0)).max(1) as f64
    }

    /// Logarithms of the softmax of the mean logit, `n × C`.
    pub fn log_softmax_of_mean_logit(&self) -> Array2<f64> {
        let logits = self.mean_logit().insert_axis(Axis(0));
        Self { logits }.log_mean_probability()
    }

    /// The class that the mixture finds most probable, `n`; the first of equals.
    pub fn most_probable(&self) -> Array1<usize> {
        self.log_mean_probability().map_axis(Axis(1), |row| {
            let better = |best: usize, c: usize| if row[c] > row[best] { c } else { best };
            (0..row.len()).fold(0, better)
        })
    }

    /// Entropy `−Σ_c p̄_c ln p̄_c` of the mean probability, `n`, nats, in `[0, ln C]`: all that is uncertain.
    pub fn entropy(&self) -> Array1<f64> {
        self.log_mean_probability()
            .map_axis(Axis(1), |row| (-negative_entropy(row)).max(0.0))
    }

    /// Mutual information of class and member, `n`, nats: the entropy less the mean entropy of the members. It is what the
    /// members disagree about, 0 where they do not.
    pub fn mutual_information(&self) -> Array1<f64> {
        let own = self
            .log_probabilities()
            .map_axis(Axis(2), |row| negative_entropy(row))
            .sum_axis(Axis(0))
            / self.members().max(1) as f64;
        // Rounding may leave less than nothing.
        (self.entropy() + own).mapv_into(|information| information.max(0.0))
    }

    /// Mean negative log likelihood of the class indices `targets` under the mean probability, in nats a row.
    ///
    /// # Errors
    /// [`ModelError::Shape`] unless there is one target a row, [`ModelError::ClassIndex`] with the first that is no class.
    pub fn negative_log_likelihood(&self, targets: ArrayView1<'_, f64>) -> Result<f64, ModelError> {
        mean_loss(&self.log_mean_probability(), targets)
    }

    /// The same under the softmax of the mean logit.
    ///
    /// # Errors
    /// As for [`Self::negative_log_likelihood`].
    pub fn negative_log_likelihood_of_mean_logit(
        &self,
        targets: ArrayView1<'_, f64>,
    ) -> Result<f64, ModelError> {
        mean_loss(&self.log_softmax_of_mean_logit(), targets)
    }
}

/// `−(1/n) Σ_i log p_{i,y_i}`.
fn mean_loss(
    log_probability: &Array2<f64>,
    targets: ArrayView1<'_, f64>,
) -> Result<f64, ModelError> {
    let (rows, classes) = log_probability.dim();
    if targets.len() != rows {
        return Err(ModelError::Shape {
            what: "targets beside the prediction".into(),
            found: vec![targets.len()],
            expected: vec![rows],
        });
    }
    let mut sum = 0.0;
    for (row, (target, log_p)) in targets.iter().zip(log_probability.rows()).enumerate() {
        sum -= log_p[class_index(*target, row, classes)?];
    }
    Ok(sum / rows.max(1) as f64)
}

/// `Σ_c p_c ln p_c` of logarithms; `0 ln 0 = 0`.
fn negative_entropy(log_probabilities: ArrayView1<'_, f64>) -> f64 {
    let term = |&l: &f64| {
        if l == f64::NEG_INFINITY {
            0.0
        } else {
            l.exp() * l
        }
    };
    log_probabilities.iter().map(term).sum()
}

/// `log Σ e^x` with the largest term drawn out, so that nothing overflows; `−∞` for nothing.
pub fn log_sum_exp(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = values.clone().fold(f64::NEG_INFINITY, f64::max);
    if largest.is_infinite() {
        return largest;
    }
    largest + values.map(|x| (x - largest).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::array;

    fn prediction() -> ClassPrediction {
        ClassPrediction::new(array![
            [[0.0, 1.0, -1.0], [2.0, 2.0, 2.0]],
            [[3.0, -1.0, 0.5], [0.0, -4.0, 1.0]]
        ])
        .unwrap()
    }

    #[test]
    fn both_likelihoods_are_the_double_loop_in_plain_numbers() {
        let prediction = prediction();
        let softmax = |f: &[f64]| {
            let total: f64 = f.iter().map(|v| v.exp()).sum();
            f.iter().map(|v| v.exp() / total).collect::<Vec<f64>>()
        };
        let targets = [0usize, 2];
        let (mut of_probability, mut of_logit) = (0.0, 0.0);
        for (i, y) in targets.into_iter().enumerate() {
            let member = |p: usize| {
                let row: Vec<f64> = (0..3).map(|c| prediction.logits()[[p, i, c]]).collect();
                row
            };
            let (a, b) = (member(0), member(1));
            of_probability -= (0.5 * (softmax(&a)[y] + softmax(&b)[y])).ln() / 2.0;
            let mean: Vec<f64> = a.iter().zip(&b).map(|(a, b)| 0.5 * (a + b)).collect();
            of_logit -= softmax(&mean)[y].ln() / 2.0;
        }
        let targets = array![0.0, 2.0];
        assert_relative_eq!(
            prediction.negative_log_likelihood(targets.view()).unwrap(),
            of_probability,
            max_relative = 1e-14
        );
        assert_relative_eq!(
            prediction
                .negative_log_likelihood_of_mean_logit(targets.view())
                .unwrap(),
            of_logit,
            max_relative = 1e-14
        );
        assert_eq!(prediction.most_probable(), array![0, 2]);
    }

    #[test]
    fn probabilities_that_underflow_keep_their_logarithm() {
        let prediction = ClassPrediction::new(array![[[0.0, -1000.0]], [[0.0, -1200.0]]]).unwrap();
        assert_eq!(prediction.mean_probability()[[0, 1]], 0.0);
        // log(½ (e^−1000 + e^−1200)); the second term is far below rounding.
        assert_relative_eq!(
            prediction
                .negative_log_likelihood(array![1.0].view())
                .unwrap(),
            1000.0 + 2.0f64.ln(),
            max_relative = 1e-14
        );
    }

    #[test]
    fn rows_of_the_mixture_sum_to_one_for_logits_of_any_size() {
        let prediction =
            ClassPrediction::new(array![[[1e6, -1e6, 3.0]], [[-1e300, 0.0, 1e300]]]).unwrap();
        assert_relative_eq!(
            prediction.mean_probability().sum(),
            1.0,
            max_relative = 1e-15
        );
    }

    #[test]
    fn targets_that_do_not_fit_are_named() {
        let message = |targets: Array1<f64>| {
            let error = prediction().negative_log_likelihood(targets.view());
            error.unwrap_err().to_string()
        };
        assert_eq!(
            message(array![0.0, 3.0]),
            "target 3 of row 1 is no class index; expected a whole number from 0 to 2"
        );
        assert_eq!(
            message(array![0.5, 3.0]),
            "target 0.5 of row 0 is no class index; expected a whole number from 0 to 2"
        );
        assert_eq!(
            message(array![0.0]),
            "targets beside the prediction has shape [1]; expected [2]"
        );
    }

    #[test]
    fn entropies_in_closed_form() {
        let of = |logits| ClassPrediction::new(logits).unwrap();
        let uniform = of(Array3::zeros((2, 1, 10)));
        assert!((uniform.entropy()[0] - 10f64.ln()).abs() < 1e-14);
        assert!(uniform.mutual_information()[0] < 1e-14);
        // Members that are certain of different classes: ln 2 together, all of it disagreement. A probability of e^−2000 is none.
        let split = of(array![[[2000.0, 0.0]], [[0.0, 2000.0]]]);
        assert!((split.entropy()[0] - 2f64.ln()).abs() < 1e-14);
        assert!((split.mutual_information()[0] - 2f64.ln()).abs() < 1e-14);
        let certain = of(array![[[0.0, 2000.0]]]);
        assert_eq!(certain.entropy()[0], 0.0);
        // p = 1/4: −¼ ln ¼ − ¾ ln ¾.
        let quarter = of(array![[[0.0, 3f64.ln()]]]);
        let expected = 0.25 * 4f64.ln() + 0.75 * (4.0f64 / 3.0).ln();
        assert!((quarter.entropy()[0] - expected).abs() < 1e-14);
    }
}
