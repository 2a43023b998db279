//! `materia import` and `materia export` as a person runs them, and PubMed over E-utilities against a server that speaks
//! their wire format.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::house::materia;

pub fn run(data: &Path, arguments: &[&str]) -> Output {
    materia().arg("--data").arg(data).args(arguments).output().expect("`materia` runs")
}

pub fn last_line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
}

pub fn call(data: &Path, operation: &str, input: &Value, settings: &[(&str, &str)]) -> Result<Value, Value> {
    let mut command = materia();
    command.arg("--data").arg(data).args(["call", operation, &input.to_string()]).envs(settings.iter().copied());
    let output = command.output().expect("`materia` runs");
    let parse = |bytes: &[u8]| -> Value { serde_json::from_slice(bytes).expect("JSON") };
    if output.status.success() { Ok(parse(&output.stdout)) } else { Err(parse(&output.stderr)["error"].clone()) }
}

const REPLACED: &str = "of the kept replaced what was recorded under their ids";
const NODES: &str = "id\tcategory\tname\nX:1\tbiolink:Gene\tone\nX:2\tbiolink:Gene\ttwo\nX:2\tbiolink:Gene\ttwo\n";
const EDGES: &str = "subject\tpredicate\tobject\nX:1\tbiolink:interacts_with\tX:2\nX:1\tbiolink:interacts_with\tX:9\n";

#[test]
fn a_graph_is_imported_whatever_file_comes_first_and_a_second_time_only_repeated() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let (nodes, edges) = (folder.path().join("nodes.tsv"), folder.path().join("edges.tsv"));
    std::fs::write(&nodes, NODES).expect("a file");
    std::fs::write(&edges, EDGES).expect("a file");
    let (nodes, edges) = (nodes.to_str().expect("a path"), edges.to_str().expect("a path"));
    let first = run(&data, &["import", "kgx", edges, nodes, "--source", "mine", "--licence", "CC0-1.0", "--json"]);
    assert!(first.status.success(), "{first:?}");
    assert_eq!(last_line(&first), r#"{"read":5,"kept":3,"repeated":1,"rejected":1}"#);
    let text = String::from_utf8_lossy(&first.stdout).into_owned();
    let rejected: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    assert_eq!(rejected["reason"], "`object`: no node `X:9` is known");
    let second = run(&data, &["import", "kgx", nodes, edges, "--source", "mine"]);
    assert_eq!(last_line(&second), "read 5, kept 0, repeated 4, rejected 1");
    let licence = || {
        let found = call(&data, "read_records", &json!({"kind": "source"}), &[]).expect("sources");
        found["records"][0]["licence"].clone()
    };
    assert_eq!(licence(), "CC0-1.0", "an import without --licence leaves the terms alone");
    let again = run(&data, &["import", "kgx", nodes, edges, "--source", "mine", "--licence", "CC0-1.0"]);
    assert_eq!(last_line(&again), "read 5, kept 0, repeated 4, rejected 1");
    let other = ["import", "kgx", nodes, "--source", "mine", "--licence", "CC-BY-4.0", "--replace-other-sources"];
    let refused = run(&data, other.split_last().expect("a flag").1);
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && told.contains("the source `mine` is known with another licence"), "{told}");
    assert_eq!(licence(), "CC0-1.0");
    assert_eq!(last_line(&run(&data, &other)), "read 3, kept 0, repeated 3, rejected 0");
    assert_eq!(licence(), "CC-BY-4.0");
    assert!(std::fs::read_dir(data.join("imports")).is_ok_and(|mut found| found.next().is_none()), "no mark is left");
}

