//! The fields of the text index.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};

pub const WORDS: &str = "words";
pub const GRAMS: &str = "grams";

#[derive(Debug, Clone, Copy)]
pub struct Fields {
    /// `document:PMID:1`: what an entry is replaced and deleted by.
    pub key: Field,
    /// The whole entry as JSON, for showing it.
    pub entry: Field,
    /// Title and text as one: apart, both measured worse.
    pub body: Field,
    pub n_words: Field,
    pub grams: Field,
    pub n_grams: Field,
    /// Ids of the nodes whose names occur.
    pub entities: Field,
    /// Words with a capital letter, for names that sound alike in another script.
    pub names: Field,
    pub record: Field,
    pub kind: Field,
    pub lang: Field,
    pub source: Field,
    pub category: Field,
    pub retraction: Field,
    pub year: Field,
    pub content: Field,
}

impl Fields {
    pub fn schema() -> (Schema, Fields) {
        let mut schema = Schema::builder();
        let analysed = |tokenizer: &str| {
            let indexing = TextFieldIndexing::default();
            // Nothing asks for phrases, so positions are not kept.
            let indexing = indexing.set_tokenizer(tokenizer).set_index_option(IndexRecordOption::WithFreqs);
            TextOptions::default().set_indexing_options(indexing)
        };
        let fields = Fields {
            key: schema.add_text_field("key", STRING | FAST),
            entry: schema.add_text_field("entry", STORED),
            body: schema.add_text_field("body", analysed(WORDS)),
            n_words: schema.add_u64_field("n_words", FAST),
            grams: schema.add_text_field("grams", analysed(GRAMS)),
            n_grams: schema.add_u64_field("n_grams", FAST),
            entities: schema.add_text_field("entities", STRING),
            names: schema.add_text_field("names", STRING),
            record: schema.add_text_field("record", STRING),
            kind: schema.add_text_field("kind", STRING),
            lang: schema.add_text_field("lang", STRING | FAST),
            source: schema.add_text_field("source", STRING),
            category: schema.add_text_field("category", STRING),
            retraction: schema.add_text_field("retraction", STRING),
            year: schema.add_i64_field("year", INDEXED),
            content: schema.add_u64_field("content", FAST),
        };
        (schema.build(), fields)
    }
}
