//! What an answer tells of each node, close together: an answer shows a hundred of them that are far apart, and every place
//! in memory that it has to go to costs more than all it does there.

use arrayvec::ArrayString;

use crate::graph::words::index;

/// Bytes of id and label that stand with the rest, so that all of it is one line of the processor's cache.
const NEAR_MAX: usize = 36;
/// Texts that nobody refers to are dropped when they are as much as the others and more than this.
const WASTED_MIN: usize = 1 << 20;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(align(64))]
pub(in crate::graph) struct Head {
    /// The id and behind it the label, where they are short enough.
    near: ArrayString<NEAR_MAX>,
    n_id: u32,
    /// 0 where the id is the label; no label is empty.
    n_label: u32,
    pub source: u32,
    /// The first category.
    pub kind: u32,
    /// Where they begin in the text of all, where they are not.
    start: usize,
}

const _: () = assert!(size_of::<Head>() == 64);

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

    /// Puts the texts into the head, or at the end of all.
    fn told(&mut self, id: &str, label: &str) -> Head {
        let own_label = if label == id { "" } else { label };
        let mut head = Head { n_id: length(id), n_label: length(own_label), ..Head::default() };
        let near = &mut head.near;
        if near.try_push_str(id).and_then(|()| near.try_push_str(own_label)).is_err() {
            (head.near, head.start) = (ArrayString::new(), self.texts.len());
            self.texts.push_str(id);
            self.texts.push_str(own_label);
        }
        head
    }

    #[inline]
    pub fn head(&self, node: u32) -> Option<&Head> {
        self.heads.get(index(node))
    }

    pub fn id(&self, node: u32) -> &str {
        let (texts, n_id) = self.texts(self.head(node));
        texts.get(..n_id).unwrap_or_default()
    }

    pub fn label(&self, node: u32) -> &str {
        let (texts, n_id) = self.texts(self.head(node));
        if texts.len() == n_id { texts } else { texts.get(n_id..).unwrap_or_default() }
    }

    /// Id and label as one text, and how long the id is; the id alone where it is the label too.
    #[inline]
    pub fn texts<'h>(&'h self, head: Option<&'h Head>) -> (&'h str, usize) {
        let Some(head) = head else { return ("", 0) };
        let n_id = index(head.n_id);
        if head.is_near() {
            return (&head.near, n_id);
        }
        (self.texts.get(head.start..head.start + n_id + index(head.n_label)).unwrap_or_default(), n_id)
    }

    /// A byte of a node's texts: whoever reads those of many waits for all of them at once.
    #[inline]
    pub fn touched(&self, node: u32) -> u8 {
        match self.head(node) {
            Some(head) if !head.is_near() => self.texts.as_bytes().get(head.start).copied().unwrap_or_default(),
            Some(_) | None => 0,
        }
    }

    /// Says something else of a node. Its id stays.
    pub fn set(&mut self, node: u32, label: &str, source: u32, kind: u32) {
        let Some(mut new) = self.head(node).copied() else { return };
        if self.label(node) != label {
            let id = self.id(node).to_owned();
            self.n_wasted += if new.is_near() { 0 } else { self.texts(Some(&new)).0.len() };
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

impl Head {
    #[inline]
    fn is_near(&self) -> bool {
        !self.near.is_empty()
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
        let marks = |heads: &Heads, node| heads.head(node).map(|head| (head.source, head.kind));
        assert_eq!((heads.id(1), heads.label(1), marks(&heads, 1)), ("H2", "ขิง", Some((1, 2))));
        heads.set(0, "H1", 3, 4);
        assert_eq!((heads.label(0), marks(&heads, 0)), ("H1", Some((3, 4))));
        assert_eq!((heads.id(2), heads.label(2), marks(&heads, 2)), ("", "", None));
    }

    #[test]
    fn texts_are_told_alike_whether_they_stand_near_or_far() {
        let mut heads = Heads::default();
        let labels: Vec<String> = (0..60).map(|n| "ก".repeat(n / 3) + &"x".repeat(n % 3 + 1)).collect();
        labels.iter().for_each(|label| heads.push("H:1", label, 0, 0));
        let told = |heads: &Heads| -> Vec<(String, String)> {
            (0..60).map(|node| (heads.id(node).to_owned(), heads.label(node).to_owned())).collect()
        };
        let expected: Vec<(String, String)> = labels.iter().map(|label| ("H:1".to_owned(), label.clone())).collect();
        assert_eq!(told(&heads), expected);
        assert!(!heads.texts.is_empty() && heads.texts.len() < labels.iter().map(|label| label.len() + 3).sum());
        // Each gets the label of the one opposite, near or far.
        (0..).zip(labels.iter().rev()).for_each(|(node, label)| heads.set(node, label, 0, 0));
        let expected: Vec<(String, String)> = expected.into_iter().rev().collect();
        assert_eq!(told(&heads), expected);
        assert_eq!(told(&heads.tidy()), expected);
    }
}
