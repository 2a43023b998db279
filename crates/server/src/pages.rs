//! Pages for people: the start page and the list of operations. Plain HTML, no script from elsewhere.

use std::sync::Arc;

use axum::Extension;
use axum::Router;
use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use ops::Table;
use serde_json::{Value, json};

use crate::auth::{Authenticator, Caller, SESSION_COOKIE};
use crate::edge::answer;
use crate::owner::House;
use crate::rest::openapi;
use crate::web;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

#[derive(Clone)]
pub struct Pages {
    authenticator: Arc<Authenticator>,
    /// Written once: they follow from the table, and anybody may ask for them.
    openapi: bytes::Bytes,
    operations: bytes::Bytes,
}

impl Pages {
    pub fn new(house: &House, authenticator: Arc<Authenticator>) -> Pages {
        let openapi = openapi::document(house.table()).to_string();
        Pages { authenticator, openapi: openapi.into(), operations: operations_html(house.table()).into() }
    }
}

/// Pages anybody may see who reaches the port. They show nothing that the source code does not.
pub fn open_routes(pages: Pages) -> Router {
    Router::new()
        .route("/", get(start))
        .route("/start.js", get(|| async { asset("text/javascript", include_str!("pages/start.js")) }))
        .route("/style.css", get(|| async { asset("text/css", include_str!("pages/style.css")) }))
        .route("/favicon.svg", get(|| async { asset("image/svg+xml", include_str!("pages/favicon.svg")) }))
        .route("/api", get(operations))
        .route("/api/openapi.json", get(document))
        .fallback(web::find)
        .with_state(pages)
}

/// What needs a token: exchanging it for a session, and ending the session.
pub fn protected_routes(pages: Pages) -> Router {
    Router::new().route("/session", post(open_session).delete(close_session)).with_state(pages)
}

fn asset(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

fn page(title: &str, body: &str) -> String {
    let html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <link rel=\"stylesheet\" href=\"/style.css\">\n<link rel=\"icon\" href=\"/favicon.svg\">\n</head>\n\
         <body>\n{body}</body>\n</html>\n"
    );
    html
}

fn served(html: impl Into<axum::body::Body>) -> Response {
    let mut response = Html(html.into()).into_response();
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}

async fn start(headers: HeaderMap) -> Response {
    web::index(StatusCode::OK, &headers).unwrap_or_else(|| served(page("Materia", include_str!("pages/start.html"))))
}

async fn document(State(pages): State<Pages>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], pages.openapi).into_response()
}

async fn operations(State(pages): State<Pages>) -> Response {
    served(pages.operations)
}

/// Every operation with its schemas, for people.
fn operations_html(table: &Table) -> String {
    let mut body = String::from(
        "<header><h1><a href=\"/\">Materia</a> operations</h1>\n<p>Each one is a REST call at \
         <code>POST /api/tools/{name}</code>. Those marked <span class=\"tag\">tool</span> are also tools for agents at \
         <code>/mcp</code>; the others serve the pages, the command line and programs. \
         <a href=\"/api/openapi.json\">OpenAPI 3.1</a></p></header>\n<main>\n",
    );
    for tool in table.all() {
        let entry = tool.entry;
        let kind = if entry.is_write { "write" } else { "read" };
        let tool_tag = if entry.is_tool { " <span class=\"tag\">tool</span>" } else { "" };
        let roles: Vec<&str> = entry.roles.iter().map(|role| role.name()).collect();
        let pretty = |schema: &contract::schema::SchemaObject| {
            escape(&serde_json::to_string_pretty(&Value::Object(schema.clone())).unwrap_or_default())
        };
        body.push_str(&format!(
            "<section id=\"{name}\"><h2><code>{name}</code> <span class=\"tag\">{family}</span> \
             <span class=\"tag {kind}\">{kind}</span>{tool_tag}</h2>\n<p>{about}</p>\n<p class=\"quiet\">Roles: {roles}</p>\n\
             <details><summary>Input</summary><pre>{input}</pre></details>\n\
             <details><summary>Output</summary><pre>{output}</pre></details></section>\n",
            name = entry.name,
            family = entry.family.name(),
            about = escape(entry.about),
            roles = roles.join(", "),
            input = pretty(&tool.input_schema),
            output = pretty(&tool.output_schema),
        ));
    }
    body.push_str("</main>\n");
    page("Materia operations", &body)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

async fn close_session(State(pages): State<Pages>, headers: HeaderMap) -> Response {
    pages.authenticator.close_session(&headers);
    let mut response = StatusCode::NO_CONTENT.into_response();
    let cookie = format!("{SESSION_COOKIE}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

async fn open_session(State(pages): State<Pages>, Extension(caller): Extension<Caller>) -> Response {
    let actor = caller.actor.clone();
    let Some(session) = pages.authenticator.open_session(caller) else {
        let body = json!({ "error": { "code": "BUSY", "message": "too many sessions are open" } });
        return answer(StatusCode::SERVICE_UNAVAILABLE, &body);
    };
    let mut response = answer(StatusCode::OK, &json!({ "actor": actor.id, "organisation_id": actor.organisation_id }));
    let cookie = format!("{SESSION_COOKIE}={session}; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}
