//! `kg_network_neighborhood`: how several things hang together, to read and to look at.

use std::collections::BTreeSet;

use contract::actor::Role;
use contract::envelope::Content;
use contract::error::OpError;
use contract::evidence::network::KgNetworkNeighborhood;
use evidence::graph::NodeNumber;
use evidence::network;
use evidence::resolve::{resolve, resolve_all};

use super::{elsewhere, graph, show_network, unresolved};
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read};

impl Operation for KgNetworkNeighborhood {
    const NAME: &'static str = "kg_network_neighborhood";
    const ABOUT: &'static str = "Get what the evidence graph says between two or more things, and what they have in common, \
        with a picture of it.";
    const FAMILY: Family = Family::Evidence;
    const ROLES: &'static [Role] = &Role::ALL;

    type Output = Content;
}

impl Read for KgNetworkNeighborhood {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<Content>, OpError> {
        let graph = graph(ctx, None).await?;
        let id = |curie: &String| match resolve(&graph, curie, None) {
            Ok(node) => graph.nodes().id(node).to_owned(),
            Err(_) => curie.clone(),
        };
        let ids: BTreeSet<String> = self.curies.iter().map(id).collect();
        let ids: Vec<String> = ids.into_iter().collect();
        if ids.len() >= 2
            && let Some(elsewhere) = elsewhere::ask(ctx, &ids).await?
        {
            let things: Vec<Vec<NodeNumber>> = elsewhere.nodes.iter().map(|node| vec![*node]).collect();
            return elsewhere.answer(&ids.join(", "), |graph| network::neighbourhood(graph, &things));
        }
        let mut things: Vec<Vec<NodeNumber>> = Vec::with_capacity(self.curies.len());
        for (at, curie) in self.curies.iter().enumerate() {
            let found = resolve_all(&graph, curie, None);
            let (node, same) = found.map_err(|error| unresolved(&format!("curies/{at}"), &error))?;
            if !things.iter().flatten().any(|known| *known == node) {
                things.push(std::iter::once(node).chain(same).collect());
            }
        }
        if things.len() < 2 {
            return Err(OpError::invalid("curies", "at least two different things"));
        }
        let names = things.iter().filter_map(|thing| thing.first());
        let names: Vec<String> = names.map(|node| graph.nodes().id(*node).to_owned()).collect();
        show_network(ctx, &graph, &network::neighbourhood(&graph, &things), &names.join(", ")).await
    }
}
