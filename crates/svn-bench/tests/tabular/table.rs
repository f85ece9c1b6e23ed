//! Tables for the tests: houses with prices, flowers of three kinds.

/// A stream of numbers in `[0, 1)`, the same for the same seed.
pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn next(&mut self) -> f64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.next() * n as f64) as usize
    }
}

/// Columns id, area, rooms, town, garden, price.
pub(super) fn houses(rows: usize, seed: u64) -> String {
    let mut numbers = Numbers::new(seed);
    let mut text = "id,area,rooms,town,garden,price\n".to_owned();
    for row in 0..rows {
        let (area, rooms) = (40.0 + 160.0 * numbers.next(), 1 + numbers.below(6));
        let town = numbers.below(3);
        let garden = numbers.below(2);
        let noise: f64 = (0..6).map(|_| numbers.next() - 0.5).sum();
        let price = 900.0 * area
            + 8000.0 * rooms as f64
            + 20_000.0 * town as f64
            + 10_000.0 * garden as f64 * (area / 100.0)
            + 9000.0 * noise;
        let (town, garden) = (["Ulm", "Bern", "Graz"][town], ["no", "yes"][garden]);
        text += &format!("{},{area:.1},{rooms},{town},{garden},{price:.0}\n", row + 1);
    }
    text
}

/// Columns length, width, colour, kind; the kind follows from length and width, but for some.
pub(super) fn flowers(rows: usize, seed: u64) -> String {
    let mut numbers = Numbers::new(seed);
    let mut text = "length,width,colour,kind\n".to_owned();
    for _ in 0..rows {
        let kind = numbers.below(3);
        let length = 2.0 + kind as f64 + numbers.next() + 0.5 * numbers.next();
        let width = 3.0 - 0.5 * kind as f64 + numbers.next();
        let colour = ["white", "red"][numbers.below(2)];
        let kind = ["007", "a \"b\"", "iris"][kind].replace('"', "\"\"");
        text += &format!("{length:.2},{width:.2},{colour},\"{kind}\"\n");
    }
    text
}
