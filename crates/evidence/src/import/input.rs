//! The bytes of a file, unpacked where it begins as gzip does.

use std::io::{self, BufRead as _, BufReader, Chain, Cursor, Read};

use flate2::read::MultiGzDecoder;

use super::ImportError;

/// Real files of these formats shrink to a tenth, tables of one repeated word to a hundredth.
const EXPANSION_MAX: u64 = 200;
/// Below this an expansion costs nobody anything.
const EXPANSION_FREE_BYTES: u64 = 64 * 1024 * 1024;
const BUFFER_BYTES: usize = 64 * 1024;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

pub type Input = BufReader<Box<dyn Read + Send>>;

pub fn open(mut stream: impl Read + Send + 'static) -> Result<Input, ImportError> {
    let mut start = Vec::new();
    stream.by_ref().take(2).read_to_end(&mut start).map_err(ImportError::Read)?;
    if start.is_empty() {
        return Err(ImportError::Empty);
    }
    let is_gzip = start == GZIP_MAGIC;
    let whole = Cursor::new(start).chain(stream);
    let plain: Box<dyn Read + Send> = if is_gzip { Box::new(Expanded::new(whole)) } else { Box::new(whole) };
    check_encoding(BufReader::with_capacity(BUFFER_BYTES, plain))
}

/// Every text in UTF-16 or UTF-32 has NUL or a byte order mark within its first bytes, and none in UTF-8 has.
fn check_encoding(mut input: Input) -> Result<Input, ImportError> {
    let start = input.fill_buf().map_err(ImportError::Read)?;
    match start {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, ..] | [_, 0, ..] => Err(ImportError::Utf16),
        _ => Ok(input),
    }
}

/// How much is looked at to tell the shapes of one format apart.
const SNIFF_BYTES: u64 = 64 * 1024;

/// The first bytes, without a byte order mark, and the whole stream with them.
pub fn sniff(mut input: Input) -> Result<(Vec<u8>, Input), ImportError> {
    let mut start = Vec::new();
    input.by_ref().take(SNIFF_BYTES).read_to_end(&mut start).map_err(ImportError::Read)?;
    let shown = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start).to_vec();
    let whole: Box<dyn Read + Send> = Box::new(Cursor::new(start).chain(input));
    Ok((shown, BufReader::with_capacity(BUFFER_BYTES, whole)))
}

/// Counts what is taken from the compressed side.
struct Counted<R> {
    inner: R,
    n_bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_read = self.inner.read(buffer)?;
        self.n_bytes += u64::try_from(n_read).unwrap_or(u64::MAX);
        Ok(n_read)
    }
}

struct Expanded<R> {
    decoder: MultiGzDecoder<Counted<Chain<Cursor<Vec<u8>>, R>>>,
    n_bytes: u64,
}

impl<R: Read> Expanded<R> {
    fn new(packed: Chain<Cursor<Vec<u8>>, R>) -> Expanded<R> {
        Expanded { decoder: MultiGzDecoder::new(Counted { inner: packed, n_bytes: 0 }), n_bytes: 0 }
    }
}

impl<R: Read> Read for Expanded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_read = self.decoder.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                io::Error::new(error.kind(), "the gzip stream ends in the middle; the file is truncated")
            }
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                io::Error::new(error.kind(), "the gzip stream is damaged")
            }
            _ => error,
        })?;
        self.n_bytes += u64::try_from(n_read).unwrap_or(u64::MAX);
        let packed = self.decoder.get_ref().n_bytes;
        if self.n_bytes > EXPANSION_FREE_BYTES && self.n_bytes / EXPANSION_MAX > packed {
            let reason = format!("the gzip stream expands to more than {EXPANSION_MAX} times its size");
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        Ok(n_read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write as _;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        open(Cursor::new(bytes)).unwrap().read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn plain_and_packed_bytes_read_alike() {
        assert_eq!(read(b"abc".to_vec()).unwrap(), b"abc");
        assert_eq!(read(packed(b"abc")).unwrap(), b"abc");
        assert_eq!(read(b"a".to_vec()).unwrap(), b"a");
    }

    #[test]
    fn parts_that_were_packed_apart_are_one_stream() {
        assert_eq!(read([packed(b"abc"), packed(b"def")].concat()).unwrap(), b"abcdef");
    }

    #[test]
    fn a_truncated_stream_says_so() {
        let mut bytes = packed(&b"0123456789".repeat(1_000));
        bytes.truncate(bytes.len() / 2);
        assert!(read(bytes).unwrap_err().to_string().contains("truncated"));
    }

    #[test]
    fn what_is_not_in_utf_8_says_so() {
        let utf_16: Vec<u8> = "\u{feff}id".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = "\u{feff}id".encode_utf16().flat_map(u16::to_be_bytes).collect();
        let unmarked: Vec<u8> = "<a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for bytes in [utf_16.clone(), big, unmarked, packed(&utf_16)] {
            assert!(matches!(open(Cursor::new(bytes)), Err(ImportError::Utf16)));
        }
        assert_eq!(read("\u{feff}id".as_bytes().to_vec()).unwrap(), "\u{feff}id".as_bytes());
    }

    #[test]
    fn nothing_is_an_error() {
        assert!(matches!(open(io::empty()), Err(ImportError::Empty)));
    }
}
