"""Lists the tools of one server and calls one of them, in both protocol eras, with the FastMCP client.

The only argument is JSON: {"url", "token"?} or {"command", "args"}, and {"tool", "arguments"}.
Prints one JSON line per era: {"era", "protocol", "tools", "structured"}.
"""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

ERAS = {"legacy": "legacy", "modern": "2026-07-28"}


def transport(target):
    if "url" in target:
        return StreamableHttpTransport(target["url"], auth=target.get("token"))
    # Not kept alive, or the server would outlive the client's `async with`.
    return StdioTransport(target["command"], target["args"], keep_alive=False)


async def main(target):
    for era, mode in ERAS.items():
        async with Client(transport(target), mode=mode, timeout=20) as client:
            tools = await client.list_tools()
            result = await client.call_tool(target["tool"], target["arguments"])
            print(
                json.dumps(
                    {
                        "era": era,
                        "protocol": client.protocol_version,
                        "tools": [tool.name for tool in tools],
                        "structured": result.structured_content,
                    }
                ),
                flush=True,
            )


asyncio.run(main(json.loads(sys.argv[1])))