#[test]
fn no_record_of_an_import_takes_the_place_of_another_one_of_it_and_a_later_import_replaces() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).expect("a file");
        file.to_str().expect("a path").to_owned()
    };
    let nodes = write("nodes.tsv", "id\tcategory\tname\nW:1\tbiolink:Plant\tone\nW:2\tbiolink:Disease\ttwo\n");
    let others = write("others.tsv", "id\tcategory\tname\nW:2\tbiolink:Disease\tother words\n");
    let named = "id\tsubject\tpredicate\tobject\nk1\tW:1\tbiolink:contraindicated_in\tW:2\n";
    let named = write("named.tsv", &format!("{named}k1\tW:1\tbiolink:affects\tW:2\n"));
    let cited = "subject\tpredicate\tobject\tpublications\nW:1\tbiolink:treats\tW:2\tPMID:101\n";
    let cited = write("cited.tsv", &format!("{cited}W:1\tbiolink:treats\tW:2\tPMID:102\n"));
    let import = ["import", "kgx", &nodes, &others, &named, &cited, "--source", "mine", "--licence", "CC0-1.0"];
    assert_eq!(last_line(&run(&data, &import)), "read 7, kept 6, repeated 0, rejected 1");
    let again = run(&data, &import);
    assert_eq!(last_line(&again), "read 7, kept 0, repeated 6, rejected 1");
    let told = String::from_utf8_lossy(&again.stdout).into_owned();
    let reason = "others.tsv, node `W:2`: it stands in the import twice, with other words; the first one counts";
    assert!(told.contains(reason), "{told}");
    let edges = call(&data, "read_records", &json!({"kind": "edge"}), &[]).expect("records");
    assert_eq!(edges["records"].as_array().map(Vec::len), Some(4), "{edges}");
    let warned = json!({"herb_ids": ["W:1"]});
    let found = call(&data, "find_contraindications", &warned, &[]);
    assert!(found.as_ref().is_ok_and(|it| it.to_string().contains("W:2")), "{found:?}");
    let later = run(&data, &["import", "kgx", &others, "--source", "mine"]);
    assert_eq!(last_line(&later), format!("read 1, kept 1, repeated 0, rejected 0; 1 {REPLACED}"));
}

#[test]
fn statements_that_lost_their_rule_are_counted_once() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let (nodes, edges) = (folder.path().join("nodes.tsv"), folder.path().join("edges.tsv"));
    std::fs::write(&nodes, NODES).expect("a file");
    let ruled = "subject\tpredicate\tobject\trule\nX:1\tbiolink:interacts_with\tX:2\tR-1\nX:2\tbiolink:treats\tX:1\t\n";
    std::fs::write(&edges, ruled).expect("a file");
    let (nodes, edges) = (nodes.to_str().expect("a path"), edges.to_str().expect("a path"));
    let told = run(&data, &["import", "kgx", nodes, edges, "--json"]);
    assert_eq!(last_line(&told), r#"{"read":5,"kept":4,"repeated":1,"rejected":0,"without_rule":1}"#);
    let told = run(&data, &["import", "kgx", nodes, edges]);
    let line = "read 5, kept 0, repeated 5, rejected 0; 1 without the rule that their source grades them by, which has no force here";
    assert_eq!(last_line(&told), line);
}

#[test]
fn a_graph_keeps_the_providers_and_terms_of_its_lines_and_is_nobodys_word_but_the_files() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let file = folder.path().join("graph.jsonl");
    let line = |more: Value| {
        let mut line = json!({"provided_by": ["theirs"], "license": "CC-BY-4.0"});
        line.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        format!("{line}\n")
    };
    let text = [
        line(json!({"id": "X:1", "category": ["biolink:Gene"], "name": "one"})),
        line(json!({"id": "X:2", "category": ["biolink:Gene"], "name": "two", "provided_by": ["materia"]})),
        line(json!({"id": "X:3", "category": ["biolink:Gene"], "name": "three", "provided_by": ["known"]})),
        line(json!({"id": "X:4", "category": ["biolink:Gene"], "name": "four", "provided_by": ["theirs", "ours"]})),
        line(json!({"id": "e1", "subject": "X:1", "predicate": "biolink:interacts_with", "object": "X:2"})),
        line(
            json!({"id": "e2", "subject": "X:1", "predicate": "biolink:treats", "object": "X:2", "license": "CC0-1.0"}),
        ),
    ];
    std::fs::write(&file, text.concat()).expect("a file");
    let file = file.to_str().expect("a path");
    let known = json!({"record": "source", "id": "known", "title": "Known", "licence": "CC0-1.0"});
    call(&data, "put_records", &json!({"records": [known]}), &[]).expect("an answer");
    let first = run(&data, &["import", "kgx", file]);
    assert_eq!(last_line(&first), "read 6, kept 6, repeated 0, rejected 0");
    let told = String::from_utf8_lossy(&first.stderr).into_owned();
    assert!(told.contains("records are kept apart as `kgx:materia`"), "{told}");
    assert!(told.contains("records are kept apart as `kgx:known`"), "{told}");
    assert_eq!(last_line(&run(&data, &["import", "kgx", file])), "read 6, kept 0, repeated 6, rejected 0");
    let sources = |kind: &str| -> Vec<Value> {
        let found = call(&data, "read_records", &json!({"kind": kind}), &[]).expect("records");
        found["records"].as_array().expect("records").iter().map(|it| it["source"].clone()).collect()
    };
    assert_eq!(sources("node"), ["theirs", "kgx:materia", "kgx:known", "kgx"]);
    assert_eq!(sources("edge"), ["theirs", "kgx:theirs"]);
    let exported = run(&data, &["export", "kgx"]);
    let exported = String::from_utf8_lossy(&exported.stdout).into_owned();
    let edge = exported.lines().find(|line| line.contains("\"e2\"")).unwrap_or_else(|| panic!("{exported}"));
    let edge: Value = serde_json::from_str(edge).expect("JSON");
    assert_eq!((&edge["provided_by"], &edge["license"]), (&json!(["kgx:theirs"]), &json!("CC0-1.0")));
    // The caller's word counts for all of the file.
    let other = folder.path().join("other");
    run(&other, &["import", "kgx", file, "--source", "mine", "--licence", "CC0-1.0"]);
    let found = call(&other, "read_records", &json!({"kind": "source"}), &[]).expect("sources");
    assert_eq!(found["records"].as_array().map(Vec::len), Some(1), "{found}");
}

