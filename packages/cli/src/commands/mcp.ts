import { finished } from "node:stream/promises";
import type { Command } from "commander";
import type { ApiDocument } from "../../../mcp/schemas.ts";
import { Ended, EXIT, UsageError } from "../exit.ts";
import { action } from "../session.ts";

/** As the service itself serves agents (docs/design/api-conventions.md, "Agents"). */
export function addMcpCommand(program: Command): void {
  program
    .command("mcp")
    .description("Serve the tools for coding agents on standard input and output.")
    .addHelpText(
      "after",
      "\nYour agent starts it, with the key in its environment; see docs/partners/agents.md.\nIt ends when standard input ends. Messages for people are on standard error.",
    )
    .action(
      action(async ({ client }) => {
        const { key, liveAgents } = await client.me();
        const isLive = key.mode === "live";
        if (isLive && !liveAgents)
          throw new UsageError(
            "Agents may not use live keys of this connection. Use a test key, or ask the merchant to permit it (liveAgents).",
          );
        // The schemas of the service, so that they fit what it returns, whatever version it has.
        const document = (await client.openApi()) as unknown as ApiDocument; // The SDK leaves its members open.
        // Other commands start without the libraries.
        const [{ serveStdio }, { mcpServers }] = await Promise.all([
          import("@modelcontextprotocol/server/stdio"),
          import("../../../mcp/server.ts"),
        ]);
        const serverFor = mcpServers(document);
        serveStdio(() => serverFor({ api: client, isLive }));
        await finished(process.stdin, { writable: false }).catch(() => undefined);
        throw new Ended(EXIT.ok);
      }),
    );
}
