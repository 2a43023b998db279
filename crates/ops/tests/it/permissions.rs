//! Who may call what: every role × operation × organisation, asked of the door and compared with the committed table.

use contract::actor::{Actor, Role};
use contract::id::OrganisationId;
use contract::scope::{HouseScope, Scope};
use ops::operations::OPERATIONS;
use ops::{Entry, Reply};
use serde_json::{Value, json};

use crate::script::{Stage, actor, on_sqlite};
use crate::tasks::batch;

/// Things of the organisation `here` that somebody elsewhere may try to name.
struct Things {
    reservation_id: String,
    key_id: String,
    task_id: String,
}

/// Document of our task, which nobody elsewhere may hear of.
const QUEUED: usize = 777;

async fn make_things(stage: &Stage) -> Things {
    let reserved = stage.call("owner", "reserve_id_range", json!({"artifact_type": "US", "count": 2})).await;
    let key = stage.call("owner", "create_key", json!({"actor_id": "robot", "roles": ["agent"]})).await;
    let queued = stage.call("owner", "queue_tasks", batch("default", QUEUED, 2)).await;
    let task_id = queued.result.unwrap().output["task_ids"][1].as_str().unwrap().to_owned();
    let stored = stage.call("owner", "store_artifact", json!({"artifact_content": testkit::documents::EPIC_006})).await;
    assert!(stored.result.is_ok());
    let text = |reply: Reply, member: &str| reply.result.unwrap().output[member].as_str().unwrap().to_owned();
    Things { reservation_id: text(reserved, "reservation_id"), key_id: text(key, "key_id"), task_id }
}

/// An input that names what the operation can name of somebody else's.
fn naming(operation: &str, things: &Things) -> Value {
    match operation {
        "confirm_reservation" => json!({"reservation_id": things.reservation_id}),
        "revoke_key" => json!({"key_id": things.key_id}),
        "create_key" => json!({"actor_id": "robot", "roles": ["agent"]}),
        "describe_operation" => json!({"name": "revoke_key"}),
        "validate_artifact" => json!({"artifact_content": "", "artifact_id": "EPIC-006"}),
        "store_artifact" => json!({"artifact_content": ""}),
        "approve_artifact" | "read_artifact" | "list_artifact_revisions" => json!({"artifact_id": "EPIC-006"}),
        "set_artifact_status" => json!({"artifact_id": "EPIC-006", "status": "Planned"}),
        "diff_artifact" => json!({"artifact_id": "EPIC-006", "from_version": 1}),
        "guide_generation" => json!({"generator": "prd-generator", "parent_id": "EPIC-006"}),
        "read_checklist" => json!({"checklist_id": "prd_validation_v1"}),
        "read_template" => json!({"artifact_type": "prd"}),
        "get_next_available_id" | "guide_numbering" => json!({"artifact_type": "US"}),
        "reserve_id_range" => json!({"artifact_type": "US", "count": 2}),
        "update_task_status" => json!({"task_id": things.task_id, "status": "in_progress"}),
        "queue_tasks" | "add_task" => batch("default", 1, 1),
        "list_tasks" => json!({"depends_on": "PRD-006"}),
        "put_records" => json!({"records": [{"record": "deletion", "kind": "node", "id": "H1"}]}),
        "query_kg" => json!({"start": {"type": "herb", "id": "H1"}}),
        "find_contraindications" => json!({"herb_ids": ["H1"]}),
        "kg_get_everything" => json!({"curie": "H1"}),
        "kg_network_neighborhood" => json!({"curies": ["H1", "H2"]}),
        "read_herb" => json!({"id": "H1"}),
        "read_node" => json!({"curie": "H1"}),
        "read_paper" => json!({"pmid": "1"}),
        "hybrid_search" => json!({"query": "ขิง"}),
        "read_records" => json!({"kind": "node", "ids": ["H1"]}),
        "audit_prove" => json!({"call_id": "nobodys"}),
        "job_status" | "cancel_job" => json!({"job_id": "nobodys"}),
        "answer_job" => json!({"job_id": "nobodys", "answers": {}}),
        "start_job" => json!({"operation": "revoke_key"}),
        "export_records" => json!({"format": "ris"}),
        "pubmed_search" => json!({"terms": [{"term": "ginger"}]}),
        "pubmed_get_details" => json!({"pmid": "1"}),
        "audit_export" => json!({"format": "ndjson"}),
        // They name nothing that could be somebody else's.
        "tidy_house" | "list_keys" | "back_up_house" => json!({}),
        "list_artifact_types" | "list_artifacts" | "delete_expired_reservations" | "get_next_task" => json!({}),
        "embed_records" | "rebuild_evidence" | "load_starter_data" => json!({}),
        "audit_search" | "audit_verify" | "audit_checkpoint" => json!({}),
        unknown => panic!(
            "`naming` in `ops/tests/it/permissions.rs` does not know the operation `{unknown}`: add an input that names \
             something of the organisation `here`, or put it with those that name nothing"
        ),
    }
}