#[test]
fn an_older_file_of_the_library_does_not_replace_what_a_later_one_says() {
    let folder = testkit::temp_dir();
    let revised = |title: &str, year: u32| {
        let day = format!("</PMID><DateRevised><Year>{year}</Year><Month>01</Month><Day>02</Day></DateRevised>");
        ARTICLE.replace("Ginger, made up", title).replace("</PMID>", &day)
    };
    let (old, new) = (folder.path().join("old.xml"), folder.path().join("new.xml"));
    std::fs::write(&old, revised("Ginger, 500 mg", 2020)).expect("a file");
    std::fs::write(&new, revised("Ginger, 5 mg", 2023)).expect("a file");
    for order in [[&old, &new], [&new, &old]] {
        let data = testkit::temp_dir();
        let [_, last] = order.map(|file| run(data.path(), &["import", "pubmed", file.to_str().expect("a path")]));
        let paper = call(data.path(), "read_paper", &json!({"pmid": "99000001"}), &[]).expect("the paper");
        assert_eq!(paper["title"], "Ginger, 5 mg", "{paper}");
        let told = String::from_utf8_lossy(&last.stdout).into_owned();
        let reason = "revised on 2023-01-02 is kept, and this one was revised on 2020-01-02; the later one counts";
        assert_eq!(told.contains(reason), order == [&new, &old], "{told}");
    }
}

#[test]
fn an_older_version_of_a_paper_does_not_replace_a_later_one() {
    let folder = testkit::temp_dir();
    let version = |number: u32| {
        let file = folder.path().join(format!("{number}.xml"));
        let text = ARTICLE.replace("<PMID>", &format!("<PMID Version=\"{number}\">"));
        std::fs::write(&file, text.replace("Ginger, made up", &format!("Ginger, version {number}"))).expect("a file");
        file.to_str().expect("a path").to_owned()
    };
    let (first, second) = (version(1), version(2));
    for order in [[&first, &second], [&second, &first]] {
        let data = testkit::temp_dir();
        let [_, last] = order.map(|file| run(data.path(), &["import", "pubmed", file]));
        let paper = call(data.path(), "read_paper", &json!({"pmid": "99000001"}), &[]).expect("the paper");
        assert_eq!(paper["title"], "Ginger, version 2", "{paper}");
        let told = String::from_utf8_lossy(&last.stdout).into_owned();
        let reason = "version 2 of it is kept, and this one is version 1; the later one counts";
        assert_eq!(told.contains(reason), order == [&second, &first], "{told}");
        let both = run(data.path(), &["import", "pubmed", &first, &second]);
        assert_eq!(last_line(&both), "read 2, kept 0, repeated 1, rejected 1");
    }
}

