//! `kg_network_neighborhood`: how several things hang together, to read and to look at.

use std::collections::BTreeSet;
use std::sync::Arc;

use contract::actor::Role;
use contract::envelope::Content;
use contract::error::OpError;
use contract::evidence::network::KgNetworkNeighborhood;
use evidence::graph::NodeNumber;
use evidence::network;
use evidence::resolve::{Meant, namesakes, resolve};

use super::{elsewhere, graph, look, show_network};
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
        let recorded = graph(ctx, None).await?;
        let joined = elsewhere::join(ctx, Arc::clone(&recorded), &self.curies).await?;
        let graph = &joined.graph;
        let mut asked: Vec<(String, Meant)> = Vec::with_capacity(self.curies.len());
        let mut notes = Vec::new();
        for (at, curie) in self.curies.iter().enumerate() {
            // What is meant here stays so, whatever others call by that name.
            let found = resolve(&recorded, curie, None).or_else(|_| resolve(graph, curie, None));
            let meant = found.map_err(|error| joined.said.unresolved(&format!("curies/{at}"), &error))?;
            if !asked.iter().any(|(_, known)| known.node == meant.node) {
                notes.extend(meant.note(graph, curie));
                asked.push((curie.clone(), meant));
            }
        }
        if asked.len() < 2 {
            return Err(OpError::invalid("curies", "at least two different things"));
        }
        // Who has the name of another one and was asked for too is a thing of its own.
        let is_asked = |node: &NodeNumber| asked.iter().any(|(_, meant)| meant.node == *node);
        let thing = |(_, meant): &(String, Meant)| {
            let others = meant.others.iter().copied().filter(|node| !is_asked(node));
            std::iter::once(meant.node).chain(others).collect()
        };
        let things: Vec<Vec<NodeNumber>> = asked.iter().map(thing).collect();
        let names = things.iter().filter_map(|thing| thing.first());
        let names: Vec<String> = names.map(|node| graph.nodes().id(*node).to_owned()).collect();
        let looked = look(ctx, graph, move |graph| {
            let concerned = things.iter().flat_map(|thing| network::concerned(graph, thing));
            let concerned: BTreeSet<NodeNumber> = concerned.collect();
            let is_told = |node| concerned.contains(&node);
            let others = asked.iter().filter_map(|(curie, meant)| namesakes(graph, curie, meant, None, is_told));
            let of_classes = things.iter().filter_map(|thing| network::class_note(graph, thing, things.len()));
            (others.chain(of_classes).collect::<Vec<String>>(), network::neighbourhood(graph, &things))
        });
        let (others, network) = looked.await?;
        notes.extend(others);
        show_network(ctx, joined, &network, &names.join(", "), notes).await
    }
}
