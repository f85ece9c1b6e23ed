//! Layers: text in PyTorch's form, serde, and what does not fit together.

use svn_curvature::{Activation, Conv2d, CurvatureError, Layer, Pool2d, Sequential};

#[test]
fn layers_are_read_as_pytorch_prints_them() {
    let table = [
        (
            "Linear(in_features=6, out_features=50, bias=True)",
            Layer::linear(6, 50),
        ),
        (
            "Linear(6, 50, bias=False)",
            Layer::Linear {
                inputs: 6,
                outputs: 50,
                bias: false,
            },
        ),
        ("ReLU()", Layer::relu()),
        ("ReLU(inplace=True)", Layer::relu()),
        (
            "GELU(approximate='none')",
            Layer::Activation(Activation::Gelu),
        ),
        ("Flatten(start_dim=1, end_dim=-1)", Layer::Flatten),
        ("Scale(factor=0.5)", Layer::Scale(0.5)),
        (
            "Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1))",
            Layer::Conv2d(Conv2d::new(3, 8, [3, 3])),
        ),
        (
            "Conv2d(3, 8, kernel_size=(3, 2), stride=(2, 1), padding=(1, 0), dilation=(2, 2), bias=False)",
            Layer::Conv2d(
                Conv2d::new(3, 8, [3, 2])
                    .stride([2, 1])
                    .padding([1, 0])
                    .dilation([2, 2])
                    .bias(false),
            ),
        ),
        (
            "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)",
            Layer::MaxPool2d(Pool2d::new([2, 2])),
        ),
        (
            "AvgPool2d(kernel_size=(3, 2), stride=1)",
            Layer::AvgPool2d(Pool2d::new([3, 2]).stride([1, 1])),
        ),
    ];
    for (text, layer) in table {
        assert_eq!(text.parse::<Layer>().unwrap(), layer, "{text}");
    }
}

