//! Lines as older programs wrote them.

use serde_json::Value;
use svn_models::curvature::Activation;
use svn_models::recipe::Method;

use super::*;
use crate::engine::Record;
use crate::study::vision::VisionExtra;

/// A record of schema 1: settings of LeNet apart, those that were not used null.
const RECORD_1: &str = r#"{"schema":1,"config":"0123456789abcdef","configuration":{"dataset":"mnist","data_sha256":"ab","foreign":"fashion-mnist","foreign_sha256":"cd","method":"ll-svn","split":"official","limits":{"learning":500,"test":null},"corruption":1000,"settings":{"epochs":2,"lr":0.003,"batch_size":32,"particles":5,"hidden":null,"noise":null,"prior_precision":1.0,"hessian":"kfac","coupling":"block-diagonal","kernel":"rbf","metric":"identity","bandwidth":"median","solver":"direct","damping":5.0,"trust_region":null,"ring":6,"schedule":"cosine"},"vision":{"activation":"sigmoid","newton_lr":0.1,"ll_mode":"joint","root":"sampled","patience":null},"device":"cpu"},"seed":3,"fold":0,"rows":{"train":400,"validation":100,"test":10000},"epochs":2,"best_epoch":2,"metrics":{"accuracy":0.8713000000000001,"auroc":null,"nll":0.4102938475610293},"curve":[{"epoch":1,"validation_nll":0.6180339887498949},{"epoch":2,"validation_nll":null}],"corruption":[{"kind":"rotation","level":15.0,"accuracy":0.8100000000000002,"nll":0.6931471805599461,"ece":0.05}],"reliability":[{"rows":3,"confidence":0.3333333333333333,"accuracy":0.6666666666666666}],"warnings":["w"],"timing":{"steps":26,"step_ms_median":12.5,"step_ms_p90":14.0,"wall_s":3.25}}"#;

/// The same record as programs of schema 2 wrote it.
fn record_2() -> String {
    let vision = r#""vision":{"activation":"sigmoid","newton_lr":0.1,"ll_mode":"joint","root":"sampled","patience":null},"#;
    let settings = r#","schedule":"cosine","activation":"sigmoid","newton_lr":0.1,"ll_mode":"joint","root":"sampled"}"#;
    RECORD_1
        .replace("\"schema\":1", "\"schema\":2")
        .replace(vision, "")
        .replace(r#","schedule":"cosine"}"#, settings)
        .replace(r#""hidden":null,"noise":null,"#, "")
        .replace(r#""trust_region":null,"#, "")
}

fn upgraded(text: &str) -> Value {
    let mut line: Value = serde_json::from_str(text).unwrap();
    VisionDesign::upgrade(&mut line);
    line["schema"] = 3.into();
    line
}

#[test]
fn records_of_both_schemas_are_that_of_the_same_run_now() {
    let lines = [upgraded(RECORD_1), upgraded(&record_2())];
    assert_eq!(lines[0], lines[1]);
    let record: Record<VisionDesign, VisionExtra> =
        serde_json::from_value(lines[0].clone()).unwrap();
    assert_eq!(
        (record.study.as_str(), record.method),
        ("vision", Method::LlSvn)
    );
    assert_eq!(
        (record.seed, record.fold, record.design.size()),
        (3, 0, "500".to_owned())
    );
    assert_eq!(record.design.foreign.as_deref(), Some("fashion-mnist"));
    assert_eq!(record.settings.activation, Some(Activation::Sigmoid));
    assert_eq!(
        (record.settings.lr, record.settings.newton_lr),
        (Some(0.003), Some(0.1))
    );
    assert_eq!(record.settings.patience, None);
    assert_eq!(record.metric("nll"), Some(0.4102938475610293));
    assert_eq!(record.extra.corruption[0].nll, Some(0.6931471805599461));
    assert_eq!(record.extra.reliability[0].rows, 3);
    // The rest is as it was, to the last digit.
    let old: Value = serde_json::from_str(RECORD_1).unwrap();
    for name in [
        "metrics",
        "curve",
        "rows",
        "warnings",
        "timing",
        "config",
        "best_epoch",
    ] {
        assert_eq!(lines[0][name], old[name], "{name}");
    }
    let mut again = lines[0].clone();
    VisionDesign::upgrade(&mut again);
    assert_eq!(again, lines[0], "a line of today is left alone");
}
