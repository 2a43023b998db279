//! Vectors in the record, by the hash of their text and of the model.

use store::{Conn, StoreError, Tx};

use super::entry::ContentHash;
use super::vectors::Packed;

/// Texts up to this long have one vector, of their beginning: for abstracts more measured no better.
const ONE_WINDOW_CHARS_MAX: usize = 6_000;
/// Longer texts have one for each piece of this length.
const WINDOW_CHARS: usize = 1_200;
const WINDOWS_MAX: usize = 64;
const PAGE: i64 = 2_000;

/// The pieces of a text that a model reads.
pub fn windows(passage: &str) -> Vec<String> {
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
        let hash = hex::decode(row.text(0)?).ok().and_then(|bytes| bytes.try_into().ok());
        let hash = hash.ok_or(StoreError::other("a hash of an embedding has not 32 bytes"))?;
        all.push(Embedded { content: ContentHash(hash), windows: unpack(&row.bytes(1)?, n_dimensions) });
    }
    Ok(all)
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
