//! The evidence: records through the door, and what is asked of them.

mod abroad;
mod contraindications;
mod derived_files;
mod exports;
mod gravest;
pub mod herbs;
mod identities;
mod literature;
mod members;
mod namesakes;
mod networks;
mod paths;
mod records;
mod refusals;
mod resources;
mod retractions;
mod said_openly;
mod same_things;
mod search;
mod seed_hashes;
pub mod starter_data;
