//! What documents say of themselves, in the many ways in which people write it.

use super::*;

fn text(head: &str) -> String {
    format!("{head}\n\n## Body\n\n{}\n", "words ".repeat(20))
}

fn read(head: &str) -> Result<Extracted, MetadataError> {
    extract(&Catalogue::built_in().unwrap(), &text(head), None)
}

#[test]
fn the_example_of_the_seed_is_read() {
    let found = read(
        "# Epic\n\n## Metadata\n\n- **Story ID:** EPIC-006\n- **Title:** \"MCP Server Integration\"\n\
         - **Status:** \"Draft\"\n- **Parent PRD:** PRD-006",
    );
    let expected = Extracted {
        key: "EPIC-006".into(),
        has_id: true,
        artifact_type: "epic".into(),
        version: 1,
        status: "Draft".into(),
        parent_id: Some("PRD-006".into()),
        title: "MCP Server Integration".into(),
    };
    assert_eq!(found, Ok(expected));
}

#[test]
fn every_label_of_every_type_is_read() {
    let catalogue = Catalogue::built_in().unwrap();
    for kind in catalogue.types() {
        let Some(prefix) = &kind.prefix else { continue };
        for label in &kind.id_labels {
            let parent = kind.parent_labels.first().map_or(String::new(), |it| format!("**{it}:** EPIC-001\n"));
            let found = read(&format!(
                "# A document\n\n## Metadata\n**{label}:** {prefix}-042\n{parent}**Status:** {}",
                kind.first_status()
            ))
            .unwrap();
            assert_eq!((found.key, found.artifact_type), (format!("{prefix}-042"), kind.name.clone()), "{label}");
            assert_eq!(found.parent_id.is_some(), !parent.is_empty(), "{label}");
        }
    }
}

#[test]
fn a_second_metadata_section_may_not_contradict_the_first() {
    let first = "# PRD-006: Some title\n\n## Metadata\n- **PRD ID:** PRD-006\n- **Status:** Draft\n";
    for (second, expected) in [
        ("- **Status:** Approved", "Status"),
        ("- **Status:** Draft", "Status"),
        ("- **PRD ID:** PRD-007", "artifact_id"),
    ] {
        for heading in ["## Metadata", "## 9. Metadata (old)"] {
            let found = read(&format!("{first}\n## Scope\nwords\n\n{heading}\n{second}")).unwrap_err();
            let is_expected = matches!(&found, MetadataError::Contradiction { field, .. } if *field == expected);
            assert!(is_expected, "{heading} {second}: {found:?}");
        }
    }
    let versions = format!("{first}- **Version:** 2\n\n## Metadata\n- **Version:** 3");
    assert!(matches!(read(&versions), Err(MetadataError::Contradiction { field: "Version", .. })));
    // What is called so within another section speaks of other things.
    read(&format!("{first}\n## Data Models\n\n### Metadata\n- **Status:** a word\n- **Owner:** a person")).unwrap();
}

#[test]
fn a_label_is_what_its_reader_sees() {
    let first = "# PRD-006: Some title\n\n## Metadata\n- **PRD ID:** PRD-006\n- **Status:** Draft\n";
    for (line, expected) in [
        ("- **Stat\u{200b}us:** Approved", "Status"),
        ("- St\u{430}tus\u{fe0f}: Approved", "Status"),
        ("- **\u{420}RD ID:** PRD-007", "artifact_id"),
    ] {
        let found = read(&format!("{first}{line}")).unwrap_err();
        assert!(
            matches!(&found, MetadataError::Contradiction { field, .. } if *field == expected),
            "{line}: {found:?}"
        );
    }
    let found = read(&format!("{first}- **\u{420}arent Epic:** EPIC-006")).unwrap();
    assert_eq!(found.parent_id.as_deref(), Some("EPIC-006"));
    read(&format!("{first}- **สถานะ:** Approved\n- **Статус:** Approved")).unwrap();
}

fn check_version_and_status(lines: &str, version: u32, status: &str) {
    let found = read(&format!("# Some title\n## Metadata\n- **PRD ID:** PRD-006\n{lines}")).unwrap();
    assert_eq!((found.version, found.status.as_str()), (version, status), "{lines}");
}

