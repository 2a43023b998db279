//! What an answer tells of each node, close together: an answer shows a hundred of them that are far apart, and every place
//! in memory that it has to go to costs more than all it does there.

use crate::graph::words::index;

/// Texts that nobody refers to are dropped when they are as much as the others and more than this.
const WASTED_MIN: usize = 1 << 20;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::graph) struct Head {
    /// Where the id begins in the text of all; the label follows it.
    start: usize,
    n_id: u32,
    /// 0 where the id is the label; no label is empty.
    n_label: u32,
    pub source: u32,
    /// The first category.
    pub kind: u32,
}

/// By the number of the node.
#[derive(Debug, Clone, Default)]
pub(in crate::graph) struct Heads {
    heads: Vec<Head>,
    texts: String,
    n_wasted: usize,
}

impl Heads {
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    pub fn push(&mut self, id: &str, label: &str, source: u32, kind: u32) {
        let head = self.told(id, label);
        self.heads.push(Head { source, kind, ..head });
    }

    /// Puts the texts at the end of all.
    fn told(&mut self, id: &str, label: &str) -> Head {
        let start = self.texts.len();
        self.texts.push_str(id);
        let own_label = if label == id { "" } else { label };
        self.texts.push_str(own_label);
        Head { start, n_id: length(id), n_label: length(own_label), ..Head::default() }
    }

    #[inline]
    pub fn head(&self, node: u32) -> Head {
        self.heads.get(index(node)).copied().unwrap_or_default()
    }

    pub fn id(&self, node: u32) -> &str {
        let head = self.head(node);
        self.texts.get(head.start..head.start + index(head.n_id)).unwrap_or_default()
    }

    pub fn label(&self, node: u32) -> &str {
        let (texts, n_id) = self.texts(self.head(node));
        if texts.len() == n_id { texts } else { texts.get(n_id..).unwrap_or_default() }
    }

    /// Id and label as one text, and how long the id is; the id alone where it is the label too.
    #[inline]
    pub fn texts(&self, head: Head) -> (&str, usize) {
        let n_id = index(head.n_id);
        (self.texts.get(head.start..head.start + n_id + index(head.n_label)).unwrap_or_default(), n_id)
    }

    /// The first byte of a node's texts: whoever reads those of many waits for all of them at once.
    #[inline]
    pub fn first_byte(&self, head: Head) -> u8 {
        self.texts.as_bytes().get(head.start).copied().unwrap_or_default()
    }

    /// Says something else of a node. Its id stays.
    pub fn set(&mut self, node: u32, label: &str, source: u32, kind: u32) {
        let old = self.head(node);
        let mut new = old;
        if self.label(node) != label {
            let id = self.id(node).to_owned();
            self.n_wasted += self.texts(old).0.len();
            new = self.told(&id, label);
        }
        if let Some(place) = self.heads.get_mut(index(node)) {
            *place = Head { source, kind, ..new };
        }
        if self.n_wasted > WASTED_MIN.max(self.texts.len() / 2) {
            *self = self.tidy();
        }
    }

    fn tidy(&self) -> Heads {
        let mut heads = Heads::default();
        for (node, head) in (0..).zip(&self.heads) {
            heads.push(self.id(node), self.label(node), head.source, head.kind);
        }
        heads
    }

    pub fn size_bytes(&self) -> usize {
        self.heads.len() * size_of::<Head>() + self.texts.len()
    }
}

fn length(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_change_again_and_again_take_no_more_room() {
        let mut heads = Heads::default();
        heads.push("H1", "H1", 0, 0);
        heads.push("H2", "ขิง", 1, 2);
        let long = "x".repeat(1_000);
        for n in 0..5_000 {
            heads.set(0, &format!("{n}{long}"), 0, 0);
        }
        assert!(heads.texts.len() < 3 * WASTED_MIN, "{}", heads.texts.len());
        assert_eq!((heads.id(0), heads.label(0)), ("H1", format!("4999{long}").as_str()));
        assert_eq!((heads.id(1), heads.label(1), heads.head(1).source, heads.head(1).kind), ("H2", "ขิง", 1, 2));
        heads.set(0, "H1", 3, 4);
        assert_eq!((heads.label(0), heads.head(0).source, heads.head(0).kind), ("H1", 3, 4));
    }
}
