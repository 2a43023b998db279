//! Where a document stands: its path below the root of files, and its `mcp://` URI. Only names that the server makes
//! itself are addresses; everything else is refused before anything is looked up.

use crate::catalogue::DocumentType;

/// Where every document's URI begins.
pub const ARTIFACTS_URI: &str = "mcp://resources/artifacts/";
const PROJECTS: &str = "projects";
const ADDRESS_CHARS_MAX: usize = 400;

/// Folder and file of a document in its project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// `None` is the default project.
    pub project_id: Option<String>,
    pub folder: String,
    pub file_name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Somebody tries to leave the root. The words of seed 001.
    #[error("Resource name contains path traversal")]
    Traversal,
    #[error("expected an address such as `{ARTIFACTS_URI}prds/PRD-006_v1.md`")]
    Form,
}

impl Address {
    pub fn of(kind: &DocumentType, project_id: &str, default_project_id: &str, key: &str, version: u32) -> Address {
        Address {
            project_id: (project_id != default_project_id).then(|| project_id.to_owned()),
            folder: kind.folder.clone(),
            file_name: file_name(kind, key, version),
        }
    }

    /// Below the root of a project's files: `prds/PRD-006_v1.md`, `projects/demo/prds/PRD-006_v1.md`.
    fn below(&self) -> String {
        match &self.project_id {
            Some(project_id) => format!("{PROJECTS}/{project_id}/{}/{}", self.folder, self.file_name),
            None => format!("{}/{}", self.folder, self.file_name),
        }
    }

    /// As results show it: `artifacts/prds/PRD-006_v1.md`.
    pub fn path(&self) -> String {
        format!("artifacts/{}", self.below())
    }

    pub fn uri(&self) -> String {
        format!("{ARTIFACTS_URI}{}", self.below())
    }

    /// The folders from the root of files down, without the file.
    pub fn folders(&self) -> Vec<&str> {
        let project = self.project_id.as_deref().map(|project_id| [PROJECTS, project_id]);
        project.into_iter().flatten().chain([self.folder.as_str()]).collect()
    }

    pub fn parse_uri(uri: &str) -> Result<Address, AddressError> {
        match uri.strip_prefix(ARTIFACTS_URI) {
            Some(rest) => Address::parse(rest),
            None if is_traversal(uri.trim_start_matches("mcp://")) => Err(AddressError::Traversal),
            None => Err(AddressError::Form),
        }
    }

    fn parse(text: &str) -> Result<Address, AddressError> {
        if is_traversal(text) {
            return Err(AddressError::Traversal);
        }
        let parts: Vec<&str> = text.split('/').collect();
        let (project_id, folder, file_name) = match parts.as_slice() {
            [folder, file] => (None, *folder, *file),
            [PROJECTS, project, folder, file] => (Some(*project), *folder, *file),
            _ => return Err(AddressError::Form),
        };
        let is_plain = |text: &str| {
            text.starts_with(|c: char| c.is_ascii_alphanumeric())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        };
        let is_address = text.len() <= ADDRESS_CHARS_MAX
            && file_name.ends_with(".md")
            && [project_id.unwrap_or("p"), folder, file_name].into_iter().all(is_plain);
        if !is_address {
            return Err(AddressError::Form);
        }
        Ok(Address {
            project_id: project_id.map(str::to_owned),
            folder: folder.to_owned(),
            file_name: file_name.to_owned(),
        })
    }
}

/// `PRD-006_v1.md`; documents without an id carry their version from the second on.
pub fn file_name(kind: &DocumentType, key: &str, version: u32) -> String {
    match (&kind.prefix, version) {
        (None, 1) => format!("{key}.md"),
        (_, version) => format!("{key}_v{version}.md"),
    }
}

/// `PRD-006_v1_metadata.json` beside `PRD-006_v1.md`.
pub fn sidecar_name(file_name: &str) -> String {
    format!("{}_metadata.json", file_name.strip_suffix(".md").unwrap_or(file_name))
}

/// What no honest name holds: a way up, an absolute path, an escape, a drive, a control character.
pub fn is_traversal(text: &str) -> bool {
    let has_drive = text.as_bytes().get(1) == Some(&b':');
    text.contains("..") || text.starts_with('/') || has_drive || text.contains(['\\', '%', '\0']) || text.contains("//")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;

    #[test]
    fn an_address_is_a_path_and_a_uri_and_comes_back_from_it() {
        let catalogue = Catalogue::built_in().unwrap();
        let check = |kind: &str, project: &str, key: &str, version: u32, path: &str| {
            let address = Address::of(catalogue.find_type(kind).unwrap(), project, "default", key, version);
            assert_eq!(address.path(), path);
            assert_eq!(Address::parse_uri(&address.uri()), Ok(address.clone()));
            assert_eq!(address.uri(), format!("mcp://resources/{path}"));
        };
        check("prd", "default", "PRD-006", 3, "artifacts/prds/PRD-006_v3.md");
        check("epic", "demo", "EPIC-006", 1, "artifacts/projects/demo/epics/EPIC-006_v1.md");
        check("business_research", "default", "A_business_research", 1, "artifacts/research/A_business_research.md");
        check("business_research", "default", "A_business_research", 2, "artifacts/research/A_business_research_v2.md");
        assert_eq!(sidecar_name("PRD-006_v1.md"), "PRD-006_v1_metadata.json");
    }

    #[test]
    fn ways_out_are_called_what_they_are() {
        for name in [
            "../../etc/passwd",
            "prds/../../etc/passwd",
            "/etc/passwd",
            "..%2f..%2fetc/passwd",
            "%252e%252e/x.md",
            "prds\\..\\x.md",
            "C:\\x.md",
            "prds/PRD-006_v1.md\0",
            "prds//PRD-006_v1.md",
        ] {
            assert_eq!(Address::parse_uri(&format!("{ARTIFACTS_URI}{name}")), Err(AddressError::Traversal), "{name}");
        }
        let long = "a".repeat(5_000);
        for name in
            ["", "prds", "prds/PRD-006_v1", "a/b/c/d/e.md", ".git/config.md", "-x/y.md", "prds/\u{202e}.md", &long]
        {
            assert_eq!(Address::parse_uri(&format!("{ARTIFACTS_URI}{name}")), Err(AddressError::Form), "{name}");
        }
        assert_eq!(Address::parse_uri("mcp://resources/artifacts-evil/x.md"), Err(AddressError::Form));
        assert_eq!(Address::parse_uri("file:///etc/passwd"), Err(AddressError::Traversal));
    }
}
