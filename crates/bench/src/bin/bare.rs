//! The reference of `bench mcp` as anybody would build it: with the allocator of the system.

#[path = "../mcp/bare.rs"]
mod bare;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    bare::serve().await
}
