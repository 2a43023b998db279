//! Work that goes on when nobody waits for it any more.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// Runs where it is awaited, without the cost of a task of its own. Dropped before its end it goes on in a task.
pub struct Outlasting<T: Send + 'static> {
    work: Option<BoxFuture<'static, T>>,
    left: Left,
}

/// What becomes of work that nobody waits for.
#[derive(Debug, Clone)]
pub enum Left {
    /// It is told so, and ends by itself.
    Told(CancellationToken),
    /// It is ended after a while.
    For(Duration),
}

impl<T: Send + 'static> Outlasting<T> {
    pub fn new(work: impl Future<Output = T> + Send + 'static, left: Left) -> Outlasting<T> {
        Outlasting { work: Some(Box::pin(work)), left }
    }
}

impl<T: Send + 'static> Future for Outlasting<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Some(work) = &mut self.work else { return Poll::Pending };
        let polled = work.as_mut().poll(context);
        if polled.is_ready() {
            self.work = None;
        }
        polled
    }
}

impl<T: Send + 'static> Drop for Outlasting<T> {
    fn drop(&mut self) {
        let Some(work) = self.work.take() else { return };
        // Without a runtime the process is ending, and nothing goes on.
        let runtime = Handle::try_current().ok();
        match &self.left {
            Left::Told(gone) => {
                gone.cancel();
                runtime.map(|runtime| runtime.spawn(async move { drop(work.await) }));
            }
            Left::For(moment) => {
                let moment = *moment;
                runtime.map(|runtime| runtime.spawn(async move { drop(tokio::time::timeout(moment, work).await) }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Begins work of four steps, lets go of it, and tells how many were done a while later.
    async fn steps_done(left: Left, step: Duration, wait: Duration) -> u32 {
        let n_done = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&n_done);
        let work = async move {
            for _ in 0..4 {
                tokio::time::sleep(step).await;
                counter.fetch_add(1, Ordering::SeqCst);
            }
        };
        let mut work = Box::pin(Outlasting::new(work, left));
        assert!(futures::poll!(&mut work).is_pending());
        drop(work);
        tokio::time::sleep(wait).await;
        n_done.load(Ordering::SeqCst)
    }

    #[tokio::test]
    async fn work_that_nobody_waits_for_is_told_and_goes_on() {
        let gone = CancellationToken::new();
        let step = Duration::from_millis(1);
        assert_eq!(steps_done(Left::Told(gone.clone()), step, Duration::from_millis(500)).await, 4);
        assert!(gone.is_cancelled());
    }

    #[tokio::test]
    async fn work_that_may_go_on_for_a_moment_does_and_no_longer() {
        let moment = Duration::from_millis(250);
        assert_eq!(steps_done(Left::For(moment), Duration::from_millis(1), moment * 4).await, 4);
        assert_eq!(steps_done(Left::For(moment), moment * 2 / 3, moment * 4).await, 1);
    }

    #[tokio::test]
    async fn work_that_ended_is_not_cancelled() {
        let gone = CancellationToken::new();
        assert_eq!(Outlasting::new(async { 7 }, Left::Told(gone.clone())).await, 7);
        assert!(!gone.is_cancelled());
    }
}