#[test]
fn a_withdrawal_does_not_launder_a_retracted_paper() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let retracted = ARTICLE.replace(
        "</Article>",
        "<PublicationTypeList><PublicationType UI=\"D016441\">Retracted</PublicationType></PublicationTypeList></Article>",
    );
    let deletion = "<PubmedArticleSet><DeleteCitation><PMID>99000001</PMID></DeleteCitation></PubmedArticleSet>";
    for (name, text) in [("retracted.xml", retracted.as_str()), ("gone.xml", deletion), ("silent.xml", ARTICLE)] {
        let file = folder.path().join(name);
        std::fs::write(&file, text).expect("a file");
        let told = run(&data, &["import", "pubmed", file.to_str().expect("a path")]);
        assert!(last_line(&told).starts_with("read 1, kept 1, repeated 0, rejected 0"), "{name}: {told:?}");
        let paper = call(&data, "read_paper", &json!({"pmid": "99000001"}), &[]).expect("the paper");
        assert_eq!(paper["retraction"]["kind"], "retracted", "{name}: {paper}");
    }
}

/// Numbered documents, as many as two batches and a half.
fn corpus() -> String {
    (0..2_500).map(|n| format!("{{\"_id\": \"d{n}\", \"text\": \"document {n}\"}}\n")).collect()
}

#[test]
fn an_import_that_broke_off_goes_on_and_a_mark_of_another_database_does_not_count() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let file = folder.path().join("corpus.jsonl");
    std::fs::write(&file, corpus()).expect("a file");
    let file = file.to_str().expect("a path");
    let whole = run(&data, &["import", "beir", file]);
    assert_eq!(last_line(&whole), "read 2500, kept 2500, repeated 0, rejected 0");

    // The mark as an import leaves it that is killed after its first batch.
    let calls = call(&data, "audit_search", &json!({"operation": "put_records", "limit": 1}), &[]).expect("events");
    let call_id = &calls["events"][0]["event"]["call_id"];
    let marks = data.join("imports");
    let mark = |call_id: &Value| {
        let text = json!({"call_id": call_id, "n_done": [1_000, 0],
            "totals": {"read": 1_000, "kept": 1_000, "repeated": 0, "rejected": 0}});
        let name = name_of_mark(&data, file);
        std::fs::create_dir_all(&marks).expect("a folder");
        std::fs::write(marks.join(name), text.to_string()).expect("a file");
    };
    mark(call_id);
    let resumed = run(&data, &["import", "beir", file]);
    assert!(String::from_utf8_lossy(&resumed.stderr).contains("goes on after 1000 records"), "{resumed:?}");
    assert_eq!(last_line(&resumed), "read 2500, kept 1000, repeated 1500, rejected 0");

    mark(&json!("019a8000-0000-7000-8000-000000000000"));
    let anew = run(&data, &["import", "beir", file]);
    assert_eq!(last_line(&anew), "read 2500, kept 0, repeated 2500, rejected 0");
}

/// An import whose records cannot be sent leaves its mark; here a truncated copy shows the name.
fn name_of_mark(data: &Path, file: &str) -> String {
    use sha2::Digest as _;
    let mut hash = sha2::Sha256::new();
    hash.update(json!(["beir", "beir", null]).to_string());
    hash.update(std::fs::read(file).expect("a file"));
    assert!(data.exists());
    format!("{}.json", hex::encode(hash.finalize()))
}

#[test]
fn what_cannot_be_imported_is_told_with_the_file_and_the_reason() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let check = |format: &str, name: &str, text: &str, expected: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).expect("a file");
        let output = run(&data, &["import", format, file.to_str().expect("a path")]);
        assert!(!output.status.success(), "{name}: {output:?}");
        let told = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
        assert!(told.contains(expected), "{name}: {told}");
    };
    check("pubmed", "bomb.xml", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "the XML defines entities");
    check("pubmed", "cut.xml", "<PubmedArticleSet><PubmedArticle>", "the file is truncated");
    check("kgx", "other.txt", "words", "this is no kgx file");
    check("beir", "empty.jsonl", "", "the file is empty");
    check("beir", "wrong.jsonl", "words\nmore words\n", "read 2, kept 0, repeated 0, rejected 2");
    let absent = run(&data, &["import", "kgx", "/no/such/file"]);
    assert!(String::from_utf8_lossy(&absent.stderr).contains("could not open /no/such/file"));
    let format = run(&data, &["import", "word", "x"]);
    assert!(String::from_utf8_lossy(&format.stderr).contains("expected one of pubmed, medline, jats"));
}