fn is_denied(reply: &Reply) -> bool {
    reply.result.as_ref().is_err_and(|error| error.code() == "DENIED")
}

fn elsewhere(mut actor: Actor) -> Actor {
    actor.organisation_id = OrganisationId::parse("elsewhere").unwrap();
    actor
}

fn limited_to(scopes: &[Scope]) -> Actor {
    Actor { scopes: Some(scopes.to_vec()), ..actor("owner") }
}

/// What the door answers each role; the same here and elsewhere, since roles count in the caller's own organisation.
async fn cells(stage: &Stage, entry: &Entry) -> Vec<&'static str> {
    let mut cells = Vec::new();
    for role in Role::ALL {
        // Empty input: what is allowed gets past the permission check, whatever comes after.
        let here = is_denied(&stage.call(role.name(), entry.name, json!({})).await);
        let foreign = is_denied(&stage.call_as(&elsewhere(actor(role.name())), entry.name, json!({})).await);
        assert_eq!(here, foreign, "{} as {}", entry.name, role.name());
        cells.push(if here { "-" } else { "yes" });
    }
    cells
}

/// What somebody elsewhere is answered who may do everything there and names things of ours.
async fn answer_elsewhere(stage: &Stage, entry: &Entry, things: &Things) -> String {
    let reply = stage.call("rival", entry.name, naming(entry.name, things)).await;
    match reply.result {
        Ok(success) => {
            let told = success.output.to_string();
            let ours = [things.key_id.as_str(), &things.reservation_id, &format!("HLS-{QUEUED}")];
            assert!(!ours.iter().any(|ours| told.contains(ours)), "{}", entry.name);
            "own".to_owned()
        }
        Err(error) => error.code().to_lowercase(),
    }
}

#[tokio::test]
async fn who_may_call_what_is_the_committed_table() {
    let stage = on_sqlite(OPERATIONS).await;
    let things = make_things(&stage).await;
    let roles: Vec<&str> = Role::ALL.iter().map(|role| role.name()).collect();
    let mut lines = vec![format!("operation\tscope\telsewhere\t{}", roles.join("\t"))];
    for entry in OPERATIONS {
        let (scope, answer) = (entry.scope.unwrap_or("-"), answer_elsewhere(&stage, entry, &things).await);
        lines.push(format!("{}\t{scope}\t{answer}\t{}", entry.name, cells(&stage, entry).await.join("\t")));
    }
    testkit::check_golden("contracts/permissions.tsv", &format!("{}\n", lines.join("\n")));
    // Whatever was tried elsewhere, ours is as it was.
    let listed = stage.call("owner", "list_keys", json!({})).await.result.unwrap().output;
    assert_eq!(listed["keys"][0]["key_id"], things.key_id);
    assert!(listed["keys"][0].get("revoked_at").is_none(), "{listed}");
    let confirm = json!({"reservation_id": things.reservation_id});
    assert!(stage.call("owner", "confirm_reservation", confirm).await.result.is_ok());
}

#[tokio::test]
async fn a_limited_actor_needs_the_scope_of_the_operation_and_no_other_will_do() {
    let stage = on_sqlite(OPERATIONS).await;
    let all = HouseScope::ALL.map(Scope::House);
    for entry in OPERATIONS {
        let Some(scope) = entry.scope else {
            assert!(!is_denied(&stage.call_as(&limited_to(&[]), entry.name, json!({})).await), "{}", entry.name);
            continue;
        };
        let required = Scope::parse(scope).unwrap();
        let others: Vec<Scope> = all.iter().filter(|scope| **scope != required).cloned().collect();
        for (scopes, expected) in [(&[][..], true), (&others[..], true), (&[required.clone()][..], false)] {
            let reply = stage.call_as(&limited_to(scopes), entry.name, json!({})).await;
            assert_eq!(is_denied(&reply), expected, "{} with {scopes:?}", entry.name);
            if let (Err(error), true) = (&reply.result, expected) {
                assert_eq!(error.details.more["scope"], scope, "{}", entry.name);
            }
        }
    }
}

#[test]
fn every_write_asks_for_a_scope() {
    let open: Vec<&str> =
        OPERATIONS.iter().filter(|entry| entry.is_write && entry.scope.is_none()).map(|entry| entry.name).collect();
    assert_eq!(open, Vec::<&str>::new(), "a token that is limited to reading must not change anything");
}
