//! Documents that would pass a check by how they are written, and honest ones beside them.

use super::*;

const HOW: &str = "is written as no placeholder is; write the placeholder alone, in capitals and with no mark inside";
const LEFT: &str = "TODO: say who decides. [fill in]";

/// The document of the story with a text as its appendix, which begins in line 123, fails CC-03 with these problems.
fn check_unfilled(appendix: &str, expected: &[String]) {
    let (head, _) = PRD_006.split_once("## Appendix\n\nNone.").unwrap();
    let text = format!("{head}## Appendix\n\n{appendix}\n");
    let details = expected.join("; ");
    let failed: &[(&str, &str)] = if expected.is_empty() { &[] } else { &[("CC-03", &details)] };
    check_text(&text, failed);
}

/// A text with `LEFT` for `@`: it fails where that stands, and passes with other words there.
fn check_left(text: &str) {
    let line = 123 + text.split('@').next().unwrap().matches('\n').count();
    let problem = |what: &str| format!("line {line}: `{what}` is not filled in");
    check_unfilled(&text.replace('@', LEFT), &[problem("[fill in]"), problem("TODO")]);
    check_unfilled(&text.replace('@', "Who decides is said above."), &[]);
}

#[test]
fn what_a_reader_sees_as_text_is_no_code_to_the_checks() {
    for text in [
        "@",
        // A fence as an item, with its end, and without one.
        "- ```\n  make\n  ```\n\n@",
        "1. ```sh\n   make\n   ```\n\n@",
        "* ~~~\n  make\n  ~~~\n@",
        "- > ```\n  > make\n  > ```\n\n@",
        "- ```\n@",
        "1. Run:\n\n   ```sh\n   make\nmake install\n   ```\n\n@",
        // A quote ends, and with it the code in it.
        "> ```\n> make\n\n@",
        "> ```\n@",
        // Too far in for a fence.
        "    ```\n\n@",
        "Text\n    ```\n@",
        // HTML is shown as it is, with the fences in it.
        "<pre>\n```\n</pre>\n\n@",
        "<div>\n```\n</div>\n\n@",
        "<details>\n~~~\n@\n</details>",
        "<!--\n```\n-->\n\n@",
        "- <!--\n  ```\n  -->\n\n@",
        // The backticks of a line pair with others than its own.
        "a ` b\nc ` @ ` d",
        "<a title='`'> @ `",
        "| a ` | @ | ` b |\n|---|---|---|",
        "| a | b | c |\n|---|---|---|\n| ` | @ | ` |",
        "- a `\n- b ` @ ` c",
        "\\` @ `",
        // As the pages have it.
        "```\nmake\n```~~~\n@\n```",
        "[x]:\n```\n@\n```",
        "[x]: y\n*\n  ```\ntext\n\n@",
        "- ```x```\n  ```\ntext\n  ```\n\n@",
        "see www.x.org/` @ `",
        "1. a | `\n--- | ---\n` b | @ `",
        // Some programs end a line at CR.
        "a\r```\r@\r```",
    ] {
        check_left(text);
    }
}

#[test]
fn what_every_reader_sees_as_code_is_left_alone() {
    for text in [
        "```\n@\n```",
        "~~~~ sh\n@\n~~~\n~~~~",
        "- ```\n  @\n  ```\n\ntext",
        "1. ```sh\n   @\n   ```\n2. ```sh\n   @\n   ```",
        "1. Run:\n\n   ```sh\n   @\n   ```\n\n   and then\n\n   ```\n   @\n   ```",
        "- Run:\n\n    ```sh\n    @\n    ```",
        "> ```\n> @\n> ```\n\ntext",
        "`@` and ``a ` @``, then `@`",
        "| a | `@` |\n|---|---|\n| `@` | b |",
        "see https://x.org/a and `@`",
        "<pre>\nmake\n</pre>\n\n```\n@\n```",
        "```\r\n@\r\n```\r\n",
        "[x]: y\n[z]: https://x.org\n\n```\n@\n```",
        "- [ ] Task [A]: with\n- [x] `@`",
    ] {
        check_unfilled(&text.replace('@', LEFT), &[]);
    }
}

