//! Words that are met again and again (types, predicates, sources), each kept once and known by a number.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

/// By a text. Hashed with a secret like the standard one, and several times faster.
pub(super) type ByText<T> = HashMap<Arc<str>, T, RandomState>;

#[derive(Debug, Clone, Default)]
pub struct Words {
    texts: Vec<Arc<str>>,
    by_text: ByText<u32>,
}

impl Words {
    /// The number of a word, which it gets when it is first met.
    pub fn intern(&mut self, text: &str) -> u32 {
        if let Some(number) = self.by_text.get(text) {
            return *number;
        }
        let (word, number): (Arc<str>, u32) = (text.into(), self.n_words());
        self.texts.push(Arc::clone(&word));
        self.by_text.insert(word, number);
        number
    }

    pub fn find(&self, text: &str) -> Option<u32> {
        self.by_text.get(text).copied()
    }

    /// Empty for a number that none has.
    pub fn text(&self, number: u32) -> &str {
        self.texts.get(index(number)).map_or("", |text| text)
    }

    pub fn shared(&self, number: u32) -> Arc<str> {
        self.texts.get(index(number)).map_or_else(|| "".into(), Arc::clone)
    }

    pub fn n_words(&self) -> u32 {
        u32::try_from(self.texts.len()).unwrap_or(u32::MAX)
    }

    pub fn all(&self) -> &[Arc<str>] {
        &self.texts
    }

    pub fn size_bytes(&self) -> usize {
        self.texts.iter().map(|text| text.len() + 2 * size_of::<usize>() + 2 * size_of::<Arc<str>>() + 8).sum()
    }
}

/// A number as the place of something in memory.
#[inline]
pub fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
