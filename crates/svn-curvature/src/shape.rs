//! Shapes of samples.

/// Number of values of a shape. Sizes beyond memory stay large enough for the layout to refuse them.
pub(crate) fn saturating_product(sides: &[usize]) -> usize {
    sides
        .iter()
        .fold(1, |product, &side| product.saturating_mul(side))
}

#[cfg(test)]
mod tests {
    use super::saturating_product;

    #[test]
    fn a_size_beyond_memory_is_the_largest_number() {
        assert_eq!(saturating_product(&[2, 3, 4]), 24);
        assert_eq!(saturating_product(&[]), 1);
        assert_eq!(saturating_product(&[usize::MAX / 2, 3, 2]), usize::MAX);
    }
}
