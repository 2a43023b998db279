//! Files that stand among the documents and are none.

use std::collections::HashSet;
use std::path::PathBuf;

use super::{ORGANISATIONS, Root};
use crate::address::{Address, sidecar_name};

/// Folders below one another that are looked into; our own are five deep.
const DEPTH_MAX: usize = 8;

impl Root {
    /// Where the files of a document stand, as seen from the root.
    pub fn places(&self, organisation_id: &str, address: &Address) -> [String; 2] {
        let is_guest = organisation_id != self.home_organisation_id;
        let organisation = is_guest.then_some([ORGANISATIONS, organisation_id]).into_iter().flatten();
        let folder = organisation.chain(address.folders()).collect::<Vec<_>>().join("/");
        let place = |name: &str| format!("{folder}/{name}");
        [place(&address.file_name), place(&sidecar_name(&address.file_name))]
    }

    /// What stands below the root and is not `known`, in order. Links are named and not followed.
    pub fn find_strays(&self, known: &HashSet<String>) -> Vec<String> {
        let mut strays = Vec::new();
        let mut folders: Vec<(PathBuf, String, usize)> = vec![(self.base.clone(), String::new(), 0)];
        while let Some((folder, place, depth)) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let place = if place.is_empty() { name.clone() } else { format!("{place}/{name}") };
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                // A file of ours on its way to its place.
                let is_on_its_way = name.starts_with('.') && name.ends_with(".tmp");
                if is_folder && depth < DEPTH_MAX {
                    folders.push((entry.path(), place, depth + 1));
                } else if !is_on_its_way && !known.contains(&place) {
                    strays.push(place);
                }
            }
        }
        strays.sort();
        strays
    }
}
