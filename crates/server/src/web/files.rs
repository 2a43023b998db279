//! A file as a response: packed as the client takes it, and not sent again where the client has it.

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use sha2::{Digest as _, Sha256};

/// A file as it is stored.
pub struct Stored {
    pub data: Bytes,
    pub sha256: [u8; 32],
}

/// What the build packs with (`web/scripts/packed.ts`), the smaller one first, and how the files end.
const PACKINGS: [(&str, &str); 2] = [("br", ".br"), ("gzip", ".gz")];

/// Whether the path is of a packed file, which has no address of its own.
pub fn is_packed(path: &str) -> bool {
    PACKINGS.iter().any(|(_, ending)| path.ends_with(ending))
}

/// The file of this path, if there is one. What is answered with another status than 200 is always sent whole.
pub fn served(
    path: &str,
    status: StatusCode,
    asked: &HeaderMap,
    stored: impl Fn(&str) -> Option<Stored>,
) -> Option<Response> {
    let plain = stored(path)?;
    let packed = PACKINGS.into_iter().filter(|(packing, _)| takes(asked, packing)).find_map(|(packing, ending)| {
        let file = stored(&format!("{path}{ending}"))?;
        Some((file, Some(packing)))
    });
    let (file, packing) = packed.unwrap_or((plain, None));
    // Each packing is a text of its own and so has a hash of its own.
    let mut response = tagged(status, asked, file, content_type(path));
    let is_whole = response.status() != StatusCode::NOT_MODIFIED;
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache_control(path)));
    headers.extend(packing.filter(|_| is_whole).map(|packing| (CONTENT_ENCODING, HeaderValue::from_static(packing))));
    Some(response)
}

/// JSON that stays as it is while the server runs and is the same for everybody who may ask: sent once to each browser.
/// Never packed, as no JSON is.
pub fn lasting(asked: &HeaderMap, json: String) -> Response {
    let file = Stored { sha256: Sha256::digest(&json).into(), data: Bytes::from(json) };
    let mut response = tagged(StatusCode::OK, asked, file, "application/json");
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    response
}

fn tagged(status: StatusCode, asked: &HeaderMap, file: Stored, content_type: &'static str) -> Response {
    let etag = format!("\"{}\"", hex::encode(file.sha256));
    let mut response = if status == StatusCode::OK && has(asked, &etag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        (status, [(CONTENT_TYPE, content_type)], Body::from(file.data)).into_response()
    };
    response.headers_mut().extend(HeaderValue::try_from(etag).ok().map(|etag| (ETAG, etag)));
    response
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("html") => "text/html; charset=utf-8",
        Some(_) | None => "application/octet-stream",
    }
}

fn cache_control(path: &str) -> &'static str {
    // Their names hold the hash of their content; every other file is asked for again, and mostly not sent again.
    if path.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" }
}

/// Whether the client takes this packing (RFC 9110, 12.5.3). Who says nothing gets the file as it is.
fn takes(asked: &HeaderMap, packing: &str) -> bool {
    let weight_of = |wanted: &str| {
        members(asked, &ACCEPT_ENCODING).find_map(|member| {
            let (name, parameters) = member.split_once(';').unwrap_or((member, ""));
            name.trim().eq_ignore_ascii_case(wanted).then(|| weight(parameters))
        })
    };
    weight_of(packing).or_else(|| weight_of("*")).is_some_and(|weight| weight > 0.0)
}

/// The `q` of a member; 1 where there is none. What is no number wants nothing.
fn weight(parameters: &str) -> f32 {
    let q = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then(|| value.trim().parse().unwrap_or(0.0))
    });
    q.unwrap_or(1.0)
}

/// Whether the client has the text of this tag.
fn has(asked: &HeaderMap, etag: &str) -> bool {
    members(asked, &IF_NONE_MATCH).any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == etag)
}

