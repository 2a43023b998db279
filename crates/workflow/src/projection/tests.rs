//! Files on a real disk.

use super::*;
use std::fs;
use std::os::unix::fs::symlink;

fn row() -> ArtifactRow {
    ArtifactRow {
        organisation_id: "here".into(),
        project_id: "default".into(),
        key: "PRD-006".into(),
        version: 1,
        artifact_type: "prd".into(),
        has_id: true,
        folder: "prds".into(),
        file_name: "PRD-006_v1.md".into(),
        title: "MCP Server Integration".into(),
        status: "Draft".into(),
        parent_id: Some("EPIC-006".into()),
        content_sha256: "0".repeat(64),
        size_bytes: 5,
        n_revisions: 1,
        created_by: "author".into(),
        created_at_us: 0,
        updated_at_us: 0,
        approved: None,
    }
}

fn address() -> Address {
    Address { project_id: None, folder: "prds".into(), file_name: "PRD-006_v1.md".into() }
}

fn root(folder: &tempfile::TempDir) -> Root {
    Root::new(folder.path().join("artifacts"), "here".into())
}

#[test]
fn a_document_and_its_sidecar_are_written_and_nothing_else_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let root = root(&folder);
    assert_eq!(root.compare(&row(), &address(), "hello", &[]).unwrap(), Found::Missing);
    root.write(&row(), &address(), "hello", &[]).unwrap();
    root.write(&row(), &address(), "hello", &[]).unwrap();
    assert_eq!(root.compare(&row(), &address(), "hello", &[]).unwrap(), Found::Same);
    assert_eq!(fs::read_to_string(root.base().join("prds/PRD-006_v1.md")).unwrap(), "hello");
    let sidecar: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(root.base().join("prds/PRD-006_v1_metadata.json")).unwrap()).unwrap();
    let expected = serde_json::json!({
        "artifact_id": "PRD-006", "artifact_type": "prd", "version": 1, "status": "Draft", "parent_id": "EPIC-006",
        "title": "MCP Server Integration", "file_path": "artifacts/prds/PRD-006_v1.md", "size_bytes": 5,
        "content_sha256": "0".repeat(64)
    });
    assert_eq!(sidecar, expected);
    assert_eq!(fs::read_dir(root.base().join("prds")).unwrap().count(), 2);
}

#[test]
fn a_new_document_is_written_only_where_nothing_stands() {
    let folder = tempfile::tempdir().unwrap();
    let root = root(&folder);
    assert!(root.write_new(&row(), &address(), "hello").unwrap());
    assert_eq!(root.compare(&row(), &address(), "hello", &[]).unwrap(), Found::Same);
    assert!(!root.write_new(&row(), &address(), "hullo").unwrap());
    assert_eq!(root.compare(&row(), &address(), "hello", &[]).unwrap(), Found::Same);
    let file = root.base().join("prds/PRD-006_v1.md");
    fs::remove_file(&file).unwrap();
    symlink(folder.path().join("nowhere"), &file).unwrap();
    assert!(!root.write_new(&row(), &address(), "hello").unwrap());
}

#[test]
fn other_organisations_and_projects_stand_apart() {
    let folder = tempfile::tempdir().unwrap();
    let root = root(&folder);
    let foreign = ArtifactRow { organisation_id: "elsewhere".into(), ..row() };
    let address = Address { project_id: Some("demo".into()), ..address() };
    root.write(&foreign, &address, "x", &[]).unwrap();
    assert!(root.base().join("organisations/elsewhere/projects/demo/prds/PRD-006_v1.md").is_file());
}

