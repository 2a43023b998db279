// Exchanges the token of the start URL for a session cookie, then shows that the server answers.
"use strict";

async function start() {
  const status = document.getElementById("status");
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    // The fragment never left the browser; it must not stay in the history either.
    history.replaceState(null, "", location.pathname);
    const opened = await fetch("/session", { method: "POST", headers: { Authorization: `Bearer ${token}` } });
    if (!opened.ok) {
      status.textContent = "The token of the start URL is not known here. Copy the URL that the server printed.";
      return;
    }
  }
  const answer = await fetch("/api/tools/list_artifact_types", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: "{}",
  });
  if (answer.status === 401) {
    status.textContent = "Open the URL that the server printed at its start: it carries your token.";
    return;
  }
  const { artifact_types: types, audit } = await answer.json();
  status.textContent = `It answers. This page's own call is recorded; its output hash is ${audit.out_hash.slice(0, 16)}….`;
  const table = document.getElementById("types");
  for (const type of types) {
    const row = table.tBodies[0].insertRow();
    // Some types are known by their file names and have no ids.
    const ids = type.prefix ? `${type.prefix}-001 …` : "";
    for (const text of [type.name, ids, type.about]) {
      row.insertCell().textContent = text;
    }
  }
  table.hidden = false;
}

start().catch(() => {
  document.getElementById("status").textContent = "The server does not answer. Is it still running?";
});
