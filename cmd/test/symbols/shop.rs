// A program for the tests of pprof-symbolize: traits, closures, generic functions, inlined calls.
use std::fmt::Display;

mod shop {
    pub struct Item {
        pub name: String,
        pub price: u64,
    }

    #[inline(always)]
    pub fn square(x: u64) -> u64 {
        x.wrapping_mul(x)
    }

    #[inline(always)]
    pub fn cube(x: u64) -> u64 {
        square(x).wrapping_mul(x)
    }

    impl Item {
        #[inline(never)]
        pub fn cost(&self) -> u64 {
            cube(self.price) + self.name.len() as u64
        }
    }
}

trait Show {
    fn show(&self) -> String;
}

impl<T: Display> Show for Vec<T> {
    #[inline(never)]
    fn show(&self) -> String {
        self.iter().map(|x| format!("<{}>", x)).collect()
    }
}

fn main() {
    let items: Vec<shop::Item> = std::env::args()
        .enumerate()
        .map(|(i, name)| shop::Item { name, price: i as u64 })
        .collect();
    // With an argument long enough to be sampled.
    for _ in 0..if items.len() > 1 { 600000 } else { 1 } {
        let costs: Vec<u64> = items.iter().map(|item| item.cost()).collect();
        println!("{}", costs.show());
    }
}
