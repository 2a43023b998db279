//! Operations over the evidence (seed 002).

mod embed_records;
mod hybrid_search;
mod put_records;
mod read_records;
