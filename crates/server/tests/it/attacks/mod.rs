//! Attacks and accidents: each gets the answer that was agreed on, and the server goes on.
//!
//! Every exchange in here is checked for what holds of all of them: an answer within five seconds, and no stack trace,
//! path or SQL in it.

mod answers;
mod extras;
mod flood;
mod framing;
mod guesses;
mod injection;
pub mod lab;
mod lines;
mod logs;
mod messages;
mod mishaps;
mod origins;
mod outages;
mod paths;
mod postgres;
mod races;
mod record;
mod routing;
mod sizes;
mod slow;
mod states;
mod strangers;
mod streams;
mod target;
mod trials;
mod wire;
