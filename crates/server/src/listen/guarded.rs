//! A connection that cannot be held for ever by a client that does not read, and whose requests have one length.
//!
//! Where it ends in the middle of a body, what still comes is thrown away for a while: to close on unread bytes resets the
//! connection, and a client that sends all before it reads would never learn why it was refused.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

use super::head::HeadWatch;

/// How much of a body that nobody wants is thrown away, and for how long.
const UNWANTED_BYTES_MAX: usize = 16 * 1024 * 1024;
const UNWANTED_FOR: Duration = Duration::from_secs(2);
const PIECE_BYTES: usize = 16 * 1024;

pub struct Guarded {
    stream: TcpStream,
    watch: HeadWatch,
    /// Once everything is said.
    ending: Option<Ending>,
    write_timeout: Duration,
    /// Runs while the peer takes nothing.
    waiting: Option<Pin<Box<Sleep>>>,
}

/// What may still come before the connection is closed.
struct Ending {
    n_bytes_left: usize,
    until: Pin<Box<Sleep>>,
}

impl Guarded {
    pub fn new(stream: TcpStream, write_timeout: Duration) -> Guarded {
        Guarded { stream, watch: HeadWatch::default(), ending: None, write_timeout, waiting: None }
    }

    /// Passes a write on, and ends the connection when the peer has taken nothing for too long.
    fn timed<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.waiting = None;
            return polled;
        }
        let until = self.write_timeout;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + until)));
        match waiting.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Throws away what is left of a body, within the limits.
    fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let ending = self.ending.get_or_insert_with(|| Ending {
            n_bytes_left: UNWANTED_BYTES_MAX,
            until: Box::pin(tokio::time::sleep(UNWANTED_FOR)),
        });
        let mut piece = [0; PIECE_BYTES];
        while self.watch.is_in_body() && ending.n_bytes_left > 0 {
            if ending.until.as_mut().poll(cx).is_ready() {
                break;
            }
            let mut buffer = ReadBuf::new(&mut piece);
            match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    ending.n_bytes_left = ending.n_bytes_left.saturating_sub(buffer.filled().len());
                    self.watch.inspect(buffer.filled_mut());
                }
                Poll::Ready(Ok(()) | Err(_)) => break,
            }
        }
        Poll::Ready(())
    }
}

impl AsyncRead for Guarded {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let n_before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if let Some(read) = buffer.filled_mut().get_mut(n_before..) {
            self.watch.inspect(read);
        }
        polled
    }
}

impl AsyncWrite for Guarded {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.timed(cx, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.timed(cx, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(cx);
        self.timed(cx, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The peer reads the end of the answer at once; only this side waits.
        if self.ending.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
        }
        if self.watch.is_in_body() { self.poll_discard(cx).map(Ok) } else { Poll::Ready(Ok(())) }
    }
}
