//! What a connection of lines holds: calls that are not answered yet, and lines that are not written yet.
//!
//! Nothing further is read while that is too much, so a client that does not read its answers holds up itself alone. What
//! ends by something that the client sends (a subscription, a question to it) is set aside: reading on must not wait for
//! it. There is a limit on that too, beyond which it is refused.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ErrorCode, ErrorData, Extensions, RequestId};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Far more than clients send ahead of what they read, so that only one that never reads finds out. A call that is in work
/// has an answer of a size that nobody knows yet, which is why there are not more of them.
const HELD_MAX: usize = 256;
/// More than the longest line, of which one must fit, and several hundred answers of the ordinary size.
const HELD_BYTES_MAX: usize = 8 * 1024 * 1024;

#[derive(Debug, Clone, Copy, Default)]
struct Load {
    n: usize,
    n_bytes: usize,
}

impl Load {
    fn has_room(self) -> bool {
        self.n < HELD_MAX && self.n_bytes < HELD_BYTES_MAX
    }

    fn add(&mut self, n_bytes: usize) {
        self.n += 1;
        self.n_bytes += n_bytes;
    }

    fn take(&mut self, n_bytes: usize) {
        self.n = self.n.saturating_sub(1);
        self.n_bytes = self.n_bytes.saturating_sub(n_bytes);
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Stage {
    InWork,
    /// By its client: no answer follows.
    Cancelled,
    /// The answer is on its way to the writer.
    Done,
}

struct Running {
    /// Tells a call from an earlier one of the same id.
    number: u64,
    n_bytes: usize,
    stage: Stage,
    is_aside: bool,
}

#[derive(Default)]
struct Held {
    calls: HashMap<RequestId, Running>,
    n_calls: u64,
    /// Calls, and lines that are not written.
    owed: Load,
    aside: Load,
}

impl Held {
    fn end(&mut self, id: &RequestId) {
        let Some(call) = self.calls.remove(id) else { return };
        if call.is_aside { self.aside.take(call.n_bytes) } else { self.owed.take(call.n_bytes) }
    }
}

#[derive(Default)]
pub struct Backlog {
    held: Mutex<Held>,
    /// Something was written or ended. Only the reader waits for it, and once it has ended whoever takes messages.
    changed: Notify,
    /// Nothing more comes from the client.
    input_ended: CancellationToken,
}

/// Whether a call waits for its client from its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Call,
    Subscription,
}

/// Why a call gets no place.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unadmitted {
    #[error("Invalid Request: `id` is in use by a call that is not answered yet")]
    InUse,
    #[error("too many calls wait for something from you")]
    TooManyAside,
}

impl Backlog {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is room, and gives a call its place.
    pub async fn admit(self: &Arc<Self>, id: &RequestId, kind: Kind, n_bytes: usize) -> Result<Arc<Place>, Unadmitted> {
        let is_aside = kind == Kind::Subscription;
        loop {
            {
                let mut held = self.held();
                if held.calls.contains_key(id) {
                    return Err(Unadmitted::InUse);
                }
                if is_aside && !held.aside.has_room() {
                    return Err(Unadmitted::TooManyAside);
                }
                if held.owed.has_room() {
                    held.n_calls += 1;
                    if is_aside {
                        held.aside.add(n_bytes)
                    } else {
                        held.owed.add(n_bytes)
                    }
                    let number = held.n_calls;
                    held.calls.insert(id.clone(), Running { number, n_bytes, stage: Stage::InWork, is_aside });
                    return Ok(Arc::new(Place { backlog: Arc::clone(self), id: id.clone(), number }));
                }
            }
            self.changed.notified().await;
        }
    }

    /// Waits until every call is answered and every line written. For when nothing more can be read.
    pub async fn empty(&self) {
        loop {
            if self.held().calls.is_empty() && self.held().owed.n == 0 {
                return;
            }
            self.changed.notified().await;
        }
    }

    /// Nothing more can be read: whoever waits for it waits for nothing.
    pub fn end_input(&self) {
        self.input_ended.cancel();
    }

