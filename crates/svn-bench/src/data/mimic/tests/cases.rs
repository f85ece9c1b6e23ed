//! What real tables hold and a reader must get right, a test a case.

use super::*;

const RATE: u32 = 220_045;

/// Of three numbers, to rounding of millionths.
fn near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-6,
        "{found}, expected {expected}"
    );
}

#[test]
fn heart_rates_that_are_absurd_or_outside_the_window_are_left_out() {
    let mut made = Made::new();
    made.person(5);
    for (when, text, number) in [
        (time(1, 23, 30), "105", "105"),
        (time(2, 1, 0), "70", "70"),
        (time(2, 2, 0), "10000000", "10000000"),
        (time(2, 2, 30), "0", "0"),
        (time(2, 10, 0), "88", "88"),
        (time(2, 3, 0), "ERROR", ""),
        (time(3, 0, 1), "190", "190"),
    ] {
        made.chart(5, RATE, &when, text, number);
    }
    let value = made.one();
    let names = ["count", "mean", "min", "max", "last", "missing"];
    let found = names.map(|name| value(&format!("heart_rate_{name}")));
    assert_eq!(found, [2.0, 79.0, 70.0, 88.0, 88.0, 0.0]);
    let [counts, ..] = made.extract().unwrap().counts;
    assert_eq!(
        (
            counts.rows,
            counts.outside,
            counts.implausible,
            counts.no_number,
            counts.used
        ),
        (7, 2, 2, 1, 2)
    );
}

#[test]
fn both_ends_of_the_window_are_in_it() {
    let mut made = Made::new();
    made.person(5);
    made.chart(5, RATE, &time(2, 0, 0), "60", "60");
    made.chart(5, RATE, &time(3, 0, 0), "80", "80");
    assert_eq!(made.one()("heart_rate_count"), 2.0);
}

#[test]
fn results_count_without_an_admission_but_not_before_they_were_stored() {
    let mut made = Made::new();
    made.person(5);
    let creatinine = |made: &mut Made, [at, stored]: [(u32, u32); 2], text: &str, number: &str| {
        let times = [at, stored].map(|(day, hour)| time(day, hour, 0));
        made.lab(5, 50_912, [&times[0], &times[1]], text, number);
    };
    creatinine(&mut made, [(2, 2), (2, 3)], "___", "1.2");
    creatinine(&mut made, [(2, 8), (2, 9)], "2.4", "2.4");
    creatinine(&mut made, [(2, 23), (3, 1)], "8.8", "8.8");
    creatinine(&mut made, [(2, 4), (2, 5)], "LESS THAN 0.2", "");
    creatinine(&mut made, [(2, 4), (2, 5)], "", "___");
    let value = made.one();
    near(value("creatinine_mean"), 1.8);
    assert_eq!(
        (value("creatinine_count"), value("creatinine_last")),
        (2.0, 2.4)
    );
    let [_, counts, _] = made.extract().unwrap().counts;
    assert_eq!((counts.late, counts.no_number, counts.used), (1, 2, 2));
}

#[test]
fn a_result_that_was_stored_at_the_prediction_hour_is_known() {
    let mut made = Made::new();
    made.person(5);
    made.lab(5, 50_813, [&time(2, 22, 0), &time(3, 0, 0)], "2", "2");
    // Where nobody tells when, the time it was drawn counts.
    made.lab(5, 50_813, [&time(2, 22, 0), ""], "4", "4");
    made.lab(5, 50_813, [&time(2, 22, 0), "soon"], "9", "9");
    assert_eq!(made.one()("lactate_mean"), 3.0);
    assert_eq!(made.extract().unwrap().counts[1].bad_time, 1);
}

#[test]
fn a_row_with_neither_value_nor_number_is_no_glucose() {
    let mut made = Made::new();
    made.person(5);
    let times = [time(2, 6, 0), time(2, 7, 0)];
    let times = [times[0].as_str(), times[1].as_str()];
    made.lab(5, 50_931, times, "", "");
    made.lab(5, 50_931, times, "130", "130");
    let value = made.one();
    assert_eq!(
        (value("glucose_count"), value("glucose_mean")),
        (1.0, 130.0)
    );
}

