// Lists the tools of one server and calls one of them, in both protocol eras, with the TypeScript SDK's client.
//
// The only argument is JSON: {"url", "token"?} or {"command", "args"}, and {"tool", "arguments"}.
// Prints one JSON line per era: {"era", "protocol", "tools", "structured"}.

import { createRequire } from "node:module";

// An `import` resolves from this file's folder and the packages are elsewhere.
const require = createRequire(`${process.env.MATERIA_TEST_TOOLS}/npm/`);
const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");

const ERAS = { legacy: "legacy", modern: { pin: "2026-07-28" } };

function transport({ url, token, command, args }) {
  if (url === undefined) return new StdioClientTransport({ command, args });
  return new StreamableHTTPClientTransport(new URL(url), token && { authProvider: { token: async () => token } });
}

const target = JSON.parse(process.argv[2]);
for (const [era, mode] of Object.entries(ERAS)) {
  const client = new Client({ name: "materia-tests", version: "1.0.0" }, { versionNegotiation: { mode } });
  await client.connect(transport(target), { timeout: 20_000 });
  const { tools } = await client.listTools();
  const result = await client.callTool({ name: target.tool, arguments: target.arguments });
  console.log(
    JSON.stringify({
      era,
      protocol: client.getNegotiatedProtocolVersion(),
      tools: tools.map((tool) => tool.name),
      structured: result.structuredContent,
    }),
  );
  await client.close();
}