    /// The client does not want the answer any more.
    pub fn cancel(&self, id: &RequestId) {
        let mut held = self.held();
        let Some(found) = held.calls.get_mut(id) else { return };
        match found.stage {
            Stage::InWork => found.stage = Stage::Cancelled,
            Stage::Cancelled => {}
            Stage::Done => held.end(id),
        }
        drop(held);
        self.changed.notify_one();
    }

    /// A line for the writer; `answered` is the call that it answers.
    pub fn write(self: &Arc<Self>, answered: Option<&RequestId>) -> Unwritten {
        let mut held = self.held();
        if let Some(id) = answered {
            held.end(id);
        }
        held.owed.add(0);
        Unwritten { backlog: Arc::clone(self), n_bytes: 0 }
    }
}

/// A call's place, for as long as somebody works on it.
pub struct Place {
    backlog: Arc<Backlog>,
    id: RequestId,
    number: u64,
}

impl Place {
    /// The call, unless it has been answered.
    fn find<'held>(&self, held: &'held mut Held) -> Option<&'held mut Running> {
        held.calls.get_mut(&self.id).filter(|running| running.number == self.number)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = self.backlog.held();
        let Some(found) = self.find(&mut held) else { return };
        // The service answers neither what was cancelled nor what fell over.
        if found.stage == Stage::Cancelled || std::thread::panicking() {
            held.end(&self.id);
        } else {
            found.stage = Stage::Done;
        }
        drop(held);
        self.backlog.changed.notify_one();
    }
}

/// A line until it is written, or never will be.
pub struct Unwritten {
    backlog: Arc<Backlog>,
    n_bytes: usize,
}

impl Unwritten {
    pub fn weigh(&mut self, n_bytes: usize) {
        self.backlog.held().owed.n_bytes += n_bytes;
        self.n_bytes += n_bytes;
    }
}

impl Drop for Unwritten {
    fn drop(&mut self) {
        self.backlog.held().owed.take(self.n_bytes);
        self.backlog.changed.notify_one();
    }
}

/// A call that waits for its client.
pub struct Aside(Arc<Place>);

/// Sets a call aside while it waits for its client. Over HTTP there is nothing to set aside: no request holds up another.
pub fn set_aside(extensions: &Extensions) -> Result<Option<Aside>, ErrorData> {
    let Some(place) = extensions.get::<Arc<Place>>() else { return Ok(None) };
    let mut held = place.backlog.held();
    if !held.aside.has_room() {
        return Err(ErrorData::new(ErrorCode(-32000), Unadmitted::TooManyAside.to_string(), None));
    }
    let Some(call) = place.find(&mut held).filter(|call| !call.is_aside) else { return Ok(None) };
    call.is_aside = true;
    let n_bytes = call.n_bytes;
    held.owed.take(n_bytes);
    held.aside.add(n_bytes);
    drop(held);
    place.backlog.changed.notify_one();
    Ok(Some(Aside(Arc::clone(place))))
}

impl Drop for Aside {
    fn drop(&mut self) {
        let mut held = self.0.backlog.held();
        let Some(call) = self.0.find(&mut held) else { return };
        call.is_aside = false;
        let n_bytes = call.n_bytes;
        held.aside.take(n_bytes);
        held.owed.add(n_bytes);
    }
}