fn members<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(headers: &[(HeaderName, &'static str)]) -> HeaderMap {
        headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    /// A build whose script is packed in both ways, its page by gzip alone.
    fn stored(path: &str) -> Option<Stored> {
        let at = ["assets/a.js", "assets/a.js.br", "assets/a.js.gz", "index.html", "index.html.gz"]
            .iter()
            .position(|known| *known == path)?;
        let mark = u8::try_from(at).unwrap();
        Some(Stored { data: Bytes::from(vec![mark; 4]), sha256: [mark; 32] })
    }

    fn header(response: &Response, name: HeaderName) -> &str {
        response.headers().get(name).map_or("", |value| value.to_str().unwrap())
    }

    fn check_packing(path: &str, accepted: &'static str, expected: &str) {
        let response = served(path, StatusCode::OK, &asking(&[(ACCEPT_ENCODING, accepted)]), stored).unwrap();
        assert_eq!(header(&response, CONTENT_ENCODING), expected, "{path} for `{accepted}`");
        assert_eq!(header(&response, VARY), "accept-encoding");
    }

    #[test]
    fn the_smallest_packing_that_the_client_takes_is_sent() {
        for (accepted, expected) in [
            ("gzip, deflate, br, zstd", "br"),
            ("gzip", "gzip"),
            ("GZIP;q=0.5, br;q=0", "gzip"),
            ("br; q=0.0, *", "gzip"),
            ("*", "br"),
            ("*;q=0", ""),
            ("gzip;q=x", ""),
            ("identity", ""),
            ("", ""),
        ] {
            check_packing("assets/a.js", accepted, expected);
        }
        check_packing("index.html", "br", "");
        check_packing("index.html", "br, gzip", "gzip");
        let plain = served("assets/a.js", StatusCode::OK, &HeaderMap::new(), stored).unwrap();
        assert_eq!(header(&plain, CONTENT_ENCODING), "");
        assert!(served("assets/b.js", StatusCode::OK, &HeaderMap::new(), stored).is_none());
    }

    #[test]
    fn what_the_client_has_is_not_sent_again() {
        let first = served("index.html", StatusCode::OK, &asking(&[(ACCEPT_ENCODING, "gzip")]), stored).unwrap();
        assert_eq!((first.status(), header(&first, CACHE_CONTROL)), (StatusCode::OK, "no-cache"));
        let again = |known: String, status: StatusCode| {
            let mut asked = asking(&[(ACCEPT_ENCODING, "gzip")]);
            asked.insert(IF_NONE_MATCH, HeaderValue::try_from(known).unwrap());
            served("index.html", status, &asked, stored).unwrap()
        };
        let etag = header(&first, ETAG).to_owned();
        for known in [etag.clone(), format!("W/{etag}"), format!("\"other\", {etag}"), "*".to_owned()] {
            let response = again(known, StatusCode::OK);
            assert_eq!(response.status(), StatusCode::NOT_MODIFIED);
            assert_eq!((header(&response, ETAG), header(&response, CONTENT_TYPE)), (etag.as_str(), ""));
        }
        assert_eq!(again("\"other\"".to_owned(), StatusCode::OK).status(), StatusCode::OK);
        assert_eq!(again(etag.clone(), StatusCode::NOT_FOUND).status(), StatusCode::NOT_FOUND);
        let plain = served("index.html", StatusCode::OK, &HeaderMap::new(), stored).unwrap();
        assert_ne!(header(&plain, ETAG), etag, "another packing is another text");
    }

    #[test]
    fn files_that_are_named_by_their_content_are_kept_for_good() {
        let script = served("assets/a.js", StatusCode::OK, &HeaderMap::new(), stored).unwrap();
        assert_eq!(header(&script, CACHE_CONTROL), "public, max-age=31536000, immutable");
        assert_eq!(header(&script, CONTENT_TYPE), "text/javascript; charset=utf-8");
    }

    #[test]
    fn lasting_json_is_sent_once_and_never_packed() {
        let first = lasting(&asking(&[(ACCEPT_ENCODING, "br, gzip")]), "{}".to_owned());
        assert_eq!((first.status(), header(&first, CONTENT_ENCODING)), (StatusCode::OK, ""));
        assert_eq!(header(&first, CACHE_CONTROL), "private, no-cache");
        let mut asked = HeaderMap::new();
        asked.insert(IF_NONE_MATCH, first.headers()[ETAG].clone());
        assert_eq!(lasting(&asked, "{}".to_owned()).status(), StatusCode::NOT_MODIFIED);
        assert_eq!(lasting(&asked, "[]".to_owned()).status(), StatusCode::OK);
    }

    #[test]
    fn a_packed_file_has_no_address() {
        assert!(is_packed("assets/a.js.br") && is_packed("index.html.gz") && !is_packed("assets/a.js"));
    }
}
