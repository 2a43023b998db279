//! Operations over the evidence (seed 002).

mod put_records;
mod read_records;
