#![allow(unused_must_use)]
use std::time::Instant;
use ndarray::Array3;
use svn_curvature::{Conv2d, Layer, Pool2d, Sequential};
use tch::{Device, Kind, Tensor};
fn med(mut f: impl FnMut(), reps: usize) -> f64 { for _ in 0..3 { f(); } let mut t: Vec<f64> = (0..reps).map(|_| { let s = Instant::now(); f(); s.elapsed().as_secs_f64()*1e3 }).collect(); t.sort_by(f64::total_cmp); t[reps/2] }
fn auto_mlp(params: &Tensor, x: &Tensor, shapes: &[(i64,i64)]) -> Tensor {
    let n = params.size()[0]; let mut h = x.unsqueeze(0).expand([n,-1,-1], false); let mut o = 0;
    for (i,(a,b)) in shapes.iter().enumerate() {
        let w = params.narrow(1,o,a*b).view([n,*b,*a]); o+=a*b; let be = params.narrow(1,o,*b).unsqueeze(1); o+=b;
        h = be.baddbmm(&h, &w.transpose(1,2), 1.0, 1.0); if i+1<shapes.len() { h = h.relu(); }
    } h
}
fn auto_lenet(params: &Tensor, x: &Tensor) -> Tensor {
    let n = params.size()[0]; let b = x.size()[0];
    let mut o = 0; let mut take = |len: i64| { let t = params.narrow(1,o,len); o+=len; t };
    let w1 = take(150).reshape([n*6,1,5,5]); let b1 = take(6).reshape([n*6]);
    let h = x.repeat([1,n,1,1]).conv2d(&w1, Some(&b1), [1,1],[2,2],[1,1], n).relu().max_pool2d([2,2],[2,2],[0,0],[1,1],false);
    let w2 = take(2400).reshape([n*16,6,5,5]); let b2 = take(16).reshape([n*16]);
    let h = h.conv2d(&w2, Some(&b2), [1,1],[0,0],[1,1], n).relu().max_pool2d([2,2],[2,2],[0,0],[1,1],false);
    let mut h = h.view([b,n,400]).transpose(0,1);
    for (i,(a,c)) in [(400,120),(120,84),(84,10)].iter().enumerate() {
        let w = take(a*c).view([n,*c,*a]); let be = take(*c).unsqueeze(1);
        h = be.baddbmm(&h, &w.transpose(1,2), 1.0, 1.0); if i<2 { h = h.relu(); }
    } h
}
fn auto_lenet1(params: &Tensor, x: &Tensor) -> Tensor { // loop
    let n = params.size()[0]; let b = x.size()[0];
    let outs: Vec<Tensor> = (0..n).map(|i| { let p = params.get(i);
    let mut o = 0; let mut take = |len: i64| { let t = p.narrow(0,o,len); o+=len; t };
    let w1 = take(150).view([6,1,5,5]); let b1 = take(6);
    let h = x.conv2d(&w1, Some(&b1), [1,1],[2,2],[1,1], 1).relu().max_pool2d([2,2],[2,2],[0,0],[1,1],false);
    let w2 = take(2400).view([16,6,5,5]); let b2 = take(16);
    let h = h.conv2d(&w2, Some(&b2), [1,1],[0,0],[1,1], 1).relu().max_pool2d([2,2],[2,2],[0,0],[1,1],false);
    let mut h = h.view([b,400]);
    for (i,(a,c)) in [(400,120),(120,84),(84,10)].iter().enumerate() {
        let w = take(a*c).view([*c,*a]); let be = take(*c);
        h = h.linear(&w, Some(&be)); if i<2 { h = h.relu(); }
    } h }).collect(); Tensor::stack(&outs, 0)
}
fn main() {
    for threads in [1,2] { tch::set_num_threads(threads); println!("threads {threads}");
    let net = Sequential::new(&[6], vec![Layer::linear(6,50),Layer::relu(),Layer::linear(50,50),Layer::relu(),Layer::linear(50,1)]).unwrap();
    let d = net.layout().dim() as i64;
    let p = Tensor::randn([5,d],(Kind::Double,Device::Cpu))*0.2; let x = Tensor::randn([16,6],(Kind::Double,Device::Cpu));
    let shapes=[(6,50),(50,50),(50,1)];
    let r = Tensor::ones([5,16,1],(Kind::Double,Device::Cpu)); let root = r.unsqueeze(3);
    println!("yacht fb auto {:.3}", med(|| { let q = p.detach().set_requires_grad(true); let f = auto_mlp(&q,&x,&shapes); let _ = Tensor::run_backward(&[(&f*&f).sum(Kind::Double)],&[&q],false,false); }, 200));
    println!("yacht forward {:.3}", med(|| { let _ = net.forward(&p,&x).unwrap(); }, 200));
    println!("yacht linearize {:.3}", med(|| { let _ = net.linearize(&p,&x).unwrap(); }, 200));
    println!("yacht lin+vjp {:.3}", med(|| { let _ = net.linearize(&p,&x).unwrap().vjp(&r).unwrap(); }, 200));
    let mut buf = Array3::zeros((5,16,d as usize));
    println!("yacht lin+rows {:.3}", med(|| { let _ = net.linearize(&p,&x).unwrap().rows(&root).unwrap(); }, 200));
    println!("yacht lin+rows_into {:.3}", med(|| { let _ = net.linearize(&p,&x).unwrap().rows_into(&root, buf.view_mut()).unwrap(); }, 200));
    println!("yacht auto rows via per-output deltas {:.3}", med(|| {
        let q = p.detach(); let n=5; let mut h = x.unsqueeze(0).expand([n,-1,-1], false); let mut o=0; let mut zs=vec![]; let mut hs=vec![];
        for (i,(a,b)) in shapes.iter().enumerate() { let w = q.narrow(1,o,a*b).view([n,*b,*a]); o+=a*b; let be = q.narrow(1,o,*b).unsqueeze(1); o+=b;
            hs.push(h.shallow_clone()); let z = be.baddbmm(&h,&w.transpose(1,2),1.0,1.0); let z = if i==0 { z.detach().set_requires_grad(true) } else { z }; h = if i+1<shapes.len() { z.relu() } else { z.shallow_clone() }; zs.push(z); }
        let deltas = Tensor::run_backward(&[h.sum(Kind::Double)], &zs, false, false);
        let mut parts = vec![]; for i in 0..3 { parts.push((deltas[i].unsqueeze(3)*hs[i].detach().unsqueeze(2)).flatten(2,3)); parts.push(deltas[i].shallow_clone()); }
        let _ = Tensor::cat(&parts, 2); }, 200));
    for kind in [Kind::Float, Kind::Double] {
    let net = Sequential::new(&[1,28,28], vec![Layer::Conv2d(Conv2d::new(1,6,[5,5]).padding([2,2])),Layer::relu(),Layer::MaxPool2d(Pool2d::new([2,2])),Layer::Conv2d(Conv2d::new(6,16,[5,5])),Layer::relu(),Layer::MaxPool2d(Pool2d::new([2,2])),Layer::Flatten,Layer::linear(400,120),Layer::relu(),Layer::linear(120,84),Layer::relu(),Layer::linear(84,10)]).unwrap();
    let d = net.layout().dim() as i64; assert_eq!(d, 61706);
    let p = Tensor::randn([5,d],(kind,Device::Cpu))*0.1; let x = Tensor::randn([128,1,28,28],(kind,Device::Cpu));
    let f1 = auto_lenet(&p,&x); let f2 = net.forward(&p,&x).unwrap(); let f3 = auto_lenet1(&p,&x); println!("{:?} diff {:.2e} {:.2e}", kind, (&f1-&f2).abs().max().double_value(&[]), (&f1-&f3).abs().max().double_value(&[]));
    println!("lenet fb grouped {:.1}", med(|| { let q = p.detach().set_requires_grad(true); let f = auto_lenet(&q,&x); let _ = Tensor::run_backward(&[(&f*&f).sum(kind)],&[&q],false,false); }, 9));
    println!("lenet fb loop {:.1}", med(|| { let q = p.detach().set_requires_grad(true); let f = auto_lenet1(&q,&x); let _ = Tensor::run_backward(&[(&f*&f).sum(kind)],&[&q],false,false); }, 9));
    let r = f1.detach().copy();
    println!("lenet forward {:.1}", med(|| { let _ = net.forward(&p,&x).unwrap(); }, 9));
    println!("lenet linearize {:.1}", med(|| { let _ = net.linearize(&p,&x).unwrap(); }, 9));
    println!("lenet lin+vjp {:.1}", med(|| { let _ = net.linearize(&p,&x).unwrap().vjp(&r).unwrap(); }, 9));
    } }
}
