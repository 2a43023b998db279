//! Thai letters in one spelling, so that the same word is the same text: typesetters take `ำ` apart, keyboards put a tone mark
//! behind it, and two `เ` look like one `แ`. Places in the one spelling are known in the text itself.

use std::borrow::Cow;

use crate::graph::names::is_thai_tone;

const NIKHAHIT: char = '\u{e4d}';
const SARA_AA: char = 'า';
const SARA_AM: char = 'ำ';
const SARA_E: char = 'เ';
const SARA_AE: char = 'แ';

/// A text in one spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spelt<'a> {
    pub text: Cow<'a, str>,
    /// From where on places are others than before: in this text, and in the one that was given.
    shifts: Vec<(usize, usize)>,
}

impl<'a> Spelt<'a> {
    pub fn new(given: &'a str) -> Spelt<'a> {
        if !may_differ(given) {
            return Spelt { text: Cow::Borrowed(given), shifts: Vec::new() };
        }
        let (mut text, mut shifts) = (String::with_capacity(given.len()), Vec::new());
        for (place, letter) in given.char_indices() {
            let before = put_together(&text, letter);
            match before {
                Some((n_dropped, letters)) => {
                    text.truncate(text.len() - n_dropped);
                    text.extend(letters.into_iter().flatten());
                    shifts.push((text.len(), place + letter.len_utf8()));
                }
                None => text.push(letter),
            }
        }
        Spelt { text: Cow::Owned(text), shifts }
    }

    /// Where a place of this text is in the one that was given.
    pub fn place(&self, byte: usize) -> usize {
        let shift = self.shifts.partition_point(|(here, _)| *here <= byte).checked_sub(1);
        let shift = shift.and_then(|at| self.shifts.get(at));
        shift.map_or(byte, |(here, given)| given + (byte - here))
    }
}

/// What stands for the end of a text and the letter after it, and how many bytes of the end give way to it.
fn put_together(before: &str, letter: char) -> Option<(usize, [Option<char>; 2])> {
    let mut back = before.chars().rev();
    let (last, one_before) = (back.next()?, back.next());
    let bytes = |letters: [char; 2]| letters.map(char::len_utf8).iter().sum();
    match letter {
        SARA_AA if last == NIKHAHIT => Some((NIKHAHIT.len_utf8(), [Some(SARA_AM), None])),
        SARA_AA if is_thai_tone(last) && one_before == Some(NIKHAHIT) => {
            Some((bytes([NIKHAHIT, last]), [Some(last), Some(SARA_AM)]))
        }
        tone if is_thai_tone(tone) && last == SARA_AM => Some((SARA_AM.len_utf8(), [Some(tone), Some(SARA_AM)])),
        SARA_E if last == SARA_E => Some((SARA_E.len_utf8(), [Some(SARA_AE), None])),
        _ => None,
    }
}

/// Most texts are as they should be, and are told so quickly.
fn may_differ(text: &str) -> bool {
    let is_before_tone = |(place, am): (usize, &str)| {
        text.get(place + am.len()..).and_then(|rest| rest.chars().next()).is_some_and(is_thai_tone)
    };
    text.contains(NIKHAHIT) || text.contains("เเ") || text.match_indices(SARA_AM).any(is_before_tone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_look_alike_are_spelt_alike() {
        for given in ["น้ำ", "น\u{e49}\u{e4d}\u{e32}", "น\u{e4d}\u{e49}\u{e32}", "น\u{e4d}\u{e32}\u{e49}", "นำ\u{e49}"]
        {
            assert_eq!(Spelt::new(given).text, "น้ำ", "{given:?}");
        }
        assert_eq!(Spelt::new("ล\u{e4d}\u{e32}ไส้เเละ").text, "ลำไส้และ");
        for text in ["", "ginger", "ลำไส้", "\u{e4d}", "เกลือ", "า\u{e49}"] {
            assert_eq!(Spelt::new(text), Spelt { text: text.into(), shifts: Vec::new() });
        }
    }

    #[test]
    fn places_are_those_of_the_text_that_was_given() {
        let given = "ยาน\u{e49}\u{e4d}\u{e32} เเละ ล\u{e4d}\u{e32}ไส้ x";
        let spelt = Spelt::new(given);
        assert_eq!(spelt.text, "ยาน้ำ และ ลำไส้ x");
        for (word, expected) in
            [("ยา", "ยา"), ("น้ำ", "น\u{e49}\u{e4d}\u{e32}"), ("และ", "เเละ"), ("ลำไส้", "ล\u{e4d}\u{e32}ไส้"), ("x", "x")]
        {
            let start = spelt.text.find(word).unwrap();
            let range = spelt.place(start)..spelt.place(start + word.len());
            assert_eq!(&given[range], expected);
        }
        assert_eq!(spelt.place(spelt.text.len()), given.len());
    }
}
