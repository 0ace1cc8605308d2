//! Time that a part of the training may take.

use std::time::{Duration, Instant};

/// A span of time, or as much as is needed.
///
/// Work that has a budget does less of what it would do without, and ends with something useful; it is not cut off.
#[derive(Clone, Copy, Debug, Default)]
pub struct Budget {
    span: Option<(Instant, Instant)>,
}

impl Budget {
    /// From now on; `None` is no limit.
    pub fn new(time: Option<Duration>) -> Self {
        let now = Instant::now();
        let end = time.and_then(|time| now.checked_add(time));
        Self {
            span: end.map(|end| (now, end)),
        }
    }

    /// A share of what is left, from now on.
    #[must_use]
    pub fn share(&self, share: f64) -> Self {
        Self::new(self.time_left().map(|left| left.mul_f64(share)))
    }

    /// Whether there is a limit.
    pub fn is_limited(&self) -> bool {
        self.span.is_some()
    }

    /// Whether nothing is left.
    pub fn is_over(&self) -> bool {
        self.time_left().is_some_and(|left| left.is_zero())
    }

    /// What is left; `None` without a limit.
    pub fn time_left(&self) -> Option<Duration> {
        let end = self.span.map(|(_, end)| end);
        end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// The part that is left: one at the start, and always without a limit.
    pub(crate) fn part_left(&self) -> f32 {
        let Some((start, end)) = self.span else {
            return 1.0;
        };
        let whole = (end - start).as_secs_f32().max(f32::MIN_POSITIVE);
        (end.saturating_duration_since(Instant::now())).as_secs_f32() / whole
    }
}

/// All numbers below `count`: one after the other, or with a limit so that those before it ends are spread over all.
pub(crate) fn order(count: usize, budget: &Budget) -> Vec<usize> {
    if !budget.is_limited() || count == 0 {
        return (0..count).collect();
    }
    let golden = (count as f64 * 0.618).round() as usize;
    let coprime = |stride: &usize| greatest_common_divisor(*stride, count) == 1;
    let stride = (golden.max(1)..).find(coprime).unwrap_or(1);
    (0..count).map(|i| i * stride % count).collect()
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limit_never_ends() {
        let free = Budget::default().share(0.01);
        assert!(!free.is_limited() && !free.is_over());
        assert_eq!((free.part_left(), free.time_left()), (1.0, None));
    }

    #[test]
    fn every_number_has_its_turn_and_the_first_are_spread() {
        let limited = Budget::new(Some(Duration::from_secs(9)));
        for count in 0..60 {
            let mut all = order(count, &limited);
            all.sort_unstable();
            assert_eq!(all, order(count, &Budget::default()));
        }
        let mut first = order(100, &limited)[..5].to_vec();
        first.sort_unstable();
        let gaps = first.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.clone().all(|gap| (8..40).contains(&gap)), "{first:?}");
    }

    #[test]
    fn shares_are_of_what_is_left() {
        let hour = Budget::new(Some(Duration::from_secs(3600)));
        let half = hour.share(0.5).time_left().unwrap().as_secs_f64();
        assert!((1790.0..=1800.0).contains(&half), "{half}");
        assert!(hour.part_left() > 0.99 && !hour.is_over());
        let none = Budget::new(Some(Duration::ZERO));
        assert!(none.is_over() && none.share(0.5).is_over());
        assert_eq!(none.part_left(), 0.0);
    }
}
