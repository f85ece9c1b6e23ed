//! A process of its own for each case, so that its peak memory is that of the case.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use svn_models::stein::SolveRoute;

use super::case::Case;
use super::env;
use super::error::PerfError;
use super::measure::{Counter, warm_up, with_threads};
use super::rig::Rig;
use super::statistics::Spread;

/// A first step above this is followed by a single one.
const SLOW_MS: f64 = 1000.0;

/// What the process is to run; nothing at all for the memory of the libraries alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Order {
    pub case: Option<Case>,
    pub threads: usize,
    /// Time for steps after the warm-up, in milliseconds; at least three steps are taken, one where steps are slow. Zero to learn the memory alone.
    pub budget_ms: f64,
}

/// What it says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Answer {
    pub peak_mb: Option<f64>,
    pub median_ms: Option<f64>,
    /// Way to the solution of the last Newton system.
    pub route: Option<SolveRoute>,
    /// From the first line of this program to the end of the first step.
    pub first_step_ms: Option<f64>,
}

/// Start this program again with an order.
pub(super) fn ask(order: &Order) -> Result<Answer, PerfError> {
    let failed = |message: String| PerfError::Child {
        case: order.case.as_ref().map_or("none".into(), Case::id),
        message,
    };
    let text = serde_json::to_string(order).map_err(|error| failed(error.to_string()))?;
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut child = Command::new(program)
        .arg("--child")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    if let Some(mut input) = child.stdin.take() {
        // A child that has died says why on standard error.
        let _ = input.write_all(text.as_bytes());
    }
    let output = child
        .wait_with_output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(failed(said.lines().last().unwrap_or("no word").to_owned()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))
}

/// Obey the order on standard input; the answer as a line of JSON.
pub(super) fn obey(start: Instant, counter: Counter) -> Result<String, PerfError> {
    let failed = |message: String| PerfError::Child {
        case: "order".into(),
        message,
    };
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| failed(error.to_string()))?;
    let order: Order = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
    let answer = with_threads(order.threads, || run(&order, start, counter))??;
    serde_json::to_string(&answer).map_err(|error| failed(error.to_string()))
}

fn run(order: &Order, start: Instant, counter: Counter) -> Result<Answer, PerfError> {
    let Some(case) = &order.case else {
        // Makes both libraries start what they start at first use.
        let two = tch::Tensor::from(2.0);
        let _ = std::hint::black_box(&two * &two);
        return Ok(Answer {
            peak_mb: env::peak_mb(),
            median_ms: None,
            route: None,
            first_step_ms: None,
        });
    };
    let mut rig = Rig::new(case)?;
    let first = rig.step(counter)?.step_ms;
    let first_step_ms = start.elapsed().as_secs_f64() * 1e3;
    if order.budget_ms == 0.0 {
        // Memory alone: the most is in use once the ring is full.
        for _ in 0..case.ring() {
            rig.step(counter)?;
        }
        return Ok(Answer {
            peak_mb: env::peak_mb(),
            median_ms: None,
            route: None,
            first_step_ms: Some(first_step_ms),
        });
    }
    // What takes seconds has no use of a warm-up: storage is of full size from the first step on.
    let steps = if first > SLOW_MS {
        1
    } else {
        let warm = warm_up(&mut rig, case, counter)?;
        ((order.budget_ms / warm) as usize).clamp(3, 100)
    };
    let mut times = Vec::with_capacity(steps);
    let mut route = None;
    for _ in 0..steps {
        let step = rig.step(counter)?;
        times.push(step.step_ms);
        route = step.solve.map(|solve| solve.route);
    }
    Ok(Answer {
        peak_mb: env::peak_mb(),
        median_ms: Spread::of(&times).map(|spread| spread.median),
        route,
        first_step_ms: Some(first_step_ms),
    })
}
