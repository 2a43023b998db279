//! A limit on how much a library may read for one thing: parsers that buffer whole tokens cannot be fed without end.

use std::io::{self, BufRead, Read};

/// Passes bytes on until the limit is reached, and fails from then on. [`Fence::renew`] starts the count again.
pub struct Fence<R> {
    inner: R,
    left: usize,
    bytes_max: usize,
    what: &'static str,
}

impl<R> Fence<R> {
    pub fn new(inner: R, bytes_max: usize, what: &'static str) -> Fence<R> {
        Fence { inner, left: bytes_max, bytes_max, what }
    }

    pub fn renew(&mut self) {
        self.left = self.bytes_max;
    }
}

impl<R: BufRead> BufRead for Fence<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left == 0 {
            let reason = format!("{} is longer than {} bytes", self.what, self.bytes_max);
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        let buffer = self.inner.fill_buf()?;
        Ok(buffer.get(..self.left).unwrap_or(buffer))
    }

    fn consume(&mut self, n_bytes: usize) {
        self.left = self.left.saturating_sub(n_bytes);
        self.inner.consume(n_bytes);
    }
}

impl<R: BufRead> Read for Fence<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_read = self.fill_buf()?.read(buffer)?;
        self.consume(n_read);
        Ok(n_read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_holds_until_it_is_renewed() {
        let mut fence = Fence::new(&b"abcdef"[..], 3, "a word");
        let mut buffer = [0; 10];
        assert_eq!(fence.read(&mut buffer).unwrap(), 3);
        assert_eq!(fence.read(&mut buffer).unwrap_err().to_string(), "a word is longer than 3 bytes");
        fence.renew();
        assert_eq!(fence.read(&mut buffer).unwrap(), 3);
        fence.renew();
        assert_eq!(fence.read(&mut buffer).unwrap(), 0);
    }
}
