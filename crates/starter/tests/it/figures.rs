//! The data set that ships.

use starter::{Files, check};

#[test]
fn the_data_that_ships_has_no_problems() {
    let report = check::check(&Files::embedded());
    let told: Vec<String> = report.problems.iter().take(50).map(ToString::to_string).collect();
    assert!(told.is_empty(), "{} problems, the first ones:\n{}", report.problems.len(), told.join("\n"));
}

/// At least so many of a kind, and at least this share of them verified, in per cent.
const FIGURES: [(&str, usize, usize); 10] = [
    ("herbs", 40, 0),
    ("formulations", 12, 0),
    ("drugs", 400, 0),
    ("interactions", 250, 50),
    ("herb_drug_interactions", 60, 0),
    ("contraindications", 42, 50),
    ("instruments", 5, 0),
    ("patients", 6, 0),
    ("smoke_questions", 20, 0),
    ("curated_questions", 160, 0),
];

#[test]
fn there_is_as_much_as_was_promised() {
    let files = Files::embedded();
    // A build without the herbs is one of the code alone.
    if !files.iter().any(|(path, _)| path.starts_with("herbs/")) {
        return;
    }
    let report = check::check(&files);
    let short = FIGURES.iter().filter_map(|(kind, n_min, share_min)| {
        let count = report.count(kind)?;
        let is_short = count.n < *n_min || count.share_verified().unwrap_or_default() < *share_min;
        is_short.then(|| format!("{count:?}, expected {n_min} and {share_min} %"))
    });
    assert_eq!(short.collect::<Vec<_>>(), Vec::<String>::new());
    let set = starter::parse(&files).0;
    let n_of = |is: fn(&starter::QuestionRow) -> bool| set.questions.iter().filter(|it| is(&it.row)).count();
    assert!(n_of(|it| !it.answerable) >= 40, "unanswerable questions");
    assert!(n_of(|it| it.kind == starter::QuestionKind::Conflict) >= 10, "questions with conflicting sources");
}