#[test]
fn many_rejections_end_with_how_many_more_there_are_and_utf_16_is_named() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let file = folder.path().join("many.jsonl");
    std::fs::write(&file, "words\n".repeat(25)).expect("a file");
    let file = file.to_str().expect("a path");
    let told = String::from_utf8_lossy(&run(&data, &["import", "beir", file]).stdout).into_owned();
    assert!(told.contains("\nand 5 more rejected not shown\nread 25, kept 0,"), "{told}");
    let told = String::from_utf8_lossy(&run(&data, &["import", "beir", file, "--json"]).stdout).into_owned();
    assert!(told.contains("\n{\"more_rejected\":5}\n{\"read\":25,"), "{told}");
    let wide: Vec<u8> = "\u{feff}id\tcategory\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let file = folder.path().join("wide.tsv");
    std::fs::write(&file, wide).expect("a file");
    let refused = run(&data, &["import", "kgx", file.to_str().expect("a path")]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("UTF-16 or UTF-32, expected UTF-8"), "{refused:?}");
}

#[test]
fn a_notice_in_a_later_file_marks_the_paper_and_an_older_file_does_not_take_the_mark_away() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let baseline = folder.path().join("baseline.xml");
    std::fs::write(&baseline, ARTICLE).expect("a file");
    let notice = ARTICLE.replace("99000001", "99000002").replace(
        "</Article>",
        "</Article><CommentsCorrectionsList><CommentsCorrections RefType=\"RetractionOf\"><RefSource>J</RefSource>\
         <PMID>99000001</PMID></CommentsCorrections></CommentsCorrectionsList>",
    );
    let update = folder.path().join("update.xml");
    std::fs::write(&update, notice).expect("a file");
    for file in [&baseline, &update, &baseline] {
        assert!(run(&data, &["import", "pubmed", file.to_str().expect("a path")]).status.success());
    }
    let paper = call(&data, "read_paper", &json!({"pmid": "99000001"}), &[]).expect("the paper");
    assert_eq!(
        paper["retraction"],
        json!({"kind": "retracted", "notice": "PMID:99000002", "source": "pubmed"}),
        "{paper}"
    );
}

#[test]
fn a_file_of_the_library_replaces_what_others_put_under_its_numbers_and_says_who_called_it_retracted() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let file = folder.path().join("baseline.xml");
    std::fs::write(&file, ARTICLE).expect("a file");
    let file = file.to_str().expect("a path");
    let records = json!({"records": [
        {"record": "source", "id": "mydb", "title": "Somebody's list", "licence": "CC0-1.0"},
        {"record": "document", "id": "PMID:99000001", "kind": "paper", "title": "Ginger, made up", "text": "", "lang": "en",
         "source": "mydb", "retraction": {"kind": "retracted"}}]});
    call(&data, "put_records", &records, &[]).expect("an answer");
    let told = run(&data, &["import", "pubmed", file, "--source", "other", "--licence", "CC0-1.0"]);
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("the document `PMID:99000001` is of the source `mydb` and stays as it is"), "{told}");
    let told = last_line(&run(&data, &["import", "pubmed", file]));
    assert_eq!(told, format!("read 1, kept 1, repeated 0, rejected 0; 1 {REPLACED}"));
    let paper = call(&data, "read_paper", &json!({"pmid": "99000001"}), &[]).expect("the paper");
    let expected = (json!("pubmed"), json!({"kind": "retracted", "source": "mydb"}));
    assert_eq!((&paper["source"], &paper["retraction"]), (&expected.0, &expected.1), "{paper}");
    assert_eq!(last_line(&run(&data, &["import", "pubmed", file])), "read 1, kept 0, repeated 1, rejected 0");
}

#[test]
fn a_file_withdraws_what_its_own_source_brought_and_nothing_else() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let (paper, gone) = (folder.path().join("paper.xml"), folder.path().join("gone.xml"));
    std::fs::write(&paper, ARTICLE).expect("a file");
    let deletion = "<PubmedArticleSet><DeleteCitation><PMID>99000001</PMID></DeleteCitation></PubmedArticleSet>";
    std::fs::write(&gone, deletion).expect("a file");
    let (paper, gone) = (paper.to_str().expect("a path"), gone.to_str().expect("a path"));
    let import =
        |file: &str, source: &str| run(&data, &["import", "pubmed", file, "--source", source, "--licence", "CC0-1.0"]);
    assert_eq!(last_line(&import(paper, "mine")), "read 1, kept 1, repeated 0, rejected 0");
    let told = import(gone, "other");
    assert_eq!(last_line(&told), "read 1, kept 0, repeated 0, rejected 1");
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("is of the source `mine` and stays as it is; who withdraws it names that source"), "{told}");
    assert_eq!(last_line(&import(gone, "mine")), "read 1, kept 1, repeated 0, rejected 0");
    assert_eq!(last_line(&import(gone, "mine")), "read 1, kept 0, repeated 1, rejected 0");
}

