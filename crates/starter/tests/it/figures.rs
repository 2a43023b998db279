//! The data set that ships.

use std::sync::LazyLock;

use contract::evidence::record::{Document, Edge, Node, Record, Source};
use contract::schema::tool_schema;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use starter::{Files, Report, check, data_version, parse, records};

static REPORT: LazyLock<Report> = LazyLock::new(|| check::check(&Files::embedded()));

#[test]
fn the_data_that_ships_has_no_problems() {
    let report = &*REPORT;
    let told: Vec<String> = report.problems.iter().take(50).map(ToString::to_string).collect();
    assert!(told.is_empty(), "{} problems, the first ones:\n{}", report.problems.len(), told.join("\n"));
}

/// At least so many of a kind, and at least this share of them verified, in per cent.
const FIGURES: [(&str, usize, usize); 8] = [
    ("herbs", 40, 0),
    ("formulations", 12, 0),
    ("drugs", 400, 0),
    ("interactions", 250, 50),
    ("herb_drug_interactions", 60, 0),
    ("contraindications", 42, 50),
    ("instruments", 5, 0),
    ("patients", 6, 0),
];
const QUESTIONS: [(&str, usize, usize); 2] = [("smoke_questions", 20, 0), ("curated_questions", 160, 0)];

/// What there is too little of.
fn short(report: &Report, figures: &[(&str, usize, usize)]) -> Vec<String> {
    let short = figures.iter().filter_map(|(kind, n_min, share_min)| {
        let count = report.count(kind)?;
        let is_short = count.n < *n_min || count.share_verified().unwrap_or_default() < *share_min;
        is_short.then(|| format!("{count:?}, expected {n_min} and {share_min} %"))
    });
    short.collect()
}

fn has(files: &Files, folder: &str) -> bool {
    files.iter().any(|(path, _)| path.starts_with(folder))
}

#[test]
fn there_is_as_much_as_was_promised() {
    let files = Files::embedded();
    // A build without the herbs is one of the code alone.
    if has(&files, "herbs/") {
        assert_eq!(short(&REPORT, &FIGURES), Vec::<String>::new());
    }
}

#[test]
fn there_are_as_many_questions_as_were_promised() {
    let files = Files::embedded();
    if !has(&files, "evaluation/") {
        return;
    }
    assert_eq!(short(&REPORT, &QUESTIONS), Vec::<String>::new());
    let set = starter::parse(&files).0;
    let n_of = |is: fn(&starter::QuestionRow) -> bool| set.questions.iter().filter(|it| is(&it.row)).count();
    assert!(n_of(|it| !it.answerable) >= 40, "unanswerable questions");
    assert!(n_of(|it| it.kind == starter::QuestionKind::Conflict) >= 10, "questions with conflicting sources");
}

fn fits<T: JsonSchema + Serialize>(kind: &str, rows: &[T]) {
    let validator = jsonschema::validator_for(&Value::Object(tool_schema::<T>())).unwrap();
    for row in rows {
        let row = serde_json::to_value(row).unwrap();
        let errors: Vec<String> = validator.iter_errors(&row).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{kind} {}", row["id"]);
    }
}

#[test]
fn every_record_fits_the_schema_of_its_kind() {
    let files = Files::embedded();
    let (mut sources, mut nodes, mut edges, mut documents): (Vec<Source>, Vec<Node>, Vec<Edge>, Vec<Document>) =
        Default::default();
    for record in records::all(&parse(&files).0, &data_version(&files).unwrap()) {
        match record {
            Record::Source(source) => sources.push(source),
            Record::Node(node) => nodes.push(node),
            Record::Edge(edge) => edges.push(edge),
            Record::Document(document) => documents.push(document),
            Record::Deletion(_) => panic!("nothing is withdrawn"),
        }
    }
    fits("source", &sources);
    fits("node", &nodes);
    fits("edge", &edges);
    fits("document", &documents);
}

#[test]
fn a_combination_leads_to_what_is_in_it() {
    let files = Files::embedded();
    let edges: Vec<Edge> = records::all(&parse(&files).0, &data_version(&files).unwrap())
        .into_iter()
        .filter_map(|record| match record {
            Record::Edge(edge) if edge.predicate == "has_ingredient" => Some(edge),
            _ => None,
        })
        .collect();
    for part in ["ergotamine", "caffeine"] {
        assert!(edges.iter().any(|edge| edge.subject == "ergotamine_caffeine" && edge.object == part), "{part}");
    }
}