#[test]
fn age_is_that_of_the_anchor_year_moved_to_the_admission() {
    let age = |age: u32, year: u32| {
        let mut made = Made::new();
        made.patient(5, age, year);
        made.admission(5, &time(1, 20, 0), &time(9, 0, 0), "");
        made.stay(5, 5, &time(2, 0, 0), &time(5, 0, 0));
        made.extract()
            .map(|extraction| extraction.table.value(0, "age").unwrap())
            .ok()
    };
    assert_eq!(age(60, 2148), Some(62.0));
    assert_eq!(age(60, 2152), Some(58.0));
    // 91 stands for all above 89.
    assert_eq!(age(91, 2147), Some(90.0));
    assert_eq!(age(91, 2153), Some(90.0));
    assert_eq!(age(88, 2147), Some(90.0));
    assert_eq!(age(89, 2150), Some(89.0));
    // 17 then and 18 now; 18 then and 17 now.
    assert_eq!(age(17, 2149), Some(18.0));
    assert_eq!(age(18, 2151), None);
}

#[test]
fn temperatures_in_the_other_unit_are_mended() {
    let mut made = Made::new();
    made.person(5);
    let (celsius, fahrenheit) = (223_762, 223_761);
    for (hour, item, number) in [
        (1, celsius, "97.2"),
        (3, celsius, "99.0"),
        (5, celsius, "98.9"),
        (7, fahrenheit, "98.6"),
        (9, fahrenheit, "37.0"),
        (10, celsius, "370"),
    ] {
        made.chart(5, item, &time(2, hour, 0), number, number);
    }
    let value = made.one();
    assert_eq!(value("temperature_count"), 5.0);
    // 36.2222, 37.2222, 37.1667, 37 and 37.
    assert!((value("temperature_mean") - 36.9222).abs() < 1e-4);
    let [counts, ..] = made.extract().unwrap().counts;
    assert_eq!((counts.mended, counts.implausible), (4, 1));
}

#[test]
fn text_and_odd_numbers_of_other_items_do_no_harm() {
    let mut made = Made::new();
    made.person(5);
    made.chart(5, 224_027, &time(2, 11, 0), "Warm", "");
    made.chart(5, 226_707, &time(2, 11, 0), "825070", "825070");
    made.chart(5, 223_761, &time(2, 12, 0), "98.6", "98.6");
    near(made.one()("temperature_mean"), 37.0);
}

#[test]
fn impossible_times_are_counted() {
    let mut made = Made::new();
    made.person(5);
    // The stay ends before it begins, and so does the admission.
    made.patient(6, 70, 2150);
    made.admission(6, &time(3, 15, 0), &time(3, 3, 0), &time(3, 3, 0));
    made.stay(6, 6, &time(3, 15, 30), &time(3, 15, 10));
    // The admission alone does: the stay counts.
    made.patient(7, 70, 2150);
    made.admission(7, &time(3, 10, 0), &time(3, 2, 0), "");
    made.stay(7, 7, &time(3, 11, 0), &time(5, 11, 0));
    // A stay of no time, and times that are none.
    for (subject, begin, end) in [
        (8, time(3, 0, 0), time(3, 0, 0)),
        (9, "2150-02-30 00:00:00".to_owned(), time(5, 0, 0)),
        (10, time(3, 0, 0), "later".to_owned()),
    ] {
        made.patient(subject, 70, 2150);
        made.admission(subject, &time(3, 0, 0), &time(9, 0, 0), "");
        made.stay(subject, subject, &begin, &end);
    }
    let extraction = made.extract().unwrap();
    assert_eq!(extraction.table.hours.to_vec(), [72.0, 48.0]);
    assert_eq!(extraction.flow.rules(), "4 impossible times");
    assert_eq!(extraction.flow.odd_discharges, 1);
}

#[test]
fn the_first_stay_is_the_first_in_time() {
    let mut made = Made::new();
    made.patient(5, 55, 2150);
    made.admission(5, &time(1, 20, 0), &time(20, 0, 0), "");
    // Two stays of one admission, end to end; the later has the lower number and is first in the file.
    made.stay(5, 105, &time(4, 0, 0), &time(9, 0, 0));
    made.stay(5, 110, &time(2, 0, 0), &time(4, 0, 0));
    for (stay, day, rate) in [(110, 2, "66"), (105, 4, "150"), (105, 2, "151")] {
        let when = time(day, 5, 0);
        let row = format!("{RATE},{when},{rate},{rate},bpm,5,1005,{stay},1,{when},0");
        made.row("icu/chartevents", &row);
    }
    let extraction = made.extract().unwrap();
    assert_eq!(extraction.table.hours.to_vec(), [48.0]);
    assert_eq!(extraction.table.value(0, "heart_rate_max"), Some(66.0));
    assert_eq!(extraction.flow.rules(), "1 not the patient's first stay");
    assert_eq!(extraction.counts[0].other_stay, 2);
}

