//! Cuts a JSON document into the values at chosen places without holding the rest: a graph of gigabytes is one document.

use std::io::BufRead;

use memchr::memchr2;

use super::ImportError;

/// A node with all its attributes is far below.
const VALUE_BYTES_MAX: usize = 16 * 1024 * 1024;
const KEY_BYTES_MAX: usize = 64 * 1024;
const DEPTH_MAX: usize = 64;

/// The names that lead to an array or an object, whose members are cut out.
pub type Path = &'static [&'static str];

/// One member.
#[derive(Debug, PartialEq, Eq)]
pub struct Cut {
    /// Which of the paths.
    pub path: usize,
    /// Its name, where the container is an object.
    pub key: Option<String>,
    /// Its text, or why it is not there.
    pub value: Result<Vec<u8>, String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Array,
    Object,
}

struct Frame {
    kind: Kind,
    /// The name of the member that is being read.
    key: Option<String>,
    is_first: bool,
}

pub struct Cutter<R> {
    reader: R,
    paths: &'static [Path],
    open: Vec<Frame>,
    at_byte: u64,
    is_started: bool,
}

/// What happens to the bytes of a value that is passed over.
enum Keep<'a> {
    No,
    Yes { text: &'a mut Vec<u8>, is_too_long: &'a mut bool },
}

impl Keep<'_> {
    fn push(&mut self, byte: u8) {
        self.extend(&[byte]);
    }

    fn extend(&mut self, bytes: &[u8]) {
        if let Keep::Yes { text, is_too_long } = self
            && !**is_too_long
        {
            if text.len() + bytes.len() > VALUE_BYTES_MAX {
                **is_too_long = true;
                **text = Vec::new();
            } else {
                text.extend_from_slice(bytes);
            }
        }
    }
}

impl<R: BufRead> Cutter<R> {
    pub fn new(reader: R, paths: &'static [Path]) -> Cutter<R> {
        Cutter { reader, paths, open: Vec::new(), at_byte: 0, is_started: false }
    }

    pub fn next_cut(&mut self) -> Result<Option<Cut>, ImportError> {
        if !self.is_started {
            self.is_started = true;
            // Some writers put a byte order mark in front.
            if self.peek()? == Some(0xef) {
                self.expect(&[0xef, 0xbb, 0xbf], "JSON")?;
            }
            self.enter_or_pass()?;
        }
        while let Some(frame) = self.open.last() {
            let (kind, is_first) = (frame.kind, frame.is_first);
            let close = if kind == Kind::Array { b']' } else { b'}' };
            match self.skip_blanks()? {
                None => return Err(ImportError::JsonTruncated),
                Some(byte) if byte == close => {
                    self.take()?;
                    self.open.pop();
                    continue;
                }
                Some(b',') if !is_first => {
                    self.take()?;
                }
                Some(_) if is_first => {}
                Some(_) => return Err(self.fault("`,` or the end of the list")),
            }
            let key = match kind {
                Kind::Object => Some(self.key()?),
                Kind::Array => None,
            };
            if let Some(frame) = self.open.last_mut() {
                frame.is_first = false;
                frame.key = key.clone();
            }
            match self.container_path() {
                Some(path) => {
                    let value = self.value()?;
                    return Ok(Some(Cut { path, key, value }));
                }
                None => self.enter_or_pass()?,
            }
        }
        match self.skip_blanks()? {
            None => Ok(None),
            Some(_) => Err(self.fault("the end of the document")),
        }
    }

    /// Which path leads to the innermost open container.
    fn container_path(&self) -> Option<usize> {
        self.paths.iter().position(|path| path.len() + 1 == self.open.len() && self.leads_along(path))
    }

    /// Whether the members that are being read, but for the innermost, have these names.
    fn leads_along(&self, names: &[&str]) -> bool {
        self.open.iter().zip(names).all(|(frame, name)| frame.key.as_deref() == Some(*name))
    }

    /// Goes into a container on the way to one of the paths; passes over any other value.
    fn enter_or_pass(&mut self) -> Result<(), ImportError> {
        let depth = self.open.len();
        let is_on_the_way = self
            .paths
            .iter()
            .any(|path| depth <= path.len() && path.get(..depth).is_some_and(|names| self.leads_along(names)));
        let kind = match self.skip_blanks()? {
            Some(b'{') if is_on_the_way => Kind::Object,
            // An array on the way to a path has no names to follow; one at its end has members.
            Some(b'[') if is_on_the_way && self.paths.iter().any(|path| path.len() == depth) => Kind::Array,
            Some(_) => return self.pass(&mut Keep::No),
            None => return Err(ImportError::JsonTruncated),
        };
        self.take()?;
        self.open.push(Frame { kind, key: None, is_first: true });
        Ok(())
    }

    fn value(&mut self) -> Result<Result<Vec<u8>, String>, ImportError> {
        let (mut text, mut is_too_long) = (Vec::new(), false);
        self.skip_blanks()?;
        self.pass(&mut Keep::Yes { text: &mut text, is_too_long: &mut is_too_long })?;
        Ok(if is_too_long { Err(format!("longer than {VALUE_BYTES_MAX} bytes")) } else { Ok(text) })
    }