pub const ARTICLE: &str = r#"<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>99000001</PMID><Article>
  <Journal><JournalIssue><PubDate><Year>2001</Year></PubDate></JournalIssue><Title>J Invent</Title></Journal>
  <ArticleTitle>Ginger, made up</ArticleTitle><Abstract><AbstractText>Words.</AbstractText></Abstract>
  <AuthorList><Author><LastName>Alpha</LastName><Initials>A</Initials></Author></AuthorList>
  </Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"#;

#[test]
fn citations_and_graphs_are_exported_to_files_and_to_standard_output() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let (paper, nodes) = (folder.path().join("paper.xml"), folder.path().join("nodes.tsv"));
    std::fs::write(&paper, ARTICLE).expect("a file");
    std::fs::write(&nodes, NODES).expect("a file");
    run(&data, &["import", "pubmed", paper.to_str().expect("a path")]);
    run(&data, &["import", "kgx", nodes.to_str().expect("a path")]);
    let bib = run(&data, &["export", "bibtex", "PMID:99000001"]);
    assert!(String::from_utf8_lossy(&bib.stdout).starts_with("@article{PMID99000001,"), "{bib:?}");
    let csl: Value = serde_json::from_slice(&run(&data, &["export", "csl-json"]).stdout).expect("one JSON array");
    assert_eq!(csl[0]["PMID"], "99000001");
    let out = folder.path().join("graph");
    let exported = run(&data, &["export", "kgx", "--out", out.to_str().expect("a path")]);
    assert!(exported.status.success(), "{exported:?}");
    let lines = std::fs::read_to_string(out.join("nodes.jsonl")).expect("nodes");
    assert_eq!(lines.lines().count(), 2);
    let again = run(&data, &["import", "kgx", out.join("nodes.jsonl").to_str().expect("a path")]);
    assert!(again.status.success(), "{again:?}");
    // A refused export writes nothing at all.
    let file = folder.path().join("none.json");
    let file = file.to_str().expect("a path");
    for arguments in [&["export", "csl-json", "PMID:7"][..], &["export", "csl-json", "PMID:7", "--out", file]] {
        let refused = run(&data, arguments);
        assert!(!refused.status.success() && refused.stdout.is_empty(), "{refused:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("no document has the id `PMID:7`"), "{refused:?}");
    }
    assert!(!Path::new(file).exists());
    let node = run(&data, &["export", "kgx", "X:1"]);
    assert_eq!(String::from_utf8_lossy(&node.stdout).lines().count(), 1, "{node:?}");
    let refused = run(&data, &["export", "kgx", "X:7"]);
    assert!(refused.stdout.is_empty() && !refused.status.success(), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("no node has the id `X:7`"), "{refused:?}");
}

/// E-utilities as NCBI has them: forms in, JSON and XML out. The first request of each run is answered with 429.
fn eutils(asked: Arc<Mutex<Vec<String>>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        let mut n_requests = 0;
        for stream in listener.incoming().flatten() {
            n_requests += 1;
            answer(stream, &asked, n_requests == 1);
        }
    });
    format!("http://{address}/entrez/eutils")
}

