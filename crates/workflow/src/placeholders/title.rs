//! Which document a heading or an item is the title of: `### 1. [HLS-012](x): Log in`.

use super::twice::is_mark;
use super::{Kind, Token, tokens};
use crate::catalogue::Catalogue;
use crate::markdown::as_shown;

/// An id or placeholder at the beginning of a title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Titled {
    pub id: String,
    pub prefix: String,
    pub kind: Kind,
    /// Whether the id is not written as ids are: `hls-012`, or with another hyphen.
    pub is_odd: bool,
    /// What follows, without the colon or dash before it; empty where nothing does.
    pub title: String,
}

impl Titled {
    pub(super) fn read(catalogue: &Catalogue, said: &str) -> Option<Titled> {
        let read = |said: &str, is_odd: bool| {
            let (token, after) = first(catalogue, said)?;
            let rest = after.strip_prefix([':', '-', '–', '—', '.', ')', '|']);
            let title = rest.or_else(|| after.is_empty().then_some(""))?;
            let title = title.trim_start_matches(|c: char| c.is_whitespace() || is_mark(c)).trim_end();
            let (id, prefix, kind) = (token.text.to_owned(), token.prefix.to_owned(), token.kind());
            Some(Titled { id, prefix, kind, is_odd, title: title.to_owned() })
        };
        let odd = || read(&as_shown(said).unwrap_or_else(|| said.to_owned()).to_ascii_uppercase(), true);
        read(said, false).or_else(|| odd().filter(|it| it.kind == Kind::Final))
    }
}

/// The id that a title begins with, and what follows it.
fn first<'a>(catalogue: &Catalogue, said: &'a str) -> Option<(Token<'a>, &'a str)> {
    let said = without_number(said);
    let token = tokens(catalogue, said).into_iter().next().filter(|token| token.start == 0)?;
    Some((token, after(said.get(token.text.len()..)?)))
}

/// A title without what may stand before its id: a number (`§3.1`), emphasis, the bracket of a link.
fn without_number(said: &str) -> &str {
    said.trim_start_matches(|c: char| {
        c.is_ascii_digit() || c.is_whitespace() || ['§', '.', ':', '(', ')'].contains(&c) || is_mark(c)
    })
}

/// What follows an id, without the emphasis and the address of a link that end there.
fn after(rest: &str) -> &str {
    let rest = rest.trim_start_matches(['*', '_', '`']);
    let rest = match rest.strip_prefix(']') {
        Some(link) if link.starts_with('(') => link.split_once(')').map_or("", |(_, rest)| rest),
        Some(link) if link.starts_with('[') => link.split_once(']').map_or("", |(_, rest)| rest),
        Some(rest) => rest,
        None => rest,
    };
    rest.trim_start_matches(is_mark).trim_start()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_through_what_stands_around_it() {
        let catalogue = Catalogue::built_in().unwrap();
        let read = |said: &str| Titled::read(&catalogue, said).map(|it| (it.id, it.is_odd, it.title));
        for said in [
            "HLS-030: Mine",
            "1. HLS-030: Mine",
            "3.1 HLS-030 – Mine",
            "§3.1 **HLS-030**: Mine",
            "[HLS-030](x): Mine",
            "[HLS-030][x] - Mine",
            "`HLS-030`: **Mine",
        ] {
            assert_eq!(read(said), Some(("HLS-030".to_owned(), false, "Mine".to_owned())), "{said}");
        }
        for said in ["HLS\u{2011}030: MINE", "hls-030: MINE", "1. **HLS**-030: MINE", "HLS&#45;030: MINE"] {
            assert_eq!(read(said), Some(("HLS-030".to_owned(), true, "MINE".to_owned())), "{said}");
        }
        for said in ["HLS-030 and others", "After HLS-030", "Story HLS-030: Mine", "hls-aaa: Mine", ""] {
            assert_eq!(read(said), None, "{said}");
        }
    }
}