#[test]
fn versions_and_statuses_come_with_and_without_suffixes() {
    check_version_and_status("- **Status:** Draft", 1, "Draft");
    check_version_and_status("- **Status:** Draft (v3)", 3, "Draft");
    check_version_and_status("- **Status:** *in review* – since Monday", 1, "In Review");
    check_version_and_status("- **Version:** 2.0\n- **Status:** DRAFT (v3)", 2, "Draft");
    check_version_and_status("- **Version:** v12\n- **Status**: `Draft`", 12, "Draft");
    check_version_and_status("* **Status:** Draft ✏️\n* **Version:** N/A", 1, "Draft");
}

#[test]
fn titles_come_from_the_field_or_the_first_heading() {
    for (heading, title) in [
        ("PRD-006: A title", "A title"),
        ("PRD-006 – A title", "A title"),
        ("Product Requirements Document: A title", "A title"),
        ("PRD: A title", "A title"),
        ("Product Requirements Document PRD-006: A title", "A title"),
        ("PRDs for everybody", "PRDs for everybody"),
        ("A\u{202e} title\u{200b}", "A title"),
    ] {
        let found = read(&format!("# {heading}\n## Metadata\n- **PRD ID:** PRD-006\n- **Status:** Draft")).unwrap();
        assert_eq!(found.title, title, "{heading}");
    }
}

#[test]
fn the_id_of_a_decision_record_stands_in_its_heading() {
    let found = read("# ADR-004: Use one writer\n## Metadata\n- **Status:** Proposed").unwrap();
    assert_eq!((found.key.as_str(), found.title.as_str()), ("ADR-004", "Use one writer"));
}

