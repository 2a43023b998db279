// What to type to connect a client. Tokens are read from the data folder, never written into a command.

/** Not MATERIA_TOKEN: every variable with that prefix is a setting of the server, and unknown ones are refused. */
const READ_TOKEN = 'TOKEN=$(cat "${MATERIA_DATA:-$HOME/.local/share/materia}/token")';

export interface ClientTexts {
  claudeDesktop: string;
  claudeCodeStdio: string;
  claudeCodeHttp: string;
  vsCode: string;
  inspector: string;
  curl: string;
}

/** `origin` is where the server is, such as `http://127.0.0.1:8787`. */
export function clientTexts(origin: string, tokenPrompt: string): ClientTexts {
  const mcp = `${origin}/mcp`;
  return {
    claudeDesktop: [
      '{',
      '  "mcpServers": {',
      '    "materia": { "command": "materia", "args": ["mcp", "--agent", "claude"] }',
      '  }',
      '}',
    ].join('\n'),
    claudeCodeStdio: 'claude mcp add materia -- materia mcp --agent claude',
    claudeCodeHttp: [
      'KEY=$(materia key create --actor claude --role agent --json | sed \'s/.*"key":"\\([^"]*\\)".*/\\1/\')',
      `claude mcp add --transport http materia ${mcp} \\`,
      '  --header "Authorization: Bearer $KEY"',
    ].join('\n'),
    vsCode: JSON.stringify(
      {
        inputs: [{ type: 'promptString', id: 'materia_token', description: tokenPrompt, password: true }],
        servers: { materia: { type: 'http', url: mcp, headers: { Authorization: 'Bearer ${input:materia_token}' } } },
      },
      null,
      2,
    ),
    inspector: 'npx @modelcontextprotocol/inspector --cli materia mcp --method tools/list',
    curl: [
      READ_TOKEN,
      `curl -s ${origin}/api/tools/list_artifact_types \\`,
      '  -H "Authorization: Bearer $TOKEN" \\',
      "  -H 'Content-Type: application/json' -d '{}'",
    ].join('\n'),
  };
}
