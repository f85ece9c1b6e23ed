//! Lines as older programs wrote them.

use serde_json::{Value, json};
use svn_models::recipe::{Method, Recipe};

use super::*;
use crate::engine::Record;

/// A record of schema 1: settings that were not used are null, one step size, neither activation nor root.
const RECORD_1: &str = r#"{"schema":1,"config":"7d5ca7988d145143","dataset":"autompg","task":"regression","data_sha256":"ada06c22fa8cb973c1c4073fe6f57d746db9d4409822a02afe6c34963ba91e81","method":"svgd","protocol":{"name":"paper","folds":3},"seed":0,"fold":0,"rows":{"train":209,"validation":52,"test":131},"settings":{"epochs":6,"lr":0.03,"batch_size":16,"particles":5,"hidden":[50,50],"noise":"homoscedastic","prior_precision":1.0,"hessian":null,"coupling":null,"kernel":"rbf","metric":"identity","bandwidth":"2d","solver":null,"damping":null,"trust_region":null,"ring":null,"predictive":"laplace"},"epochs":6,"best_epoch":2,"validation_nll":2.4222444779068555,"metrics":{"coverage90":0.9236641221374046,"crps":1.4313762981954556,"laplace_precision":10.0,"mse":7.167489985770087,"nll":2.3137564516201294,"nll_epistemic":1.3981591594658203,"nll_paper":3.08490259948816,"rmse":2.6772168357774246,"width90":8.900210299912569},"curve":[{"epoch":1,"validation_nll":2.5810508895582194},{"epoch":2,"validation_nll":2.4715304537963427}],"warnings":[],"timing":{"steps":84,"step_ms_median":0.262898,"step_ms_p90":0.2994484,"wall_s":0.373446752}}"#;

/// A record of schema 2.
const RECORD_2: &str = r#"{"schema":2,"config":"4c768cdf3babce88","dataset":"autompg","task":"regression","data_sha256":"ada06c22fa8cb973c1c4073fe6f57d746db9d4409822a02afe6c34963ba91e81","method":"svn","protocol":{"name":"paper","folds":3},"seed":0,"fold":0,"rows":{"train":209,"validation":52,"test":131},"settings":{"epochs":6,"newton_lr":1.0,"batch_size":16,"particles":5,"hidden":[50,50],"activation":"relu","noise":"heteroscedastic","prior_precision":2.0,"hessian":"full","root":"exact","coupling":"gram","kernel":"rbf","metric":"curvature","bandwidth":"median","solver":"direct","damping":20.0,"trust_region":0.1,"ring":6,"predictive":"laplace"},"epochs":6,"best_epoch":3,"validation_nll":2.2934912914340626,"metrics":{"coverage90":0.8931297709923665,"crps":1.3471823789535564,"laplace_precision":100.0,"mse":6.226899022073395,"nll":2.2604128421844107,"nll_epistemic":2.3890126044043622,"nll_paper":14.965678964797856,"rmse":2.4953755272650637,"width90":7.838069745440251},"curve":[{"epoch":1,"validation_nll":2.482563463970483},{"epoch":2,"validation_nll":2.452011120842867}],"warnings":[],"timing":{"steps":84,"step_ms_median":18.3409765,"step_ms_p90":21.3599049,"wall_s":2.472469648}}"#;

/// A trial of schema 2: without its task.
const TRIAL_2: &str = r#"{"schema":2,"config":"0123456789abcdef","dataset":"yacht","data_sha256":"ab","method":"svgd","protocol":{"name":"paper","folds":5},"seed":0,"fold":1,"epochs":20,"settings":{"epochs":20,"lr":0.03,"noise":"homoscedastic"},"validation_nll":0.7310585786300049,"best_epoch":17,"failure":null,"wall_s":1.25}"#;

/// What the caller does: upgrade, then set the schema and compute the hash.
fn upgraded(text: &str) -> Value {
    let mut line: Value = serde_json::from_str(text).unwrap();
    UciDesign::upgrade(&mut line);
    line["schema"] = 3.into();
    line
}

fn record(text: &str) -> Record<UciDesign, ()> {
    serde_json::from_value(upgraded(text)).unwrap()
}

/// Everything but design, settings and schema is as it was, to the last digit.
fn assert_kept(old: &str, new: &Value) {
    let old: Value = serde_json::from_str(old).unwrap();
    for (name, value) in old.as_object().unwrap() {
        match name.as_str() {
            "schema" | "settings" => {}
            "dataset" | "task" | "data_sha256" | "protocol" => {
                assert_eq!(&new["design"][name], value);
                assert_eq!(new.get(name), None);
            }
            _ => assert_eq!(&new[name], value, "{name}"),
        }
    }
}

#[test]
fn a_record_of_schema_2_has_its_design_inside() {
    let record = record(RECORD_2);
    assert_eq!((record.study.as_str(), record.method), ("uci", Method::Svn));
    assert_eq!(record.design.dataset, "autompg");
    assert_eq!(record.design.protocol, Protocol::Paper { folds: 3 });
    assert_eq!(record.settings.newton_lr, Some(1.0));
    assert_eq!(record.metrics.len(), 9);
    assert_eq!(record.metric("nll"), Some(2.2604128421844107));
    assert_eq!(record.timing.fit_s(), None);
    assert_kept(RECORD_2, &upgraded(RECORD_2));
}

#[test]
fn a_record_of_schema_1_has_the_settings_of_the_same_run_now() {
    let svgd = record(RECORD_1);
    assert_eq!(
        svgd.settings.activation,
        Some(svn_models::curvature::Activation::Relu)
    );
    assert_eq!(
        (svgd.settings.lr, svgd.settings.newton_lr),
        (Some(0.03), None)
    );
    assert_eq!(svgd.metric("nll"), Some(2.3137564516201294));
    assert_kept(RECORD_1, &upgraded(RECORD_1));
    let newton = |method: &str| {
        let text = RECORD_1
            .replace("svgd", method)
            .replace("\"hessian\":null", "\"hessian\":\"full\"");
        let settings = upgraded(&text)["settings"].clone();
        ["lr", "newton_lr", "root", "ll_mode"].map(|name| settings.get(name).cloned())
    };
    let [step, root] = [json!(0.03), json!("exact")].map(Some);
    assert_eq!(newton("svn"), [None, step.clone(), root.clone(), None]);
    assert_eq!(
        newton("ll-svn"),
        [step.clone(), step, root, Some(json!("joint"))]
    );
}

#[test]
fn the_noise_of_a_trial_tells_its_task() {
    let task = |text: &str| upgraded(text)["design"]["task"].clone();
    assert_eq!(task(TRIAL_2), "regression");
    assert_kept(TRIAL_2, &upgraded(TRIAL_2));
    let classes = TRIAL_2
        .replace("homoscedastic", "x")
        .replace(",\"noise\":\"x\"", "");
    assert_eq!(task(&classes), "classification");
    let nulls = TRIAL_2.replace("\"schema\":2", "\"schema\":1");
    let nulls = nulls.replace("\"homoscedastic\"", "null");
    assert_eq!(task(&nulls), "classification");
    let settings = upgraded(&nulls)["settings"].clone();
    serde_json::from_value::<Recipe>(settings).unwrap();
}

#[test]
fn a_line_of_today_is_left_alone() {
    let now = upgraded(RECORD_2);
    let mut again = now.clone();
    UciDesign::upgrade(&mut again);
    assert_eq!(again, now);
}