#[test]
fn a_title_that_makes_no_file_name_is_told_why() {
    for (product, why) in [("สมุนไพร", "no letters from a to z"), (&"x".repeat(300), "more than 120 characters")]
    {
        let error = read(&format!("# Business Research: {product}\n\n**Status:** Draft")).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    let error = read("# งานวิจัยธุรกิจสมุนไพร\n\n**Status:** Draft").unwrap_err();
    assert!(matches!(error, MetadataError::Wrong { field: "file_name", .. }), "{error:?}");
    assert!(error.to_string().contains("none can be made from this title"), "{error}");
}

#[test]
fn research_is_known_by_its_file_name() {
    let found = read("# AI Agent MCP Server – Business Research\n## Metadata\n- **Author:** x").unwrap();
    assert_eq!(found.key, "AI_Agent_MCP_Server_business_research");
    assert_eq!((found.has_id, found.status.as_str()), (false, "Finalized"));
    let catalogue = Catalogue::built_in().unwrap();
    let named = |name| extract(&catalogue, &text("# Anything at all"), Some(name)).map(|it| it.key);
    assert_eq!(named("x_implementation_research.md"), Ok("x_implementation_research".to_owned()));
    for name in
        ["../x_business_research.md", "a/b_business_research", "..%2fx_business_research", "a\\b_business_research"]
    {
        assert!(matches!(named(name), Err(MetadataError::Traversal { .. })), "{name}");
    }
    let thai = named("สมุนไพร_business_research").unwrap_err().to_string();
    assert!(thai.contains("Latin letters (a to z, A to Z), digits, `_` and `-`"), "{thai}");
    for name in
        ["CON", ".git_business_research", "-x_business_research", "é_business_research", "_business_research", "x"]
    {
        assert!(matches!(named(name), Err(MetadataError::Wrong { field: "file_name", .. })), "{name}");
    }
}

fn check_refused(head: &str, field: &str) {
    match read(head) {
        Err(MetadataError::Missing { field: found, .. } | MetadataError::Wrong { field: found, .. }) => {
            assert_eq!(found, field, "{head}");
        }
        other => panic!("{head}: {other:?}"),
    }
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    check_refused("# A document without an id\n## Metadata\n- **Status:** Draft", "artifact_id");
    check_refused("# Title\n## Metadata\n- **PRD ID:** PRD-AAA\n- **Status:** Draft", "artifact_id");
    check_refused("# Title\n## Metadata\n- **PRD ID:** PRD-06\n- **Status:** Draft", "artifact_id");
    check_refused("# Title\n## Metadata\n- **PRD ID:** PRD-006", "Status");
    check_refused("# Title\n## Metadata\n- **PRD ID:** PRD-006\n- **Status:** Perfect", "Status");
    check_refused("# Title\n## Metadata\n- **PRD ID:** PRD-006\n- **Status:** Drafty", "Status");
    check_refused("# Title\n## Metadata\n- **PRD ID:** PRD-006\n- **Status:** Draft\n- **Version:** 1000", "Version");
    for version in ["0", "-3", "- 3", "v-3", "−3", "(3)", "+3", "**-3**"] {
        let head =
            format!("# Title\n## Metadata\n- **PRD ID:** PRD-006\n- **Status:** Draft\n- **Version:** {version}");
        check_refused(&head, "Version");
    }
    check_refused(
        "# Title\n## Metadata\n- **PRD ID:** PRD-006\n- **Status:** Draft\n- **Parent Epic:** EPIC-AAA",
        "parent_id",
    );
    check_refused("# Title\n## Metadata\n- **PRD ID:** PRD-006\n- **Status:** Draft\n- **Version:** 1.5", "Version");
    check_refused(
        "# Title\n## Metadata\n- **PRD ID:** PRD-006\n- **Status:** Draft\n- **Parent Epic:** not EPIC-001 but EPIC-002",
        "parent_id",
    );
    check_refused("# Title\n## Metadata\n- **PRD ID:** the PRD-038\n- **Status:** Draft", "artifact_id");
    check_refused("# Four\n## Metadata\n- **PRD ID:** PRD-006\n- **Status:** Draft", "title");
    let short = extract(&Catalogue::built_in().unwrap(), "# Title", None);
    assert!(matches!(short, Err(MetadataError::Wrong { field: "artifact_content", .. })));
}

#[test]
fn who_says_two_things_is_asked_which() {
    let base = "# Some title\n## Metadata\n- **PRD ID:** PRD-006\n- **Status:** Draft";
    for (head, field, lines) in [
        (format!("{base}\n- **Status:** In Review"), "Status", (4, 5)),
        (format!("{base}\n- **Story ID:** PRD-007"), "artifact_id", (3, 5)),
        (format!("{base}\n- **Version:** 1\n- **Version:** v2"), "Version", (5, 6)),
        (base.replace("# Some title", "# PRD-007: Some title"), "artifact_id", (3, 1)),
        (base.replace("# Some title", "# EPIC-006: Some title"), "artifact_id", (3, 1)),
        (base.replace("# Some title", "# Product Requirements Document PRD-007: Title"), "artifact_id", (3, 1)),
        (format!("{base}\n- **Parent Epic:** EPIC-001\n- **Parent Epic:** EPIC-002"), "parent_id", (5, 6)),
    ] {
        match read(&head) {
            Err(MetadataError::Contradiction { field: found, first, second }) => {
                assert_eq!((found, (first.0, second.0)), (field, lines), "{head}");
            }
            other => panic!("{head}: {other:?}"),
        }
    }
    let agreeing = base.replace("# Some title", "# PRD-006: After EPIC-003")
        + "\n- **Document ID:** `PRD-006` (final)\n\
        - **Version:** 2\n- **Version:** 2.0\n- **Parent Epic:** EPIC-001\n- **Parent Initiative:** INIT-001";
    let found = read(&agreeing).unwrap();
    assert_eq!((found.version, found.parent_id.as_deref()), (2, Some("EPIC-001")));
    let titled = base.replace("# Some title", "# What follows from EPIC-003");
    assert_eq!(read(&titled).unwrap().key, "PRD-006");
}

#[test]
fn a_status_line_names_one_status() {
    for status in
        ["Draft → Approved", "Draft/In Review", "Draft, then approved", "Draft Draft", "Draft | In Review (v2)"]
    {
        let head = format!("# Some title\n## Metadata\n- **PRD ID:** PRD-006\n- **Status:** {status}");
        match read(&head) {
            Err(MetadataError::Wrong { field: "Status", expected, .. }) => {
                assert_eq!(expected, "one of Draft, In Review, Approved, Withdrawn alone in line 4", "{status}");
            }
            other => panic!("{status}: {other:?}"),
        }
    }
    check_version_and_status("- **Status:** Draft (was Approved) [approved by none]", 1, "Draft");
    check_version_and_status("- **Status:** Draft, still undrafted", 1, "Draft");
}

#[test]
fn an_id_is_not_cut_out_of_a_path() {
    let base = "# Some title\n## Metadata\n- **PRD ID:** PRD-006\n- **Status:** Draft\n- **Parent Epic:** EPIC-001";
    for (from, to, field) in [
        ("** PRD-006", "** ../../etc/PRD-038", "artifact_id"),
        ("** PRD-006", "** PRD-592/../../x", "artifact_id"),
        ("** PRD-006", "** `PRD-592/..`", "artifact_id"),
        ("** PRD-006", "** PRD-592\\x", "artifact_id"),
        ("** PRD-006", "** PRD-592%2f..%2fx", "artifact_id"),
        ("** EPIC-001", "** EPIC-592/../../x", "parent_id"),
        ("# Some title", "# PRD-006/../../x: Some title", "artifact_id"),
    ] {
        match read(&base.replace(from, to)) {
            Err(MetadataError::Traversal { field: found, .. }) => assert_eq!(found, field, "{to}"),
            other => panic!("{to}: {other:?}"),
        }
    }
    check_refused(&base.replace("** PRD-006", "** PRD-592/x"), "artifact_id");
    for to in
        ["** [EPIC-001](../epics/EPIC-001_v1.md)", "** EPIC-001/INIT-001", "** EPIC-001 (see ../epics)", "** EPIC-001."]
    {
        let found = read(&base.replace("** EPIC-001", to)).unwrap();
        assert_eq!(found.parent_id.as_deref(), Some("EPIC-001"), "{to}");
    }
}

#[test]
fn the_nearest_parent_is_preferred() {
    let found = read(
        "# HLS-001: Title\n## Metadata\n- **Parent Epic:** EPIC-001\n- **Parent PRD:** [PRD-006](x.md) (approved)\n\
         - **Status:** Draft",
    );
    assert_eq!(found.unwrap().parent_id.as_deref(), Some("PRD-006"));
    let none = read("# EPIC-001: Title\n## Metadata\n- **Parent Initiative:** None\n- **Status:** Draft").unwrap();
    assert_eq!(none.parent_id, None);
}

#[test]
fn a_parent_is_read_however_its_label_is_written() {
    for line in [
        "- __Parent Initiative:__ INIT-009",
        "- *Parent Initiative:* INIT-009",
        "- Parent Initiative: INIT-009",
        "1. **Parent Initiative:** INIT-009",
        "Parent Initiative: INIT-009",
    ] {
        let found = read(&format!("# EPIC-001: Title\n## Metadata\n{line}\n- Status: *Draft*")).unwrap();
        assert_eq!((found.parent_id.as_deref(), found.status.as_str()), (Some("INIT-009"), "Draft"), "{line}");
    }
}

#[test]
fn a_status_is_replaced_where_it_stands_and_nowhere_else() {
    let catalogue = Catalogue::built_in().unwrap();
    let kind = catalogue.find_type("prd").unwrap();
    let text = "# Draft\n## Metadata\n- **Draft note:** Draft\r\n- **Status:** draft (v3)\nDraft";
    let expected = "# Draft\n## Metadata\n- **Draft note:** Draft\r\n- **Status:** Approved (v3)\nDraft";
    assert_eq!(with_status(kind, text, "Approved"), expected);
}

#[test]
fn research_is_found_in_every_form_of_its_name() {
    let catalogue = Catalogue::built_in().unwrap();
    let head = "## Metadata\n- **Informed By Business Research:** [x](artifacts/research/AI_business_research.md).\n\
         - **Informed By Implementation Research:** N/A\n- **Informed By Spike:** SPIKE-001";
    let found = research(&catalogue, &Document::parse(head));
    let expected = Research { artifact_type: "business_research", key: Some("AI_business_research".into()), line: 2 };
    assert_eq!(found, [expected]);
}
