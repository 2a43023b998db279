//! The surfaces: MCP, REST, the task and id services, the command line. Each one translates and calls the door; none decides.

pub mod assemble;
pub mod auth;
pub mod cli;
pub mod edge;
pub mod eutils;
pub mod grpc;
pub mod health;
pub mod ids_service;
pub mod lexica;
pub mod listen;
pub mod mcp;
pub mod oauth;
pub mod outbound;
pub mod owner;
pub mod pages;
mod remembered;
pub mod remote;
pub mod rest;
mod search;
pub mod serve;
pub mod service;
pub mod settings;
pub mod tasks_service;
pub mod telemetry;
pub mod trapi;
pub mod web;
pub mod witness;
