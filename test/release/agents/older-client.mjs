// The client of the protocol before 2026, with which most agents are built: the hosted address, and the program on stdio.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { API = "", KEY = "", PROGRAM = "" } = process.env;
const requestInit = { headers: { authorization: `Bearer ${KEY}` } };
const transports = {
  http: new StreamableHTTPClientTransport(new URL("/v1/mcp", API), { requestInit }),
  stdio: new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, "mcp"],
    env: { HOME: "/nowhere", PARTNER_ORDERS_API: API, PARTNER_ORDERS_KEY: KEY },
  }),
};

const seen = {};
for (const [name, transport] of Object.entries(transports)) {
  const client = new Client({ name: "older", version: "1.0.0" });
  const errors = [];
  client.onerror = (error) => errors.push(error.message);
  await client.connect(transport);
  const { tools } = await client.listTools();
  const me = await client.callTool({ name: "get_connection", arguments: {} });
  const missing = await client.callTool({ name: "get_order", arguments: { orderId: "nothing" } });
  await client.close();
  seen[name] = {
    tools: tools.map((tool) => tool.name),
    id: me.structuredContent.id,
    code: JSON.parse(missing.content[0].text).code,
    errors,
  };
}
process.stdout.write(JSON.stringify(seen));
