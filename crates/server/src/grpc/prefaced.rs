//! A connection that says soon that it speaks HTTP/2. Only from then on does the library ask whether its peer is there.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;
use tonic::transport::server::Connected;

use crate::listen::Place;

/// Of what every client begins with (RFC 9113 § 3.4).
const PREFACE_BYTES: usize = 24;

pub struct Prefaced {
    stream: TcpStream,
    _place: Place,
    /// Runs until the beginning is there.
    waiting: Option<Pin<Box<Sleep>>>,
    n_bytes_read: usize,
}

impl Prefaced {
    pub fn new(stream: TcpStream, place: Place, preface_within: Duration) -> Prefaced {
        let waiting = Some(Box::pin(tokio::time::sleep(preface_within)));
        Prefaced { stream, _place: place, waiting, n_bytes_read: 0 }
    }
}

impl Connected for Prefaced {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Prefaced {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let n_before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if let Some(waiting) = &mut self.waiting {
            let is_late = polled.is_pending() && waiting.as_mut().poll(cx).is_ready();
            self.n_bytes_read += buffer.filled().len() - n_before;
            if self.n_bytes_read >= PREFACE_BYTES {
                self.waiting = None;
            } else if is_late {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        polled
    }
}

impl AsyncWrite for Prefaced {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