    /// Reads one value of any kind to its end. What is kept is checked by whoever parses it.
    fn pass(&mut self, keep: &mut Keep<'_>) -> Result<(), ImportError> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            let byte = self.take()?;
            keep.push(byte);
            match byte {
                b'"' => self.pass_string(keep)?,
                b'{' | b'[' => {
                    if open.len() >= DEPTH_MAX {
                        return Err(ImportError::JsonDepth { depth_max: DEPTH_MAX, at_byte: self.at_byte });
                    }
                    open.push(if byte == b'{' { b'}' } else { b']' });
                }
                b'}' | b']' => {
                    let opened = open.pop();
                    if opened != Some(byte) {
                        return Err(self.fault("the bracket that was opened to be closed"));
                    }
                }
                _ => {}
            }
            let is_over = match byte {
                b'"' | b'}' | b']' => open.is_empty(),
                // A number or a word ends where something else begins.
                _ => open.is_empty() && self.peek()?.is_none_or(|next| b",]} \t\r\n".contains(&next)),
            };
            if is_over {
                return Ok(());
            }
        }
    }

    /// Most of a document is text, so it is passed over in runs and not byte by byte.
    fn pass_string(&mut self, keep: &mut Keep<'_>) -> Result<(), ImportError> {
        loop {
            let chunk = self.reader.fill_buf().map_err(ImportError::Read)?;
            if chunk.is_empty() {
                return Err(ImportError::JsonTruncated);
            }
            let n_plain = memchr2(b'"', b'\\', chunk).unwrap_or(chunk.len());
            keep.extend(chunk.get(..n_plain).unwrap_or_default());
            let mark = chunk.get(n_plain).copied();
            self.reader.consume(n_plain);
            self.at_byte += u64::try_from(n_plain).unwrap_or(u64::MAX);
            if let Some(mark) = mark {
                self.take()?;
                keep.push(mark);
                if mark == b'"' {
                    return Ok(());
                }
                let escaped = self.take()?;
                keep.push(escaped);
            }
        }
    }

    fn key(&mut self) -> Result<String, ImportError> {
        if self.skip_blanks()? != Some(b'"') {
            return Err(self.fault("a name in quotation marks"));
        }
        let mut text = vec![self.take()?];
        loop {
            let byte = self.take()?;
            text.push(byte);
            match byte {
                b'"' => break,
                b'\\' => text.push(self.take()?),
                _ => {}
            }
            if text.len() > KEY_BYTES_MAX {
                return Err(self.fault("a shorter name"));
            }
        }
        let key = serde_json::from_slice(&text).map_err(|_| self.fault("a name in valid JSON"))?;
        if self.skip_blanks()? != Some(b':') {
            return Err(self.fault("`:`"));
        }
        self.take()?;
        Ok(key)
    }

    fn expect(&mut self, bytes: &[u8], expected: &'static str) -> Result<(), ImportError> {
        for byte in bytes {
            if self.take()? != *byte {
                return Err(self.fault(expected));
            }
        }
        Ok(())
    }

    fn skip_blanks(&mut self) -> Result<Option<u8>, ImportError> {
        loop {
            match self.peek()? {
                Some(b' ' | b'\t' | b'\r' | b'\n') => {
                    self.take()?;
                }
                other => return Ok(other),
            }
        }
    }

    fn peek(&mut self) -> Result<Option<u8>, ImportError> {
        Ok(self.reader.fill_buf().map_err(ImportError::Read)?.first().copied())
    }

    fn take(&mut self) -> Result<u8, ImportError> {
        let byte = self.peek()?.ok_or(ImportError::JsonTruncated)?;
        self.reader.consume(1);
        self.at_byte += 1;
        Ok(byte)
    }

    fn fault(&self, expected: &'static str) -> ImportError {
        ImportError::Json { at_byte: self.at_byte, expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATHS: &[Path] = &[&["nodes"], &["message", "graph", "edges"]];

    fn cuts(text: &str) -> Result<Vec<String>, ImportError> {
        let mut cutter = Cutter::new(text.as_bytes(), PATHS);
        let mut found = Vec::new();
        while let Some(cut) = cutter.next_cut()? {
            let value = String::from_utf8(cut.value.unwrap()).unwrap();
            found.push(format!("{} {} {value}", cut.path, cut.key.unwrap_or_default()));
        }
        Ok(found)
    }

    #[test]
    fn members_of_arrays_and_objects_are_cut_and_the_rest_is_passed_over() {
        let text = r#" {"a": [1, {"nodes": [9]}], "nodes": [{"id": "x]}\"" } , 2],
            "message": {"graph": {"edges": {"e\u0031": {"p": null}, "e2": true}}, "nodes": [3]}} "#;
        assert_eq!(cuts(text).unwrap(), [r#"0  {"id": "x]}\"" }"#, "0  2", r#"1 e1 {"p": null}"#, "1 e2 true"]);
    }

    #[test]
    fn empty_containers_and_other_values_have_no_members() {
        assert!(cuts(r#"{"nodes": [], "message": null}"#).unwrap().is_empty());
        assert!(cuts("[1, 2]").unwrap().is_empty());
    }

    #[test]
    fn what_is_not_whole_is_an_error() {
        for text in [r#"{"nodes": [{"a": 1}"#, r#"{"nodes": [{"a"#, r#"{"a": "b"#, r#"{"#] {
            assert!(matches!(cuts(text), Err(ImportError::JsonTruncated)), "{text}");
        }
        for text in [r#"{"nodes": [1 2]}"#, r#"{nodes: []}"#, r#"{"a": [}]}"#, r#"{} {}"#, r#"{"a" 1}"#] {
            assert!(matches!(cuts(text), Err(ImportError::Json { .. })), "{text}");
        }
    }

    #[test]
    fn deep_values_end_the_stream_kept_or_not() {
        for name in ["nodes", "other"] {
            let text = format!(r#"{{"{name}": [{}1{}]}}"#, "[".repeat(70), "]".repeat(70));
            assert!(matches!(cuts(&text), Err(ImportError::JsonDepth { .. })), "{name}");
        }
    }
}