fn answer(mut stream: TcpStream, asked: &Mutex<Vec<String>>, is_too_soon: bool) {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    let mut head = String::new();
    let mut n_body = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(length) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            n_body = length.trim().parse().expect("a length");
        }
        head.push_str(&line);
    }
    let mut body = vec![0; n_body];
    reader.read_exact(&mut body).expect("a body");
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let body = String::from_utf8(body).expect("a form");
    asked.lock().expect("a lock").push(format!("{path} {body}"));
    let (status, text) = match path.as_str() {
        _ if is_too_soon => ("429 Too Many Requests", r#"{"error":"API rate limit exceeded"}"#),
        "/entrez/eutils/esearch.fcgi" => ("200 OK", r#"{"esearchresult":{"count":"1","idlist":["99000001"]}}"#),
        "/entrez/eutils/efetch.fcgi" => ("200 OK", ARTICLE),
        "/query" => ("200 OK", TRAPI),
        _ => ("404 Not Found", ""),
    };
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", text.len());
    stream.write_all((head + text).as_bytes()).ok();
}

#[test]
fn pubmed_itself_is_asked_where_the_settings_say_so() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let asked = Arc::new(Mutex::new(Vec::new()));
    let url = eutils(Arc::clone(&asked));
    let settings = [("MATERIA_EUTILS_URL", url.as_str()), ("MATERIA_EUTILS_KEY", "k-1")];
    let terms = json!({"terms": [{"term": "ginger"}, {"term": "TP53", "operator": "OR"}], "sort_by": "pub_date"});
    let found = call(&data, "pubmed_search", &terms, &settings).expect("an answer");
    let text = found["content"][0]["text"].as_str().expect("a text");
    assert!(text.contains("## Ginger, made up"), "{text}");
    {
        let asked = asked.lock().expect("a lock");
        assert_eq!(asked.len(), 3, "one attempt too soon, one search, one fetch: {asked:?}");
        assert!(asked[1].contains("term=ginger+OR+%28TP53%5BGene+Name%5D"), "{asked:?}");
        assert!(
            asked[1].contains("sort=pub_date") && asked[1].contains("api_key=k-1") && asked[1].contains("tool=materia")
        );
        assert!(asked[2].contains("id=99000001"), "{asked:?}");
        assert!(
            asked.iter().all(|line| !line.split(' ').next().unwrap_or_default().contains('?')),
            "words in an address"
        );
    }
    let details = call(&data, "pubmed_get_details", &json!({"pmid": "99000001"}), &settings).expect("an answer");
    assert!(details["content"][0]["text"].as_str().expect("a text").contains("Source: PubMed"));

    // Nobody there: the record answers, and says so.
    let nobody = [("MATERIA_EUTILS_URL", "http://127.0.0.1:9/eutils")];
    let alone = call(&data, "pubmed_search", &terms, &nobody).expect("an answer");
    let text = alone["content"][0]["text"].as_str().expect("a text");
    assert!(
        text.starts_with(
            "# Search Results for: ginger OR (TP53[Gene Name] OR TP53[Title/Abstract])\n\nNo paper was found"
        ),
        "{text}"
    );
}

const TRAPI: &str = r#"{"message": {"knowledge_graph": {
    "nodes": {"X:1": {"categories": ["biolink:Drug"], "name": "fictol"}, "X:2": {"categories": ["biolink:Gene"], "name": "FICT0"}},
    "edges": {"e": {"subject": "X:1", "predicate": "biolink:affects", "object": "X:2",
        "attributes": [{"attribute_type_id": "biolink:publications", "value": ["PMID:99000001"]}]}}}}}"#;

#[test]
fn a_trapi_server_is_asked_where_the_settings_say_so() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let asked = Arc::new(Mutex::new(Vec::new()));
    let url = eutils(Arc::clone(&asked)).replace("/entrez/eutils", "/query");
    let settings = [("MATERIA_TRAPI_URL", url.as_str())];
    let found = call(&data, "kg_get_everything", &json!({"curie": "X:1"}), &settings).expect("an answer");
    let text = found["content"][0]["text"].as_str().expect("a text");
    let stated = "- fictol (X:1) affects FICT0 (X:2) [trapi] (imported, not verified)";
    assert_eq!(text, format!("# Search Results for: fictol (X:1)\n\n{stated}"));
    {
        let asked = asked.lock().expect("a lock");
        assert_eq!(asked.len(), 3, "one attempt too soon, one query each way: {asked:?}");
        assert!(asked[2].contains(r#""e0":{"object":"n0","subject":"n1"}"#), "{asked:?}");
    }
    let both =
        call(&data, "kg_network_neighborhood", &json!({"curies": ["X:1", "X:2"]}), &settings).expect("an answer");
    assert!(both["content"][0]["text"].as_str().expect("a text").contains("fictol (X:1) affects FICT0 (X:2)"));
    let unknown = call(&data, "kg_get_everything", &json!({"curie": "X:9"}), &settings).expect_err("known nowhere");
    assert_eq!(unknown["code"], "NOT_FOUND");
}

#[test]
fn standard_input_is_a_file_too() {
    let folder = testkit::temp_dir();
    let mut command = materia();
    command.arg("--data").arg(folder.path().join("data")).args(["import", "kgx", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("`materia` starts");
    child.stdin.take().expect("a pipe").write_all(NODES.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(last_line(&output), "read 3, kept 2, repeated 1, rejected 0");
}
