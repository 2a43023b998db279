//! What a list of hits is worth, against the judgements.

use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measures {
    pub ndcg_at_10: f64,
    pub recall_at_10: f64,
    pub recall_at_100: f64,
    pub mrr: f64,
}

impl Measures {
    /// Gains are the judgements themselves, not powers of two.
    pub fn of(hits: &[&str], judgements: &BTreeMap<String, f64>) -> Measures {
        let gain = |id: &&str| judgements.get(*id).copied().unwrap_or_default();
        let discounted = |gains: &mut dyn Iterator<Item = f64>| -> f64 {
            gains.take(10).enumerate().map(|(rank, gain)| gain / (rank as f64 + 2.0).log2()).sum()
        };
        let mut ideal: Vec<f64> = judgements.values().copied().collect();
        ideal.sort_by(|a, b| b.total_cmp(a));
        let best = discounted(&mut ideal.into_iter());
        let recall =
            |n: usize| hits.iter().take(n).filter(|id| gain(id) > 0.0).count() as f64 / judgements.len().max(1) as f64;
        let first = hits.iter().position(|id| gain(id) > 0.0);
        Measures {
            ndcg_at_10: if best > 0.0 { discounted(&mut hits.iter().map(gain)) / best } else { 0.0 },
            recall_at_10: recall(10),
            recall_at_100: recall(100),
            mrr: first.map_or(0.0, |rank| 1.0 / (rank as f64 + 1.0)),
        }
    }

    pub fn mean(all: &[Measures]) -> Measures {
        let mean = |part: fn(&Measures) -> f64| all.iter().map(part).sum::<f64>() / all.len().max(1) as f64;
        Measures {
            ndcg_at_10: mean(|one| one.ndcg_at_10),
            recall_at_10: mean(|one| one.recall_at_10),
            recall_at_100: mean(|one| one.recall_at_100),
            mrr: mean(|one| one.mrr),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_measures_are_the_usual_ones() {
        let judgements = BTreeMap::from([("a".to_owned(), 2.0), ("b".to_owned(), 1.0)]);
        let perfect = Measures::of(&["a", "b"], &judgements);
        assert_eq!(perfect, Measures { ndcg_at_10: 1.0, recall_at_10: 1.0, recall_at_100: 1.0, mrr: 1.0 });
        let half = Measures::of(&["x", "a"], &judgements);
        let expected = (2.0 / 3f64.log2()) / (2.0 + 1.0 / 3f64.log2());
        assert!((half.ndcg_at_10 - expected).abs() < 1e-12);
        assert_eq!((half.recall_at_10, half.mrr), (0.5, 0.5));
    }
}