#[test]
fn text_and_serde_forms_round_trip() {
    for case in crate::common::cases(3) {
        for layer in case.network.layers() {
            assert_eq!(
                layer.to_string().parse::<Layer>().unwrap(),
                *layer,
                "{layer}"
            );
            let json = serde_json::to_string(layer).unwrap();
            assert_eq!(
                serde_json::from_str::<Layer>(&json).unwrap(),
                *layer,
                "{json}"
            );
        }
    }
    assert!(
        serde_json::from_str::<Layer>(r#"{"linear": {"inputs": 3, "outputs": 2, "gain": 1}}"#)
            .is_err()
    );
}

#[test]
fn unsupported_layers_and_settings_are_named() {
    let table = [
        (
            "BatchNorm2d(16, eps=1e-05)",
            "layer BatchNorm2d is not supported: it has no derivative here",
        ),
        (
            "Dropout(p=0.5, inplace=False)",
            "layer Dropout is not supported: it has no derivative here",
        ),
        (
            "Conv2d(4, 8, kernel_size=(3, 3), stride=(1, 1), groups=2)",
            "layer Conv2d is not supported: groups=2 has no derivative here",
        ),
        (
            "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=True)",
            "layer MaxPool2d is not supported: ceil_mode=True has no derivative here",
        ),
        (
            "GELU(approximate='tanh')",
            "layer GELU is not supported: approximate='tanh' has no derivative here",
        ),
        (
            "Conv2d(4, 8)",
            "layer Conv2d is not supported: kernel_size is missing",
        ),
        (
            "Linear(in_features=x, out_features=3)",
            "layer Linear is not supported: in_features must be a number",
        ),
        (
            "Scale(factor=half)",
            "layer Scale is not supported: factor must be a number",
        ),
        (
            "Linear(3, 2",
            "layer Linear is not supported: the closing bracket is missing",
        ),
        ("", "layer  is not supported"),
    ];
    for (text, message) in table {
        let error = text.parse::<Layer>().unwrap_err();
        assert!(
            matches!(error, CurvatureError::UnsupportedLayer { .. }),
            "{text}: {error}"
        );
        assert!(error.to_string().starts_with(message), "{text}: {error}");
    }
}

#[test]
fn layers_that_do_not_fit_are_named_with_both_shapes() {
    let message = |shape: &[usize], layers| Sequential::new(shape, layers).unwrap_err().to_string();
    assert_eq!(
        message(
            &[6],
            vec![Layer::linear(6, 50), Layer::relu(), Layer::linear(40, 1)]
        ),
        "layer 2 (Linear) takes inputs of shape [40], but what comes before it gives [50] per sample"
    );
    assert_eq!(
        message(&[1, 4, 4], vec![Layer::Conv2d(Conv2d::new(3, 2, [3, 3]))]),
        "layer 0 (Conv2d) takes inputs of shape [3, height, width], but what comes before it gives [1, 4, 4] per sample"
    );
    for factor in [0.0, f64::NAN] {
        let layers = vec![Layer::linear(6, 1), Layer::Scale(factor)];
        let expected = "layer 1 (Scale) is not supported: its factor is";
        let found = message(&[6], layers);
        assert!(found.starts_with(expected), "{found}");
    }
    assert!(
        message(&[1, 4, 4], vec![Layer::Conv2d(Conv2d::new(1, 2, [5, 5]))])
            .contains("at least one window")
    );
    assert!(
        message(&[4], vec![Layer::MaxPool2d(Pool2d::new([2, 2]))])
            .contains("[channels, height, width]")
    );
    assert_eq!(
        message(
            &[1, 4, 4],
            vec![Layer::Conv2d(Conv2d::new(1, 2, [3, 3]).stride([0, 1]))]
        ),
        "layer 0 (Conv2d): stride must be positive, found [0, 1]"
    );
    assert_eq!(
        message(
            &[1, 4, 4],
            vec![Layer::MaxPool2d(Pool2d::new([2, 2]).padding([2, 0]))]
        ),
        "layer 0 (MaxPool2d): padding must be at most half the kernel, found [2, 0]"
    );
    assert!(message(&[4], vec![Layer::linear(4, 0)]).contains("outputs must be positive"));
    assert_eq!(
        message(&[1, 4, 4], vec![Layer::Conv2d(Conv2d::new(1, 2, [3, 3]))]),
        "a network must end in one vector of outputs, found [2, 2, 2] per sample"
    );
    assert!(message(&[4], vec![Layer::relu()]).contains("at least one Linear or Conv2d layer"));
}

#[test]
fn sizes_beyond_memory_are_refused_not_overflowed() {
    let half = usize::MAX / 2;
    let message = |shape: &[usize], layers| Sequential::new(shape, layers).unwrap_err().to_string();
    assert!(message(&[half], vec![Layer::linear(half, 5)]).contains("\"0.weight\""));
    assert!(
        message(
            &[half],
            vec![
                Layer::linear(half, 1),
                Layer::linear(1, half),
                Layer::linear(half, 1)
            ]
        )
        .contains("too many")
    );
    let conv = Conv2d::new(1, 1, [half, half]).dilation([half, half]);
    let layers = |conv| vec![Layer::Conv2d(conv), Layer::Flatten];
    assert!(message(&[1, 8, 8], layers(conv.clone())).contains("window"));
    assert!(message(&[1, 8, 8], layers(conv.padding([half, half]))).contains("\"0.weight\""));
    assert!(
        message(&[], vec![Layer::Flatten, Layer::linear(1, 1)]).contains("at least one dimension")
    );
    assert!(message(&[0], vec![Layer::linear(1, 1)]).contains("no side of length 0"));
}

#[test]
fn the_flat_vector_has_pytorchs_order_and_names() {
    let layers = vec![
        Layer::Conv2d(Conv2d::new(1, 2, [3, 3])),
        Layer::relu(),
        Layer::Flatten,
        Layer::Linear {
            inputs: 8,
            outputs: 3,
            bias: false,
        },
        Layer::linear(3, 1),
    ];
    let network = Sequential::new(&[1, 4, 4], layers).unwrap();
    let blocks: Vec<_> = network
        .layout()
        .blocks()
        .iter()
        .map(|block| (block.name(), block.shape().to_vec(), block.range()))
        .collect();
    assert_eq!(
        blocks,
        [
            ("0.weight", vec![2, 1, 3, 3], 0..18),
            ("0.bias", vec![2], 18..20),
            ("3.weight", vec![3, 8], 20..44),
            ("4.weight", vec![1, 3], 44..47),
            ("4.bias", vec![1], 47..48),
        ]
    );
}