/// Waits until nothing more can come from the client. Over HTTP the request itself ends then.
pub fn input_ended(extensions: &Extensions) -> impl Future<Output = ()> + Send + use<> {
    let ended = extensions.get::<Arc<Place>>().map(|place| place.backlog.input_ended.clone());
    async move {
        match ended {
            Some(ended) => ended.cancelled_owned().await,
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;

    fn id(number: i64) -> RequestId {
        RequestId::Number(number)
    }

    /// The place, where there is one at once.
    fn admit(backlog: &Arc<Backlog>, number: i64, n_bytes: usize) -> Option<Arc<Place>> {
        backlog.admit(&id(number), Kind::Call, n_bytes).now_or_never()?.ok()
    }

    fn full() -> (Arc<Backlog>, Vec<Arc<Place>>) {
        let backlog = Arc::new(Backlog::default());
        let places = (0..256).map(|number| admit(&backlog, number, 0).unwrap()).collect();
        assert!(admit(&backlog, 256, 0).is_none());
        (backlog, places)
    }

    #[test]
    fn a_call_holds_its_place_until_its_answer_is_written() {
        let (backlog, mut places) = full();
        drop(places.pop());
        assert!(admit(&backlog, 256, 0).is_none(), "it is done and not written");
        let line = backlog.write(Some(&id(255)));
        assert!(admit(&backlog, 256, 0).is_none(), "it is not written");
        drop(line);
        assert!(admit(&backlog, 256, 0).is_some());
    }

    #[test]
    fn one_long_line_fits_and_nothing_beside_too_many_bytes() {
        let backlog = Arc::new(Backlog::default());
        let mut line = backlog.write(None);
        line.weigh(HELD_BYTES_MAX);
        assert!(admit(&backlog, 1, 1).is_none());
        drop(line);
        let _long = admit(&backlog, 1, HELD_BYTES_MAX).unwrap();
        assert!(admit(&backlog, 2, 1).is_none());
        drop(backlog.write(Some(&id(1))));
        assert!(admit(&backlog, 2, 1).is_some());
    }

    #[test]
    fn a_cancelled_call_leaves_when_nobody_works_on_it_any_more() {
        let (backlog, mut places) = full();
        backlog.cancel(&id(255));
        assert!(admit(&backlog, 256, 0).is_none());
        drop(places.pop());
        assert!(admit(&backlog, 256, 0).is_some());
        let (backlog, mut places) = full();
        drop(places.pop());
        backlog.cancel(&id(255));
        assert!(admit(&backlog, 256, 0).is_some());
    }

    #[test]
    fn an_id_is_in_use_until_it_is_answered() {
        let backlog = Arc::new(Backlog::default());
        let first = admit(&backlog, 5, 0).unwrap();
        assert!(admit(&backlog, 5, 0).is_none());
        drop(backlog.write(Some(&id(5))));
        let _second = admit(&backlog, 5, 0).unwrap();
        drop(first);
        backlog.cancel(&id(5));
        assert!(admit(&backlog, 5, 0).is_none(), "the end of the first is not that of the second");
    }

    #[test]
    fn what_waits_for_the_client_holds_up_nobody_until_there_is_too_much_of_it() {
        let (backlog, places) = full();
        let extensions = |place: &Arc<Place>| {
            let mut extensions = Extensions::new();
            extensions.insert(Arc::clone(place));
            extensions
        };
        let mut aside: Vec<_> = places.iter().map(|place| set_aside(&extensions(place)).unwrap()).collect();
        let next = admit(&backlog, 256, 0).unwrap();
        assert!(set_aside(&extensions(&next)).is_err());
        aside.clear();
        assert!(admit(&backlog, 257, 0).is_none());
        assert!(set_aside(&Extensions::new()).unwrap().is_none());
    }

    #[test]
    fn a_subscription_is_aside_from_its_beginning_and_leaves_as_it_ends() {
        let backlog = Arc::new(Backlog::default());
        let subscribe = |number| backlog.admit(&id(number), Kind::Subscription, 0).now_or_never().unwrap();
        let mut places: Vec<_> = (0..256).map(|number| subscribe(number).unwrap()).collect();
        assert_eq!(subscribe(256).err(), Some(Unadmitted::TooManyAside));
        let call = admit(&backlog, 256, 0).unwrap();
        let mut extensions = Extensions::new();
        extensions.insert(call);
        assert!(set_aside(&extensions).is_err());
        places.pop();
        drop(backlog.write(Some(&id(255))));
        let aside = set_aside(&extensions).unwrap().unwrap();
        assert_eq!(subscribe(255).err(), Some(Unadmitted::TooManyAside));
        drop(aside);
        subscribe(255).unwrap();
    }

    #[tokio::test]
    async fn the_end_of_the_input_is_heard_by_whoever_waits_for_it() {
        let backlog = Arc::new(Backlog::default());
        let mut extensions = Extensions::new();
        extensions.insert(admit(&backlog, 1, 0).unwrap());
        assert!(input_ended(&extensions).now_or_never().is_none());
        backlog.end_input();
        input_ended(&extensions).await;
        assert!(input_ended(&Extensions::new()).now_or_never().is_none());
    }
}
