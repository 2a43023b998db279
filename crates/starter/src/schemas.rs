//! The JSON Schemas of the files, made from the types that read them.

use contract::schema::{SchemaObject, tool_schema};

use crate::rows::*;

/// What a file or line holds, and its schema.
pub fn all() -> Vec<(&'static str, SchemaObject)> {
    vec![
        ("ambiguous_name", tool_schema::<AmbiguousName>()),
        ("class", tool_schema::<ClassRow>()),
        ("condition", tool_schema::<ConditionRow>()),
        ("constituent", tool_schema::<ConstituentRow>()),
        ("drug", tool_schema::<DrugRow>()),
        ("formulation", tool_schema::<FormulationFile>()),
        ("herb", tool_schema::<HerbFile>()),
        ("instrument", tool_schema::<InstrumentFile>()),
        ("interaction", tool_schema::<InteractionRow>()),
        ("paper", tool_schema::<PaperRow>()),
        ("question", tool_schema::<QuestionRow>()),
        ("rules", tool_schema::<Rules>()),
        ("source", tool_schema::<SourceRow>()),
        ("substance", tool_schema::<SubstanceRow>()),
    ]
}
