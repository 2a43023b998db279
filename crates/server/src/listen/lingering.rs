//! A request whose client hung up goes on for a moment: long enough to reach the door, which records it, and short enough
//! that nothing is worked out that nobody reads.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::runtime::Handle;

const LINGERS_FOR: Duration = Duration::from_millis(250);

/// Dropped before its end, the work goes on in a task until it ends or its moment is over.
pub struct Lingering<T: Send + 'static> {
    work: Option<BoxFuture<'static, T>>,
}

impl<T: Send + 'static> Lingering<T> {
    pub fn new(work: impl Future<Output = T> + Send + 'static) -> Lingering<T> {
        Lingering { work: Some(Box::pin(work)) }
    }
}

impl<T: Send + 'static> Future for Lingering<T> {
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

impl<T: Send + 'static> Drop for Lingering<T> {
    fn drop(&mut self) {
        let Some(work) = self.work.take() else { return };
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { drop(tokio::time::timeout(LINGERS_FOR, work).await) });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Begins work of so many steps, lets go of it, and tells how many were done a while later.
    async fn steps_done(step: Duration) -> u32 {
        let n_done = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&n_done);
        let mut work = Box::pin(Lingering::new(async move {
            for _ in 0..4 {
                tokio::time::sleep(step).await;
                counter.fetch_add(1, Ordering::SeqCst);
            }
        }));
        assert!(futures::poll!(&mut work).is_pending());
        drop(work);
        tokio::time::sleep(LINGERS_FOR * 4).await;
        n_done.load(Ordering::SeqCst)
    }

    #[tokio::test]
    async fn what_was_let_go_of_goes_on_for_a_moment_and_no_longer() {
        assert_eq!(steps_done(Duration::from_millis(1)).await, 4);
        assert_eq!(steps_done(LINGERS_FOR * 2 / 3).await, 1);
    }
}
