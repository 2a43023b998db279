//! Vectors in the record, by the hash of their text and of the model.

use store::{Conn, StoreError, Tx};

use super::entry::{ContentHash, Entry};
use super::vectors::Packed;

/// Texts up to this long have one vector, of their beginning: for abstracts more measured no better.
const ONE_WINDOW_CHARS_MAX: usize = 6_000;
/// Longer texts have one for each piece of this length.
const WINDOW_CHARS: usize = 1_200;
const WINDOWS_MAX: usize = 64;
/// How far the vectors of a text are moved towards that of its title, which says what the text is about as a whole. To be
/// chosen on a dev split, never on a test split.
const TITLE_SHARE: f32 = 0.3;
const PAGE: i64 = 2_000;

/// What a model reads of an entry: the pieces of its passage, and last its title where it has one beside a text.
pub fn texts(entry: &Entry) -> Vec<String> {
    let mut texts = windows(&entry.passage());
    texts.extend(title(entry).map(str::to_owned));
    texts
}

/// The vectors of an entry, from what a model made of its [`texts`], one after the other.
pub fn vectors(entry: &Entry, mut made: Vec<Vec<f32>>) -> Vec<Packed> {
    let title = title(entry).and_then(|_| made.pop());
    let moved = |vector: Vec<f32>| match &title {
        Some(title) => towards(&vector, title),
        None => vector,
    };
    made.into_iter().map(|vector| Packed::of(&moved(vector))).collect()
}

fn title(entry: &Entry) -> Option<&str> {
    let has_both = !entry.title.trim().is_empty() && !entry.text.trim().is_empty();
    has_both.then_some(entry.title.as_str())
}

/// Both have length one, and so has the result.
fn towards(text: &[f32], title: &[f32]) -> Vec<f32> {
    let mixed = text.iter().zip(title).map(|(text, title)| (1.0 - TITLE_SHARE) * text + TITLE_SHARE * title);
    let mixed: Vec<f32> = mixed.collect();
    let length = mixed.iter().map(|number| number * number).sum::<f32>().sqrt();
    // The shares differ, so that not even opposite ones cancel each other out.
    mixed.into_iter().map(|number| number / length.max(f32::MIN_POSITIVE)).collect()
}

/// The pieces of a passage that a model reads.
fn windows(passage: &str) -> Vec<String> {
    if passage.chars().nth(ONE_WINDOW_CHARS_MAX).is_none() {
        return vec![passage.to_owned()];
    }
    let mut windows = Vec::new();
    let mut window = String::new();
    let mut n_chars = 0;
    for word in passage.split_inclusive(char::is_whitespace) {
        if n_chars >= WINDOW_CHARS {
            windows.push(std::mem::take(&mut window));
            n_chars = 0;
        }
        // Thai has few spaces: a piece without one is cut where it is full.
        for letter in word.chars() {
            if n_chars >= 2 * WINDOW_CHARS {
                windows.push(std::mem::take(&mut window));
                n_chars = 0;
            }
            window.push(letter);
            n_chars += 1;
        }
    }
    windows.push(window);
    windows.retain(|window| !window.trim().is_empty());
    windows.truncate(WINDOWS_MAX);
    windows
}

/// The vectors of one text.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    pub content: ContentHash,
    pub windows: Vec<Packed>,
}

pub async fn insert(
    tx: &mut Tx<'_>,
    organisation_id: &str,
    model_sha256: &str,
    embedded: &[Embedded],
) -> Result<(), StoreError> {
    let sql = "INSERT INTO evidence_embeddings (organisation_id, model_sha256, content_sha256, windows)
        VALUES ($1, $2, $3, $4) ON CONFLICT (organisation_id, model_sha256, content_sha256) DO NOTHING";
    for one in embedded {
        let (content, windows) = (hex::encode(one.content.0), pack(&one.windows));
        let params = [organisation_id.into(), model_sha256.into(), content.as_str().into(), windows.as_slice().into()];
        tx.execute(sql, &params).await?;
    }
    Ok(())
}

/// A vector in the record: the hashes of its model and of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    model_sha256: String,
    content_sha256: String,
}

/// Vectors of any model whose content is not known any more, up to `n_max` of them. `is_known` is asked by
/// [`ContentHash::short`].
pub async fn find_stale(
    conn: &mut Conn,
    organisation_id: &str,
    is_known: impl Fn(u64) -> bool,
    n_max: usize,
) -> Result<Vec<Place>, StoreError> {
    let sql = "SELECT model_sha256, content_sha256 FROM evidence_embeddings
        WHERE organisation_id = $1 AND (model_sha256, content_sha256) > ($2, $3)
        ORDER BY model_sha256, content_sha256 LIMIT $4";
    let (mut model, mut content) = (String::new(), String::new());
    let mut stale = Vec::new();
    loop {
        let params = [organisation_id.into(), model.as_str().into(), content.as_str().into(), PAGE.into()];
        let page = conn.fetch_all(sql, &params).await?;
        let Some(last) = page.last() else { return Ok(stale) };
        (model, content) = (last.text(0)?, last.text(1)?);
        for row in &page {
            if stale.len() == n_max {
                return Ok(stale);
            }
            let place = Place { model_sha256: row.text(0)?, content_sha256: row.text(1)? };
            if !is_known(content_hash(&place.content_sha256)?.short()) {
                stale.push(place);
            }
        }
    }
}

