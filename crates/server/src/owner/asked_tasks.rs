//! Takes back the tasks of approvals that were stopped, where another server keeps the tasks.

use std::time::Duration;

use ops::Platform;

const LOOK_EVERY: Duration = Duration::from_secs(30);
/// A call that was stopped at its deadline may still be on its way to the service.
const MARGIN: Duration = Duration::from_secs(5);

/// What is left from before the start is nobody's any more, unless another house shares the database. To be called before
/// the first call is taken: what that asks for is its own.
pub fn keep(platform: Platform, is_shared: bool, call_deadline: Duration) -> impl Future<Output = ()> + Send {
    let age = call_deadline.saturating_add(MARGIN);
    let until_us = platform.asked_until_us(if is_shared { age } else { Duration::ZERO });
    async move {
        platform.take_back_tasks(until_us).await;
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            platform.take_back_tasks(platform.asked_until_us(age)).await;
        }
    }
}
