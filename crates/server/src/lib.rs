//! The surfaces: MCP, REST, the id service, the command line. Each one translates and calls the door; none decides.

pub mod assemble;
pub mod auth;
pub mod cli;
pub mod edge;
pub mod grpc;
pub mod health;
pub mod ids_service;
pub mod listen;
pub mod mcp;
pub mod oauth;
pub mod outbound;
pub mod owner;
pub mod pages;
pub mod rest;
pub mod serve;
pub mod settings;
pub mod tasks_service;
pub mod telemetry;
pub mod web;
pub mod witness;
