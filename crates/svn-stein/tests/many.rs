//! Many particles of few coordinates: a use of its own, for which the whole matrix is the small one.
mod common;
#[path = "safety/densities.rs"]
mod densities;
use densities::*;
use svn_stein::*;
#[test]
fn timing() {
    for d in [1, 2] {
        let density = gaussian(d);
        let mut sampler = Sampler::new(Method::Svn(Newton::default())).unwrap();
        let mut state = sampler.init(common::normals(5, (500, d)), 0).unwrap();
        let mut target = Target::new(&density);
        for _ in 0..6 {
            let t = std::time::Instant::now();
            let info = sampler.step(&mut state, &mut target).unwrap();
            println!(
                "{d} {:.1} ms {:?}",
                t.elapsed().as_secs_f64() * 1e3,
                info.solve
            );
        }
        let k = ndarray::Array2::from_shape_fn((500, 500), |(i, j)| {
            (-((i as f64 - j as f64) / 100.0).powi(2)).exp()
        });
        let t = std::time::Instant::now();
        let e = svn_linalg::SymmetricEigen::factorize(k.view()).unwrap();
        println!(
            "eigen {:.1} ms {}",
            t.elapsed().as_secs_f64() * 1e3,
            e.rank()
        );
    }
}
#[test]
fn pieces() {
    let d = 2;
    let x = common::normals(5, (500, d));
    let h = svn_stein::linalg::DiagonalMatrices::new(ndarray::Array2::ones((500, d)));
    let mut gram = KernelGram::new(500, d);
    let ms = |t: std::time::Instant| t.elapsed().as_secs_f64() * 1e3;
    for _ in 0..3 {
        let t = std::time::Instant::now();
        gram.update(&Newton::default().kernel, x.view(), Some(&h))
            .unwrap();
        print!("gram {:.1} ms ", ms(t));
        let t = std::time::Instant::now();
        let system = SvnSystem::new(gram.view(), &h, Coupling::BlockRepulsion, 1.0, 1.0).unwrap();
        print!("new {:.1} ms ", ms(t));
        let t = std::time::Instant::now();
        let a = system.assemble().unwrap();
        print!("assemble {:.1} ms ", ms(t));
        let t = std::time::Instant::now();
        let _c = svn_linalg::Cholesky::factorize_owned(a).unwrap();
        print!("chol {:.1} ms ", ms(t));
        let mut out = x.clone();
        let t = std::time::Instant::now();
        system
            .solve_into(
                x.view(),
                Solver::Auto,
                &mut Scratch::default(),
                out.view_mut(),
            )
            .unwrap();
        print!("solve {:.1} ms ", ms(t));
        let t = std::time::Instant::now();
        kernel_stein_discrepancy(x.view(), x.view(), 2.0).unwrap();
        println!("ksd {:.1} ms", ms(t));
    }
}
