//! A short memory of what servers elsewhere answered, so that a conversation does not ask them the same over and over. Who keeps an
//! answer has understood it first: one that failed must be asked for again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;

const ANSWERS_MAX: usize = 200;
const SIZE_BYTES_MAX: usize = 128 * 1024 * 1024;
const REMEMBERED_FOR: Duration = Duration::from_secs(10 * 60);

/// Answers by their question.
#[derive(Default)]
pub struct Remembered(Mutex<HashMap<String, (Instant, Bytes)>>);

impl Remembered {
    pub fn recall(&self, question: &str) -> Option<Bytes> {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.get(question).filter(|(at, _)| at.elapsed() < REMEMBERED_FOR).map(|(_, answer)| answer.clone())
    }

    /// Forgets all others where there are too many of them, or they are too large together.
    pub fn remember(&self, question: String, answer: Bytes) {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.retain(|_, (at, _)| at.elapsed() < REMEMBERED_FOR);
        let size_bytes: usize = answers.values().map(|(_, answer)| answer.len()).sum();
        if answers.len() >= ANSWERS_MAX || size_bytes + answer.len() > SIZE_BYTES_MAX {
            answers.clear();
        }
        answers.insert(question, (Instant::now(), answer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_or_large_answers_drive_out_the_others() {
        let remembered = Remembered::default();
        for n in 0..=ANSWERS_MAX {
            remembered.remember(n.to_string(), Bytes::from_static(b"a"));
        }
        assert_eq!(remembered.recall("0"), None);
        assert_eq!(remembered.recall(&ANSWERS_MAX.to_string()).as_deref(), Some(&b"a"[..]));
        remembered.remember("large".to_owned(), Bytes::from(vec![0; SIZE_BYTES_MAX]));
        assert_eq!(remembered.recall(&ANSWERS_MAX.to_string()), None);
        assert!(remembered.recall("large").is_some());
    }
}
