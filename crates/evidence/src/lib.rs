//! Evidence: the record of sources, nodes, edges and documents, the graph and the search over it, and importers.
//! Knows no protocol and none of the other domains.

pub mod search;
