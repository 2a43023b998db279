//! Boundary tests of the door: scripts in, answers and events out, the same on both engines.

mod contracts;
mod door;
mod ids;
mod script;
mod trials;
