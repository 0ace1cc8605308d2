//! What a call costs: CPU seconds, which other load disturbs little, and wall seconds.

use cpu_time::ThreadTime;
use std::time::{Duration, Instant};

/// A call quicker than this is made twice and the better figure kept.
const QUICK: Duration = Duration::from_millis(30);

/// Seconds spent on one call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// CPU seconds, of all threads the call is allowed.
    pub cpu: f64,
    /// Wall seconds.
    pub wall: f64,
}

impl Cost {
    fn min(self, other: Self) -> Self {
        if other.cpu < self.cpu { other } else { self }
    }
}

/// What a codec hands back: the value and, if it ran outside this thread, what that cost there.
#[derive(Clone, Debug)]
pub struct Timed<T> {
    /// The result.
    pub value: T,
    /// Cost measured by the codec itself, for work done in a child process.
    pub own_cost: Option<Cost>,
}

impl<T> From<T> for Timed<T> {
    fn from(value: T) -> Self {
        Self {
            value,
            own_cost: None,
        }
    }
}

/// Makes a call and says what it cost: the codec's own figure, or else this thread's CPU time.
///
/// # Errors
/// Whatever the call returns.
pub fn timed<T, E>(mut call: impl FnMut() -> Result<Timed<T>, E>) -> Result<(T, Cost), E> {
    let (value, cost) = timed_once(&mut call)?;
    if cost.cpu > QUICK.as_secs_f64() {
        return Ok((value, cost));
    }
    let (value, again) = timed_once(&mut call)?;
    Ok((value, cost.min(again)))
}

fn timed_once<T, E>(call: &mut impl FnMut() -> Result<Timed<T>, E>) -> Result<(T, Cost), E> {
    let (cpu, wall) = (ThreadTime::now(), Instant::now());
    let result = call()?;
    let here = Cost {
        cpu: cpu.elapsed().as_secs_f64(),
        wall: wall.elapsed().as_secs_f64(),
    };
    Ok((result.value, result.own_cost.unwrap_or(here)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_calls_are_made_twice_and_the_best_is_kept() {
        let mut costs = [0.02, 0.01].into_iter();
        let call = || -> Result<Timed<u8>, ()> {
            let cpu = costs.next().ok_or(())?;
            let own_cost = Some(Cost { cpu, wall: 1.0 });
            Ok(Timed { value: 7, own_cost })
        };
        let (value, cost) = timed(call).unwrap();
        assert_eq!((value, cost.cpu), (7, 0.01));
    }

    #[test]
    fn slow_calls_are_made_once() {
        let mut calls = 0;
        let call = || -> Result<Timed<()>, ()> {
            calls += 1;
            let own_cost = Some(Cost {
                cpu: 1.0,
                wall: 1.0,
            });
            Ok(Timed {
                value: (),
                own_cost,
            })
        };
        timed(call).unwrap();
        assert_eq!(calls, 1);
    }
}
