//! Parameter layout: places, views, serialisation.

use ndarray::{Array1, Array2, s};
use svn_linalg::{LayoutError, ParameterLayout};

fn layout() -> ParameterLayout {
    ParameterLayout::new([
        ("conv.weight", vec![2, 3, 1, 1]),
        ("scale", vec![]),
        ("head.weight", vec![4, 2]),
        ("head.bias", vec![4]),
    ])
    .unwrap()
}

#[test]
fn blocks_follow_each_other_without_gaps() {
    let layout = layout();
    assert_eq!(layout.dim(), 6 + 1 + 8 + 4);
    let mut end = 0;
    for block in layout.blocks() {
        assert_eq!(block.offset(), end);
        assert_eq!(block.len(), block.shape().iter().product::<usize>());
        assert!(!block.is_empty());
        end = block.range().end;
    }
    assert_eq!(end, layout.dim());
    assert_eq!(layout.block("head.bias").unwrap().range(), 15..19);
}

#[test]
fn views_are_row_major_and_partition_the_vector() {
    let layout = layout();
    let flat = Array1::range(0.0, 19.0, 1.0);
    let views = layout.split(flat.view()).unwrap();
    let rejoined: Vec<f64> = views.iter().flat_map(|view| view.iter().copied()).collect();
    assert_eq!(rejoined, flat.to_vec());
    assert_eq!(views[2][[3, 1]], 7.0 + 3.0 * 2.0 + 1.0);
    assert_eq!(layout.view("head.weight", flat.view()).unwrap(), views[2]);
    assert_eq!(views[1].ndim(), 0);
}

#[test]
fn particles_are_split_by_columns() {
    let layout = layout();
    let particles = Array2::from_shape_fn((3, 19), |(p, i)| (100 * p + i) as f64);
    let parts = layout.split_particles(particles.view()).unwrap();
    assert_eq!(
        parts.iter().map(|part| part.dim()).collect::<Vec<_>>(),
        [(3, 6), (3, 1), (3, 8), (3, 4)]
    );
    assert_eq!(parts[3][[2, 0]], 215.0);
    let error = layout
        .split_particles(Array2::zeros((3, 18)).view())
        .unwrap_err();
    assert_eq!(
        error,
        LayoutError::Dimension {
            expected: 19,
            found: 18
        }
    );
}

#[test]
fn mistakes_are_typed_errors() {
    let duplicate = ParameterLayout::new([("w", vec![1]), ("w", vec![2])]);
    assert_eq!(duplicate, Err(LayoutError::Duplicate { name: "w".into() }));
    for shape in [vec![0], vec![3, 0], vec![usize::MAX, 2]] {
        assert!(matches!(
            ParameterLayout::new([("w", shape)]),
            Err(LayoutError::Size { .. })
        ));
    }
    assert!(ParameterLayout::new([("a", vec![usize::MAX]), ("b", vec![1])]).is_err());
    let error = layout().block("head.wieght").unwrap_err().to_string();
    assert!(
        error.contains("head.wieght") && error.contains("head.weight"),
        "{error}"
    );
    let short = Array1::zeros(18);
    assert_eq!(
        layout().split(short.view()),
        Err(LayoutError::Dimension {
            expected: 19,
            found: 18
        })
    );
    let spread = Array1::<f64>::zeros(38);
    assert_eq!(
        layout().split(spread.slice(s![..;2])),
        Err(LayoutError::Strided)
    );
    assert_eq!(
        ParameterLayout::new(Vec::<(String, Vec<usize>)>::new())
            .unwrap()
            .dim(),
        0
    );
}

#[test]
fn serialised_form_is_names_and_shapes_and_is_checked_when_read() {
    let layout = layout();
    let text = serde_json::to_string(&layout).unwrap();
    assert!(
        text.starts_with(
            r#"[{"name":"conv.weight","shape":[2,3,1,1]},{"name":"scale","shape":[]}"#
        ),
        "{text}"
    );
    assert_eq!(
        serde_json::from_str::<ParameterLayout>(&text).unwrap(),
        layout
    );
    for bad in [
        r#"[{"name":"w","shape":[1]},{"name":"w","shape":[1]}]"#,
        r#"[{"name":"w","shape":[0]}]"#,
        r#"[{"name":"w","shape":[1],"offset":3}]"#,
    ] {
        assert!(
            serde_json::from_str::<ParameterLayout>(bad).is_err(),
            "{bad}"
        );
    }
}
