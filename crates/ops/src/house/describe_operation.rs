//! `describe_operation`: the schemas, roles and family of one operation.

use contract::actor::Role;
use contract::describe::{DescribeOperation, OperationDescription};
use contract::error::OpError;

use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read};

impl Operation for DescribeOperation {
    const NAME: &'static str = "describe_operation";
    const ABOUT: &'static str = "Show the input and output schema of one operation, its family and who may call it.";
    const FAMILY: Family = Family::House;
    const ROLES: &'static [Role] = &Role::ALL;

    type Output = OperationDescription;
}

impl Read for DescribeOperation {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<OperationDescription>, OpError> {
        let Some(tool) = ctx.table().find(self.name.as_str()) else {
            return Err(OpError::not_found(format!("no operation `{}`", self.name)));
        };
        Ok(Answer::of(OperationDescription {
            name: tool.entry.name.to_owned(),
            family: tool.entry.family.name().to_owned(),
            about: tool.entry.about.to_owned(),
            is_read_only: !tool.entry.is_write,
            roles: tool.entry.roles.iter().map(|role| role.name().to_owned()).collect(),
            scope: tool.scope.as_ref().map(ToString::to_string),
            input_schema: (*tool.input_schema).clone(),
            output_schema: (*tool.output_schema).clone(),
        }))
    }
}
