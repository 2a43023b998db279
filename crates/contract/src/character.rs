//! Characters that nobody sees. What is hidden in a text is read by programs and approved by people, so there is one list.

use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;

/// Joiners, selectors, fillers, tags, marks of direction: what Unicode wants shown as nothing, and the three marks of
/// annotations, which no program shows either. Spaces are seen, and controls (`char::is_control`) are another matter.
pub fn is_invisible(c: char) -> bool {
    CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c) || matches!(c, '\u{fff9}'..='\u{fffb}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_no_room_is_invisible_and_what_is_seen_is_not() {
        for c in "\u{ad}\u{34f}\u{61c}\u{115f}\u{180b}\u{200b}\u{200d}\u{202e}\u{2060}\u{2069}\u{3164}\u{fe0f}\u{feff}\u{fffa}\u{e0041}\u{e0100}".chars()
        {
            assert!(is_invisible(c), "{}", c.escape_unicode());
        }
        for c in "Ha1 \u{a0}\u{3000}\n\u{301}\u{e33}\u{e48}ขิᏋ–⚠".chars() {
            assert!(!is_invisible(c), "{}", c.escape_unicode());
        }
    }
}
