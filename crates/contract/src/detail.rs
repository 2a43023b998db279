//! How much an answer says: as much as a model can read at once, or everything.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// `brief` is what an answer is without this field: the gravest first, as many as fit; `left_out` says what did not. Said where
// the field stands: words on the choices would make errors about them longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Detail {
    Brief,
    Full,
}

/// What a brief answer left out, and how to get it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    // Rows that are not shown, and what to send to get what is left out. Catalogues have no room to say so.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rows: usize,
    pub how: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// How many tokens of a language model a text has, rather too many than too few: three ASCII characters a token, and one for
/// each other character, such as Thai letters and their marks.
pub fn tokens(text: &str) -> usize {
    let (n_ascii, n_others) = text.chars().fold((0_usize, 0_usize), |(n_ascii, n_others), c| {
        if c.is_ascii() { (n_ascii + 1, n_others) } else { (n_ascii, n_others + 1) }
    });
    n_ascii.div_ceil(3) + n_others
}
