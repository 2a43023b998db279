//! `kg_get_everything`: everything that is said of a thing, to read and to look at.

use std::sync::Arc;

use contract::actor::Role;
use contract::envelope::Content;
use contract::error::OpError;
use contract::evidence::network::KgGetEverything;
use evidence::network;
use evidence::resolve::{namesakes, resolve};

use super::{elsewhere, graph, look, show_network};
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read};

impl Operation for KgGetEverything {
    const NAME: &'static str = "kg_get_everything";
    const ABOUT: &'static str =
        "Get everything the evidence graph says of one thing, in both directions, with a picture of it.";
    const FAMILY: Family = Family::Evidence;
    const ROLES: &'static [Role] = &Role::ALL;

    type Output = Content;
}

impl Read for KgGetEverything {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<Content>, OpError> {
        let graph = graph(ctx, None).await?;
        let found = resolve(&graph, &self.curie, None);
        let joined = elsewhere::join(ctx, Arc::clone(&graph), std::slice::from_ref(&self.curie)).await?;
        let graph = &joined.graph;
        // What is meant here stays so, whatever others call by that name.
        let found = found.or_else(|_| resolve(graph, &self.curie, None));
        let meant = found.map_err(|error| joined.said.unresolved("curie", &error))?;
        let title = network::named(graph, meant.node);
        let thing = meant.nodes();
        let mut notes: Vec<String> = meant.note(graph, &self.curie).into_iter().collect();
        let word = self.curie.clone();
        let looked = look(ctx, graph, move |graph| {
            let concerned = network::concerned(graph, &thing);
            let others = namesakes(graph, &word, &meant, None, |node| concerned.contains(&node));
            let notes = others.into_iter().chain(network::class_note(graph, &thing, 1));
            (notes.collect::<Vec<String>>(), network::everything(graph, &thing))
        });
        let (others, network) = looked.await?;
        notes.extend(others);
        show_network(ctx, joined, &network, &title, notes).await
    }
}