#[test]
fn a_placeholder_is_seen_through_letters_that_nobody_sees_and_letters_that_look_alike() {
    for word in [
        "HLS-A\u{200b}AA",
        "HLS-A\u{fe0f}AA",
        "HLS-A\u{34f}AA",
        "HLS-A\u{e0041}AA",
        "HLS\u{180e}-AAA",
        "H\u{3164}LS-AAA",
        "HLS-A\u{e0100}AA",
        "\u{13bb}LS-AAA",
        "HLS-\u{410}A\u{391}",
        "HLS-\u{15c5}AA",
        "H\u{13de}\u{13da}-AAA",
        "ＨＬＳ-ＡＡＡ",
        "HLS-𝐀𝐀𝐀",
    ] {
        check_unfilled(&format!("and\nafter {word}."), &[format!("line 124: `HLS-AAA` {HOW}")]);
    }
    let odd = "is neither an id nor a placeholder; write an id, or one capital three times as in HLS-AAA";
    check_unfilled("after HLS-\u{422}BD", &[format!("line 123: `HLS-TBD` {odd}")]);
    for (word, told) in [
        ("T\u{200b}BD", "TBD"),
        ("TO\u{e0044}DO", "TODO"),
        ("\u{422}\u{412}D", "TBD"),
        ("ＴＯＤＯ", "TODO"),
        ("**TO**DO", "TODO"),
        ("_TBD_", "TBD"),
        ("[\u{200b}fill in]", "[fill in]"),
        ("［fill in］", "[fill in]"),
        ("[**fill in**]", "[fill in]"),
        ("&#91;fill in&#93;", "[fill in]"),
    ] {
        check_unfilled(word, &[format!("line 123: `{told}` is not filled in")]);
    }
    for text in [
        "⚠\u{fe0f} HLS-AAA first, ✔\u{fe0f} then HLS-BBB",
        "ฟ้า\u{200b}ทะลาย\u{200b}โจร before HLS-AAA, ๐ and ๑",
        "ᎻᎳ, НЛС and ΗΛΣ are words of their own, HLS-AAA is not one of them",
        "ＨＬＳ in full width, and 𝐀 of a formula",
        "e\u{301}tude of HLS-AAA, naïve",
        "HLS-AAA\u{2060}, HLS-BBB",
        "[**bold**](https://x.org) and [_note_][n]",
    ] {
        check_unfilled(text, &[]);
    }
}

#[test]
fn an_id_is_looked_up_as_a_reader_sees_it() {
    for id in ["PRD-0\u{200b}09", "\u{420}RD-009", "PRD\u{2011}009", "ＰＲＤ-009"] {
        let text = PRD_006.replacen("EPIC-006\n\n## Appendix", &format!("EPIC-006, {id}\n\n## Appendix"), 1);
        check_text(&text, &[("UT-06", "line 119: PRD-009 is not stored in this project")]);
    }
    for id in ["EPIC\u{2011}006", "EPIC-00\u{200b}6"] {
        check_change("EPIC-006\n\n## Appendix", &format!("{id}\n\n## Appendix"), &[]);
    }
}

#[test]
fn a_heading_that_no_reader_sees_heads_nothing() {
    let missing = [("CQ-01", "Found 7/8 required sections; missing: Timeline & Milestones")];
    for text in ["<div>\n## Timeline & Milestones\n</div>", "> ## Timeline & Milestones", "\\## Timeline & Milestones"]
    {
        check_change("## Timeline & Milestones", text, &missing);
    }
    check_change("## Timeline & Milestones", "<div></div>\n\n## Timeline & Milestones", &[]);
}