pub async fn delete(tx: &mut Tx<'_>, organisation_id: &str, places: &[Place]) -> Result<(), StoreError> {
    let sql = "DELETE FROM evidence_embeddings
        WHERE organisation_id = $1 AND model_sha256 = $2 AND content_sha256 = $3";
    for place in places {
        let (model, content) = (place.model_sha256.as_str(), place.content_sha256.as_str());
        tx.execute(sql, &[organisation_id.into(), model.into(), content.into()]).await?;
    }
    Ok(())
}

pub async fn count(conn: &mut Conn, organisation_id: &str, model_sha256: &str) -> Result<i64, StoreError> {
    let sql = "SELECT COUNT(*) FROM evidence_embeddings WHERE organisation_id = $1 AND model_sha256 = $2";
    let row = conn.fetch_optional(sql, &[organisation_id.into(), model_sha256.into()]).await?;
    row.map_or(Ok(0), |row| row.int(0))
}

/// The next vectors after a content hash (hex), in the order of the hashes; begin with an empty one.
pub async fn page(
    conn: &mut Conn,
    organisation_id: &str,
    model_sha256: &str,
    after: &str,
    n_dimensions: usize,
) -> Result<Vec<Embedded>, StoreError> {
    let sql = "SELECT content_sha256, windows FROM evidence_embeddings
        WHERE organisation_id = $1 AND model_sha256 = $2 AND content_sha256 > $3 ORDER BY content_sha256 LIMIT $4";
    let params = [organisation_id.into(), model_sha256.into(), after.into(), PAGE.into()];
    let mut all = Vec::new();
    for row in conn.fetch_all(sql, &params).await? {
        let content = content_hash(&row.text(0)?)?;
        all.push(Embedded { content, windows: unpack(&row.bytes(1)?, n_dimensions) });
    }
    Ok(all)
}

fn content_hash(hex: &str) -> Result<ContentHash, StoreError> {
    let hash = hex::decode(hex).ok().and_then(|bytes| bytes.try_into().ok());
    hash.map(ContentHash).ok_or(StoreError::other("a hash of an embedding has not 32 bytes"))
}

/// Of each window its scale, then its bytes.
fn pack(windows: &[Packed]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for window in windows {
        bytes.extend_from_slice(&window.scale.to_le_bytes());
        bytes.extend(window.bytes.iter().map(|byte| byte.to_le_bytes()[0]));
    }
    bytes
}

fn unpack(bytes: &[u8], n_dimensions: usize) -> Vec<Packed> {
    let windows = bytes.chunks_exact(n_dimensions + 4).filter_map(|window| {
        let (scale, bytes) = window.split_first_chunk::<4>()?;
        let bytes = bytes.iter().map(|byte| i8::from_le_bytes([*byte])).collect();
        Some(Packed { bytes, scale: f32::from_le_bytes(*scale) })
    });
    windows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_survive_the_way_into_the_record() {
        let windows = vec![Packed::of(&[0.5, -1.0, 0.0]), Packed::of(&[0.1, 0.2, 0.3])];
        assert_eq!(unpack(&pack(&windows), 3), windows);
        assert!(unpack(&[1, 2, 3], 3).is_empty());
    }

    fn entry(title: &str, text: &str) -> Entry {
        let document = serde_json::json!({"id": "P1", "kind": "paper", "title": title, "text": text, "lang": "en",
            "source": "s"});
        Entry::of_document(&serde_json::from_value(document).unwrap())
    }

    #[test]
    fn a_text_is_moved_towards_its_title_and_keeps_its_length() {
        let both = entry("Ginger", "Nausea after surgery");
        assert_eq!(texts(&both), ["Ginger Nausea after surgery", "Ginger"]);
        let moved = vectors(&both, vec![vec![1.0, 0.0], vec![0.0, 1.0]]);
        let moved: Vec<f32> = moved[0].numbers().collect();
        assert!((moved[1] / moved[0] - 0.3 / 0.7).abs() < 0.01, "{moved:?}");
        assert!((moved[0] * moved[0] + moved[1] * moved[1] - 1.0).abs() < 0.01, "{moved:?}");
    }

    #[test]
    fn a_title_alone_and_a_text_alone_are_left_as_they_are() {
        for alone in [entry("Ginger", ""), entry("", "Ginger")] {
            assert_eq!(texts(&alone), ["Ginger"]);
            assert_eq!(vectors(&alone, vec![vec![0.6, 0.8]]), [Packed::of(&[0.6, 0.8])]);
        }
    }

    #[test]
    fn an_abstract_is_one_window_and_a_book_many() {
        assert_eq!(windows("short"), ["short"]);
        let book = "word ".repeat(2_000);
        let pieces = windows(&book);
        assert_eq!(pieces.concat(), book);
        assert!(pieces.len() > 5 && pieces.iter().all(|piece| piece.chars().count() <= 2 * WINDOW_CHARS));
        assert_eq!(windows(&"ก".repeat(6_001)).len(), 3);
    }
}
