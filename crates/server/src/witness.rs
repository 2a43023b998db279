//! A witness: a small server of its own that cosigns the checkpoints of logs it knows, and only those that continue what
//! it cosigned before (C2SP tlog-witness). It belongs on another machine, under another hand, than the logs.

mod folder;
mod service;

pub use folder::{Folder, FolderError, read_or_make_key, trust};
pub use service::{WitnessService, routes};
