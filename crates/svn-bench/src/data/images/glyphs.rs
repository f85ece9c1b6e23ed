//! Ten digits and ten letters as strokes in the unit square, x to the right and y downwards.

/// Points that a pen joins by straight lines.
pub(super) type Stroke = Vec<[f64; 2]>;

/// The strokes of a digit `0..10`.
pub(super) fn digit(class: usize) -> Vec<Stroke> {
    match class {
        0 => vec![ring(0.5, 0.5, 0.3, 0.42)],
        1 => vec![vec![[0.35, 0.25], [0.55, 0.08], [0.55, 0.92]]],
        2 => {
            let mut stroke = arc(0.5, 0.32, 0.28, 0.24, -180.0, 35.0);
            stroke.extend([[0.2, 0.92], [0.8, 0.92]]);
            vec![stroke]
        }
        3 => vec![
            arc(0.47, 0.3, 0.26, 0.22, -150.0, 90.0),
            arc(0.47, 0.71, 0.29, 0.22, -90.0, 150.0),
        ],
        4 => vec![vec![[0.62, 0.92], [0.62, 0.08], [0.2, 0.62], [0.84, 0.62]]],
        5 => vec![
            vec![[0.76, 0.08], [0.3, 0.08], [0.28, 0.46]],
            arc(0.48, 0.66, 0.28, 0.26, -130.0, 140.0),
        ],
        6 => vec![vec![[0.66, 0.08], [0.27, 0.6]], ring(0.5, 0.68, 0.26, 0.24)],
        7 => vec![vec![[0.2, 0.08], [0.8, 0.08], [0.42, 0.92]]],
        8 => vec![ring(0.5, 0.29, 0.22, 0.2), ring(0.5, 0.71, 0.27, 0.22)],
        _ => vec![
            ring(0.5, 0.32, 0.26, 0.24),
            vec![[0.76, 0.32], [0.62, 0.92]],
        ],
    }
}

/// The strokes of one of the letters A E F H K L T X Y Z.
pub(super) fn letter(class: usize) -> Vec<Stroke> {
    let (left, right, top, bottom) = (0.22, 0.78, 0.08, 0.92);
    let stem = vec![[left, top], [left, bottom]];
    match class {
        0 => vec![
            vec![[0.16, bottom], [0.5, top], [0.84, bottom]],
            vec![[0.3, 0.6], [0.7, 0.6]],
        ],
        1 => vec![
            vec![[right, top], [left, top], [left, bottom], [right, bottom]],
            vec![[left, 0.5], [0.68, 0.5]],
        ],
        2 => vec![
            vec![[right, top], [left, top], [left, bottom]],
            vec![[left, 0.5], [0.68, 0.5]],
        ],
        3 => vec![
            stem,
            vec![[right, top], [right, bottom]],
            vec![[left, 0.5], [right, 0.5]],
        ],
        4 => vec![
            stem,
            vec![[right, top], [left, 0.55]],
            vec![[0.38, 0.44], [right, bottom]],
        ],
        5 => vec![vec![[left, top], [left, bottom], [right, bottom]]],
        6 => vec![
            vec![[left, top], [right, top]],
            vec![[0.5, top], [0.5, bottom]],
        ],
        7 => vec![
            vec![[left, top], [right, bottom]],
            vec![[right, top], [left, bottom]],
        ],
        8 => vec![
            vec![[left, top], [0.5, 0.5], [right, top]],
            vec![[0.5, 0.5], [0.5, bottom]],
        ],
        _ => vec![vec![
            [left, top],
            [right, top],
            [left, bottom],
            [right, bottom],
        ]],
    }
}

fn ring(x: f64, y: f64, width: f64, height: f64) -> Stroke {
    arc(x, y, width, height, 0.0, 360.0)
}

/// Part of an ellipse about `(x, y)`, degrees clockwise from the right; a point every 20 degrees or less.
fn arc(x: f64, y: f64, width: f64, height: f64, from: f64, to: f64) -> Stroke {
    let pieces = ((to - from) / 20.0).ceil().max(1.0) as usize;
    (0..=pieces)
        .map(|k| {
            let angle = (from + (to - from) * k as f64 / pieces as f64).to_radians();
            [x + width * angle.cos(), y + height * angle.sin()]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glyphs_stay_inside_and_are_all_different() {
        let all: Vec<Vec<Stroke>> = (0..10).map(digit).chain((0..10).map(letter)).collect();
        for (index, glyph) in all.iter().enumerate() {
            assert!(glyph.iter().all(|stroke| stroke.len() > 1));
            assert!(
                glyph
                    .iter()
                    .flatten()
                    .flatten()
                    .all(|v| (0.0..=1.0).contains(v))
            );
            assert!(!all[..index].contains(glyph), "{index}");
        }
    }

    #[test]
    fn arcs_start_and_end_where_they_should() {
        let stroke = arc(0.5, 0.5, 0.2, 0.4, 0.0, 90.0);
        let (first, last) = (stroke[0], stroke[stroke.len() - 1]);
        assert_eq!(stroke.len(), 6);
        for (found, expected) in [(first, [0.7, 0.5]), (last, [0.5, 0.9])] {
            assert!((0..2).all(|k| (found[k] - expected[k]).abs() < 1e-15));
        }
    }
}
