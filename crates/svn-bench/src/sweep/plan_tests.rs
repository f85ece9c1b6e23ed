use super::*;

fn plan(text: &str) -> Result<Plan, SweepError> {
    Plan::parse(Path::new("plan.toml"), text)
}

fn lines(text: &str) -> Vec<String> {
    let combinations = plan(text).unwrap().combinations();
    combinations
        .iter()
        .map(|one| one.arguments().join(" "))
        .collect()
}

#[test]
fn a_grid_is_all_combinations_and_options_are_those_of_the_command_line() {
    let text = r#"
        [[runs]]
        study = "uci"
        arguments = { dataset = ["yacht", "wine"], seeds = 2, all = false, untuned = true }
        settings = { batch_size = 32, hidden = [50, 50], damping = 1e-3 }
        grid = { coupling = ["gram", "exact"], temperature = [true, false] }

        [[runs]]
        study = "toy"
    "#;
    let fixed = |coupling: &str, temperature: &str| {
        format!(
            "bench-uci --batch-size=32 --coupling={coupling} --damping=0.001 --dataset=yacht,wine --hidden=50,50 \
             --seeds=2{temperature} --untuned"
        )
    };
    let expected = [
        fixed("gram", " --temperature"),
        fixed("gram", ""),
        fixed("exact", " --temperature"),
        fixed("exact", ""),
        "bench-toy".to_owned(),
    ];
    assert_eq!(lines(text), expected);
    let combinations = plan(text).unwrap().combinations();
    let settings = |names: &[(&str, &str)]| {
        let mut recipe = Recipe::default();
        for (name, value) in names {
            recipe.set(name, value).unwrap();
        }
        recipe
    };
    let of = |names| combinations[1].note(&settings(names));
    let both = [("coupling", "gram"), ("temperature", "false")];
    assert_eq!(of(&both), "coupling gram, temperature false");
    // What a method does not use tells nothing.
    assert_eq!(of(&both[..1]), "coupling gram");
    assert_eq!((combinations[3].number, combinations[4].number), (1, 2));
    let narrow = combinations[0].on("wine").join(" ");
    assert_eq!(
        narrow,
        fixed("gram", " --temperature").replace("yacht,wine", "wine")
    );
}

#[test]
fn draws_stay_within_their_bounds_and_more_of_them_leave_the_first_as_they_are() {
    let draws = |samples: usize, more: &str| {
        lines(&format!(
            "[[runs]]\nstudy = \"uci\"\n[runs.random]\nsamples = {samples}\nseed = 7\nlr = {{ log = [1e-4, 1e-1] }}\n\
             particles = {{ whole = [2, 3] }}\nring = [1, 4]\nridge = {{ uniform = [0, 0.5] }}\n{more}"
        ))
    };
    let of = |line: &str, name: &str| -> f64 {
        let start = line.find(&format!("--{name}=")).unwrap() + name.len() + 3;
        line[start..].split(' ').next().unwrap().parse().unwrap()
    };
    let many = draws(400, "");
    assert_eq!(many[..3], draws(3, "")[..]);
    let lr: Vec<f64> = many.iter().map(|line| of(line, "lr")).collect();
    assert!(lr.iter().all(|lr| (1e-4..=1e-1).contains(lr)));
    // Half of the draws of a uniform logarithm are below the geometric mean, √(1e-4·1e-1): 200 of 400, standard deviation 10.
    let below = lr.iter().filter(|&&lr| lr < 10f64.powf(-2.5)).count();
    assert!((150..250).contains(&below), "{below}");
    for (name, values) in [("particles", [2.0, 3.0]), ("ring", [1.0, 4.0])] {
        for value in values {
            let times = many.iter().filter(|line| of(line, name) == value).count();
            assert!((150..250).contains(&times), "{name} {value}: {times}");
        }
    }
    assert!(
        many.iter()
            .all(|line| (0.0..=0.5).contains(&of(line, "ridge")))
    );
    // Another option, the same numbers for the others.
    let longer = draws(3, "damping = { log = [1, 10] }\n");
    assert_eq!(of(&longer[2], "lr"), lr[2]);
}

#[test]
fn what_is_wrong_with_a_plan_is_said_with_its_place_and_what_was_expected() {
    for (text, start) in [
        (
            "[[runs]]\nstudy = \"uci\"\ngrids = {}\n",
            "plan.toml, line 3, column 1: unknown field `grids`, expected one of `study`, `arguments`, `settings`, `grid`, `random`",
        ),
        (
            "[[run]]\n",
            "plan.toml, line 1, column 3: unknown field `run`, expected `runs`",
        ),
        (
            "[[runs]]\n",
            "plan.toml, line 1, column 1: missing field `study`",
        ),
        (
            "[[runs]]\nstudy = \"uci\"\nsettings = { epoch = 3 }\n",
            "plan.toml, [[runs]] 1, settings: unknown setting epoch; expected one of epochs, patience",
        ),
        (
            "[[runs]]\nstudy = \"toy\"\n[[runs]]\nstudy = \"uci\"\narguments = { lr = 0.1 }\n",
            "plan.toml, [[runs]] 2, arguments: lr is a training setting; expected it in settings",
        ),
        (
            "[[runs]]\nstudy = \"uci\"\narguments = { out = \"x\" }\n",
            "plan.toml, [[runs]] 1, arguments: out is the sweep's own; leave it out",
        ),
        (
            "[[runs]]\nstudy = \"uci\"\narguments = { \"--seeds\" = 1 }\n",
            "plan.toml, [[runs]] 1, arguments: `--seeds` is no option; expected a long name without its dashes",
        ),
        (
            "[[runs]]\nstudy = \"uci\"\narguments = { seeds = { a = 1 } }\n",
            "plan.toml, [[runs]] 1, arguments: seeds = { a = 1 }: expected a text, a number, true, false, or a list",
        ),
        (
            "[[runs]]\nstudy = \"uci\"\ngrid = { lr = [] }\n",
            "plan.toml, [[runs]] 1, grid: lr has no values; expected one or more",
        ),
        (
            "[[runs]]\nstudy = \"uci\"\nsettings = { lr = 1 }\ngrid = { lr = [1, 2] }\n",
            "plan.toml, [[runs]] 1: lr is in two of arguments, settings, grid and random; expected it in one",
        ),
        (
            "[[runs]]\nstudy = \"uci\"\nrandom = { lr = [1] }\n",
            "plan.toml, [[runs]] 1, random: no samples; expected samples = N",
        ),
        (
            "[[runs]]\nstudy = \"uci\"\nrandom = { samples = 0, lr = [1] }\n",
            "plan.toml, [[runs]] 1, random: samples = 0: expected a whole number, 1 to",
        ),
        (
            "[[runs]]\nstudy = \"uci\"\nrandom = { samples = 3 }\n",
            "plan.toml, [[runs]] 1, random: nothing is drawn; expected an option such as",
        ),
        (
            "[[runs]]\nstudy = \"uci\"\nrandom = { samples = 3, lr = { log = [0, 1] } }\n",
            "plan.toml, [[runs]] 1, random: lr = { log = [0, 1] }: expected { log = [a, b] }, { uniform = [a, b] }",
        ),
    ] {
        let found = plan(text).unwrap_err();
        assert!(found.to_string().starts_with(start), "{found}");
        assert!(found.is_input());
    }
}
