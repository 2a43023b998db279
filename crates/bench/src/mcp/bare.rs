//! The reference: an rmcp server with one tool and nothing else, set up as well as the library allows. No sessions,
//! JSON answers, one router for all requests, no waiting for delayed acknowledgements.

use std::io::Write as _;
use std::sync::Arc;

use anyhow::Context as _;
use axum::serve::ListenerExt as _;
use contract::workflow::ArtifactTypes;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Json;
use rmcp::model::{ServerCapabilities, ServerConfig};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use serde_json::json;

/// Cloned for every request, so all it holds is shared.
#[derive(Clone)]
struct Bare {
    output: Arc<ArtifactTypes>,
    tool_router: Arc<ToolRouter<Bare>>,
}

#[tool_router]
impl Bare {
    fn new() -> anyhow::Result<Bare> {
        let catalogue = workflow::catalogue::Catalogue::built_in().context("the built-in document types are wrong")?;
        let output = ArtifactTypes { artifact_types: catalogue.types().iter().map(Into::into).collect() };
        Ok(Bare { output: Arc::new(output), tool_router: Arc::new(Bare::tool_router()) })
    }

    #[tool(description = "List the document types with their names, id prefixes and folders.")]
    fn list_artifact_types(&self) -> Json<ArtifactTypes> {
        Json(ArtifactTypes::clone(&self.output))
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

pub async fn serve() -> anyhow::Result<()> {
    let bare = Bare::new()?;
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = false;
    config.json_response = true;
    let service =
        StreamableHttpService::new(move || Ok(bare.clone()), Arc::new(LocalSessionManager::default()), config);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.context("no free port")?;
    let ready = json!({ "ready": true, "http": listener.local_addr()?.to_string() });
    writeln!(std::io::stdout(), "{ready}")?;
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await.context("the server ended")
}