#[test]
fn irrigation_is_taken_off_the_urine() {
    let mut made = Made::new();
    made.person(5);
    for (item, hour, volume) in [
        (226_559, 1, "300"),
        (227_488, 2, "1500"),
        (227_489, 2, "1650"),
        (226_560, 4, "-50"),
    ] {
        made.output(5, item, &time(2, hour, 0), volume);
    }
    let value = made.one();
    assert_eq!((value("urine"), value("urine_rows")), (450.0, 3.0));
    assert_eq!(
        (value("urine_irrigated"), value("urine_missing")),
        (1.0, 0.0)
    );
    assert_eq!(made.extract().unwrap().counts[2].implausible, 1);
}

#[test]
fn what_was_let_in_and_not_yet_out_is_no_negative_urine() {
    let mut made = Made::new();
    made.person(5);
    made.output(5, 227_488, &time(2, 3, 0), "500");
    made.output(5, 227_489, &time(3, 3, 0), "900");
    let value = made.one();
    assert!(value("urine").is_nan());
    assert_eq!(
        (value("urine_missing"), value("urine_irrigated")),
        (1.0, 1.0)
    );
}

#[test]
fn a_tube_makes_the_verbal_score_missing() {
    let mut made = Made::new();
    made.person(5);
    made.person(6);
    for (stay, text, number) in [(5, "No Response-ETT", "1"), (6, "Confused", "4")] {
        made.chart(stay, 223_901, &time(2, 1, 0), "Obeys Commands", "6");
        made.chart(stay, 220_739, &time(2, 1, 0), "To Speech", "3");
        made.chart(stay, 223_900, &time(2, 1, 0), text, number);
    }
    let table = made.extract().unwrap().table;
    let value = |row, name| table.value(row, name).unwrap();
    assert_eq!(
        (value(0, "coma_motor_mean"), value(0, "coma_eye_mean")),
        (6.0, 3.0)
    );
    assert_eq!(
        (value(0, "intubated"), value(0, "coma_verbal_missing")),
        (1.0, 1.0)
    );
    assert_eq!(value(0, "coma_total_missing"), 1.0);
    assert_eq!(
        (value(1, "intubated"), value(1, "coma_total_mean")),
        (0.0, 13.0)
    );
}

#[test]
fn a_stay_counts_from_24_hours_on() {
    let mut made = Made::new();
    for (subject, end) in [(5, time(2, 23, 54)), (6, time(3, 0, 0))] {
        made.patient(subject, 50, 2150);
        made.admission(subject, &time(1, 20, 0), &time(9, 0, 0), "");
        made.stay(subject, subject, &time(2, 0, 0), &end);
    }
    let extraction = made.extract().unwrap();
    assert_eq!(extraction.table.hours.to_vec(), [24.0]);
    assert_eq!(extraction.flow.rules(), "1 under 24 h in the unit");
}

#[test]
fn stays_without_patient_admission_or_end_are_counted() {
    let mut made = Made::new();
    made.person(5);
    made.stay(99, 99, &time(2, 0, 0), &time(5, 0, 0));
    made.patient(7, 50, 2150);
    made.stay(7, 7, &time(2, 0, 0), &time(5, 0, 0));
    made.patient(8, 50, 2150);
    made.admission(8, &time(1, 20, 0), "", "");
    made.stay(8, 8, &time(2, 0, 0), "");
    let flow = made.extract().unwrap().flow;
    assert_eq!(
        flow.rules(),
        "1 no such patient, 1 no such admission, 1 no end of the stay"
    );
    assert_eq!((flow.stays, flow.kept), (4, 1));
    let lines = flow.lines();
    assert_eq!(lines.first(), Some(&("stays".to_owned(), 0, 4)));
    assert_eq!(lines.last(), Some(&("died in hospital".to_owned(), 0, 1)));
}

#[test]
fn deaths_are_kept_unless_they_come_before_the_prediction_or_are_not_wanted() {
    let mut made = Made::new();
    for (subject, death) in [
        (5, time(2, 23, 0)),
        (6, time(3, 0, 0)),
        (7, time(4, 0, 0)),
        (8, String::new()),
    ] {
        made.patient(subject, 50, 2150);
        made.admission(subject, &time(1, 20, 0), &time(9, 0, 0), &death);
        made.stay(subject, subject, &time(2, 0, 0), &time(5, 0, 0));
    }
    let flow = made.extract().unwrap().flow;
    assert_eq!(
        (flow.rules().as_str(), flow.kept, flow.died),
        ("2 dead by the prediction hour", 2, 1)
    );
    let options = ExtractOptions {
        without_deaths: true,
        ..ExtractOptions::default()
    };
    let tables = Tables::find(made.path()).unwrap();
    let flow = extract(&tables, &options, &Quiet).unwrap().flow;
    assert_eq!(
        flow.rules(),
        "2 dead by the prediction hour, 1 died in hospital"
    );
    assert_eq!(flow.died, 0);
}
