//! Files that mean harm: each ends with a clear error or a rejection, in bounded memory. A child process reads each of
//! them and tells what the kernel says it ever held.

use std::io::{self, Cursor, Read};
use std::process::Command;

use evidence::import::Format;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::lines;

const CASE: &str = "MATERIA_TEST_HOSTILE";
/// What the test binary itself holds, and a few times the largest thing that a parser may buffer.
const PEAK_KB_MAX: u64 = 64 * 1024;
const GIGABYTE: u64 = 1 << 30;
/// More than may be held, for what is read to its end.
const LARGE: u64 = GIGABYTE / 8;

struct Case {
    name: &'static str,
    format: Format,
    stream: fn() -> Box<dyn Read + Send>,
    /// In the last line of what came out.
    expected: &'static str,
}

fn text(start: &str, repeated: u8, n_bytes: u64, end: &'static str) -> Box<dyn Read + Send> {
    Box::new(Cursor::new(start.to_owned()).chain(io::repeat(repeated).take(n_bytes)).chain(end.as_bytes()))
}

/// One letter over and over, packed a thousandfold.
fn bomb() -> Box<dyn Read + Send> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    io::copy(&mut io::repeat(b'a').take(80 << 20), &mut encoder).unwrap();
    Box::new(Cursor::new(encoder.finish().unwrap()))
}

const CASES: &[Case] = &[
    Case {
        name: "a very long line",
        format: Format::Kgx,
        stream: || text("id\tcategory\nX:1\tgene\nX:2\t", b'a', LARGE, "\nX:3\tgene\n"),
        expected: "\"id\":\"X:3\"",
    },
    Case {
        name: "a very long line of JSON",
        format: Format::Beir,
        stream: || text("{\"_id\": \"", b'a', LARGE, "\"}\n"),
        expected: "rejected line 1: longer than 16777216 bytes",
    },
    Case {
        name: "text without an end in XML",
        format: Format::Pubmed,
        stream: || text("<PubmedArticleSet><PubmedArticle>", b'a', GIGABYTE, ""),
        expected: "a tag or text of the XML is longer than 8388608 bytes",
    },
    Case {
        name: "a tag without an end",
        format: Format::Jats,
        stream: || text("<article x=\"", b'a', GIGABYTE, ""),
        expected: "a tag or text of the XML is longer than 8388608 bytes",
    },
    Case {
        name: "an entity bomb",
        format: Format::Pubmed,
        stream: || {
            let mut text = "<!DOCTYPE x [<!ENTITY a0 'ha'>".to_owned();
            for n in 1..30 {
                text.push_str(&format!("<!ENTITY a{n} '&a{};&a{};'>", n - 1, n - 1));
            }
            text.push_str("]><PubmedArticleSet><PubmedArticle>&a29;</PubmedArticle></PubmedArticleSet>");
            Box::new(Cursor::new(text))
        },
        expected: "the XML defines entities, which are refused",
    },
    Case {
        name: "an entity that reads a file",
        format: Format::Icd10,
        stream: || Box::new(Cursor::new("<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><item>&a;</item>")),
        expected: "the XML defines entities, which are refused",
    },
    Case {
        name: "elements nested without end",
        format: Format::Jats,
        stream: || Box::new(Cursor::new("<a>".repeat(1_000_000))),
        expected: "the XML is nested deeper than 100 elements",
    },
    Case {
        name: "a record of very many elements",
        format: Format::Pubmed,
        stream: || Box::new(Cursor::new(format!("<PubmedArticle>{}</PubmedArticle>", "<b/>".repeat(400_000)))),
        expected: "rejected article 1: more than 200000 elements",
    },
    Case {
        name: "JSON nested without end",
        format: Format::Trapi,
        stream: || text("{\"message\": {\"knowledge_graph\": {\"nodes\": ", b'[', GIGABYTE, ""),
        expected: "the JSON is nested deeper than 64 levels",
    },
    Case {
        name: "a line of JSON nested without end",
        format: Format::Kgx,
        stream: || text("{\"id\": \"X:1\"}\n", b'[', 10_000_000, "\n"),
        expected: "rejected line 2: not valid JSON: recursion limit exceeded",
    },
    Case {
        name: "a JSON text without an end",
        format: Format::Kgx,
        stream: || text("{\"nodes\": [{\"id\": \"", b'a', LARGE, ""),
        expected: "the JSON ends in the middle",
    },
    Case {
        name: "a quoted cell without an end",
        format: Format::Semmeddb,
        stream: || text("\"1\",\"", b'a', LARGE, ""),
        expected: "rejected line 1: longer than 1048576 bytes",
    },
    Case {
        name: "a gzip bomb",
        format: Format::Medline,
        stream: bomb,
        expected: "expands to more than 200 times its size",
    },
];

/// Runs in the child only: reads one case and prints its last line and what the kernel says the process ever held.
#[test]
fn child_reads_one_hostile_file() {
    let Ok(name) = std::env::var(CASE) else { return };
    let case = CASES.iter().find(|case| case.name == name).unwrap();
    let last = lines(case.format, (case.stream)()).pop().unwrap_or_default();
    println!("\nlast line: {last}\npeak: {}", peak_kb());
}

/// What the kernel says this process ever held, in kilobytes.
fn peak_kb() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn hostile_files_end_with_a_clear_word_in_bounded_memory() {
    for case in CASES {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "import::hostile::child_reads_one_hostile_file", "--nocapture", "--test-threads=1"])
            .env(CASE, case.name)
            .output()
            .unwrap();
        let out = String::from_utf8(child.stdout).unwrap();
        let told = |key: &str| out.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default().to_owned();
        let (last, peak) = (told("last line: "), told("peak: ").parse::<u64>().unwrap_or(0));
        assert!(last.contains(case.expected), "{}: {last}", case.name);
        assert!(peak > 0 && peak < PEAK_KB_MAX, "{}: {peak} kB", case.name);
    }
}
