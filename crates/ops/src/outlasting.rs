//! Work that goes on when nobody waits for it any more.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// Runs where it is awaited, without the cost of a task of its own. Dropped before its end it tells the work, which then
/// goes on in a task.
pub(crate) struct Outlasting<T: Send + 'static> {
    work: Option<BoxFuture<'static, T>>,
    gone: CancellationToken,
}

impl<T: Send + 'static> Outlasting<T> {
    /// `gone` is cancelled when nobody waits any more.
    pub fn new(work: impl Future<Output = T> + Send + 'static, gone: CancellationToken) -> Outlasting<T> {
        Outlasting { work: Some(Box::pin(work)), gone }
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
        self.gone.cancel();
        // Without a runtime the process is ending, and nothing goes on.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[tokio::test]
    async fn work_that_nobody_waits_for_is_told_and_goes_on() {
        let (gone, told) = (CancellationToken::new(), Arc::new(Mutex::new(Vec::new())));
        let (heard, words) = (gone.clone(), Arc::clone(&told));
        let mut work = Box::pin(Outlasting::new(
            async move {
                words.lock().unwrap().push("begun");
                heard.cancelled().await;
                words.lock().unwrap().push("went on");
            },
            gone,
        ));
        assert!(futures::poll!(&mut work).is_pending());
        drop(work);
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(*told.lock().unwrap(), ["begun", "went on"]);
    }

    #[tokio::test]
    async fn work_that_ended_is_not_cancelled() {
        let gone = CancellationToken::new();
        assert_eq!(Outlasting::new(async { 7 }, gone.clone()).await, 7);
        assert!(!gone.is_cancelled());
    }
}