#[test]
fn nothing_is_written_through_a_linked_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (root, outside) = (root(&folder), folder.path().join("outside"));
    fs::create_dir_all(root.base()).unwrap();
    fs::create_dir(&outside).unwrap();
    symlink(&outside, root.base().join("prds")).unwrap();
    let written = root.write(&row(), &address(), "x", &[]).map(|_| ());
    for result in [root.check("here", &address()), written] {
        assert!(matches!(result, Err(ProjectionError::NotAFolder { .. })), "{result:?}");
    }
    assert!(root.is_planted("here", &address()));
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn nothing_is_written_outside_the_root_whatever_the_row_says() {
    let folder = tempfile::tempdir().unwrap();
    let root = root(&folder);
    root.write(&row(), &address(), "x", &[]).unwrap();
    let outside = folder.path().join("outside");
    let absolute = outside.display().to_string();
    for (project, name, file) in [
        (None, "../../outside", "a.md"),
        (None, absolute.as_str(), "a.md"),
        (None, "..", "a.md"),
        (None, "prds", "../../a.md"),
        (Some("../.."), "outside", "a.md"),
    ] {
        let project_id = project.map(str::to_owned);
        let address = Address { project_id, folder: name.into(), file_name: file.into() };
        assert!(matches!(root.write_new(&row(), &address, "x"), Err(ProjectionError::NotAFolder { .. })), "{name}");
        assert!(root.write(&row(), &address, "x", &[]).is_err() && root.compare(&row(), &address, "x", &[]).is_err());
    }
    let guest = ArtifactRow { organisation_id: "../../outside".into(), ..row() };
    assert!(root.write(&guest, &address(), "x", &[]).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn links_and_pipes_in_the_place_of_a_file_are_replaced_and_never_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (root, outside) = (root(&folder), folder.path().join("outside"));
    let place = root.base().join("prds");
    fs::create_dir_all(&place).unwrap();
    fs::write(&outside, "secret").unwrap();
    let file = place.join("PRD-006_v1.md");
    symlink(&outside, &file).unwrap();
    assert!(root.is_planted("here", &address()));
    assert_eq!(root.compare(&row(), &address(), "secret", &[]).unwrap(), Found::Changed);
    root.write(&row(), &address(), "hello", &[]).unwrap();
    fs::remove_file(&file).unwrap();
    fs::hard_link(&outside, &file).unwrap();
    assert!(root.is_planted("here", &address()));
    root.write(&row(), &address(), "hello", &[]).unwrap();
    fs::remove_file(&file).unwrap();
    rustix::fs::mknodat(CWD, &file, FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    assert_eq!(root.compare(&row(), &address(), "hello", &[]).unwrap(), Found::Changed);
    root.write(&row(), &address(), "hello", &[]).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "hello");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "secret");
    // The temporary name is no way in either.
    symlink(&outside, place.join(".PRD-006_v1.md.tmp")).unwrap();
    root.write(&row(), &address(), "again", &[]).unwrap();
    assert_eq!(fs::read_to_string(&outside).unwrap(), "secret");
    assert!(!root.is_planted("here", &address()));
}

#[test]
fn a_file_that_was_edited_by_hand_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let root = root(&folder);
    root.write(&row(), &address(), "hello", &[]).unwrap();
    fs::write(root.base().join("prds/PRD-006_v1.md"), "hullo").unwrap();
    assert_eq!(root.compare(&row(), &address(), "hello", &[]).unwrap(), Found::Changed);
}

#[test]
fn a_file_of_an_earlier_state_is_old_and_not_edited() {
    let folder = tempfile::tempdir().unwrap();
    let root = root(&folder);
    let hash = |text: &str| hex::encode(canonical::digest(text.as_bytes()));
    let draft = ArtifactRow { content_sha256: hash("draft"), ..row() };
    let approved = ArtifactRow { status: "Approved".into(), content_sha256: hash("approved"), n_revisions: 2, ..row() };
    root.write(&draft, &address(), "draft", &[]).unwrap();
    let compare = |earlier: &[ArtifactRow]| root.compare(&approved, &address(), "approved", earlier).unwrap();
    assert_eq!(compare(&[]), Found::Changed);
    assert_eq!(compare(std::slice::from_ref(&draft)), Found::Old);
    fs::remove_file(root.base().join("prds/PRD-006_v1.md")).unwrap();
    assert_eq!(compare(std::slice::from_ref(&draft)), Found::Old, "what is missing is written too");
    fs::write(root.base().join("prds/PRD-006_v1.md"), "mine").unwrap();
    assert_eq!(compare(std::slice::from_ref(&draft)), Found::Changed);
}

#[test]
fn what_is_staged_is_seen_only_once_it_is_put_and_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let root = root(&folder);
    assert!(root.stage(&row(), &address(), "hello").is_none(), "no folder is made before the commit");
    fs::create_dir_all(root.base().join("prds")).unwrap();
    let (staged, second) = (root.stage(&row(), &address(), "hello").unwrap(), root.stage(&row(), &address(), "hullo"));
    assert_eq!(root.compare(&row(), &address(), "hello", &[]).unwrap(), Found::Missing);
    assert_eq!(fs::read_dir(root.base().join("prds")).unwrap().count(), 0);
    assert!(staged.put());
    root.sync_folder("here", &address()).unwrap();
    assert_eq!(root.compare(&row(), &address(), "hello", &[]).unwrap(), Found::Same);
    assert!(!root.is_planted("here", &address()));
    assert!(!second.unwrap().put());
    assert_eq!(root.compare(&row(), &address(), "hello", &[]).unwrap(), Found::Same);
    assert_eq!(fs::read_dir(root.base().join("prds")).unwrap().count(), 2);
}

#[test]
fn nothing_is_staged_through_a_linked_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (root, outside) = (root(&folder), folder.path().join("outside"));
    fs::create_dir_all(root.base()).unwrap();
    fs::create_dir(&outside).unwrap();
    symlink(&outside, root.base().join("prds")).unwrap();
    assert!(root.stage(&row(), &address(), "x").is_none());
}
