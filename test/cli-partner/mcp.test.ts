import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createKey } from "../support/builders.ts";
import { NODE_ENVIRONMENT } from "../support/node-environment.ts";
import { startPartnerCli } from "../support/partner-cli.ts";
import { type PartnerListener, startPartnerListener } from "../support/partner-listener.ts";

// docs/design/api-conventions.md, "Agents"

let wire: PartnerListener;
let testKey: string;
beforeAll(async () => {
  wire = await startPartnerListener();
  testKey = (await createKey(wire.test, wire.partner.connectionId, { mode: "test" })).key;
});
afterAll(() => wire.close());

const environment = (key: string) => ({ PARTNER_ORDERS_API: wire.url, PARTNER_ORDERS_KEY: key });

describe("partner-orders mcp", () => {
  it("serves the same tools as the hosted address, and writes nothing but the protocol", async () => {
    const errors: Error[] = [];
    const client = new Client({ name: "test", version: "1.0.0" });
    client.onerror = (error) => errors.push(error);
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: ["packages/cli/src/main.ts", "mcp"],
      env: { ...NODE_ENVIRONMENT, HOME: "/nowhere", ...environment(testKey) },
      stderr: "pipe",
    });
    let printed = "";
    transport.stderr?.on("data", (text: Buffer) => {
      printed += String(text);
    });
    onTestFinished(() => client.close());
    await client.connect(transport);
    const { tools } = await client.listTools();
    const hosted = await wire.test
      .partner(testKey)
      .post("/v1/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" });
    expect(tools.map(({ name }) => name)).toEqual(
      hosted.body.result.tools.map(({ name }: { name: string }) => name),
    );
    const me = await client.callTool({ name: "get_connection", arguments: {} });
    expect(me.structuredContent).toMatchObject({ id: wire.partner.connectionId, key: { mode: "test" } });
    const missing = await client.callTool({ name: "get_order", arguments: { orderId: "nothing" } });
    expect(missing).toMatchObject({ isError: true });
    expect([errors, printed]).toEqual([[], ""]);
  });

  it("ends when standard input ends", async () => {
    const { code, output, errors } = await startPartnerCli(environment(testKey), ["mcp"]).ended();
    expect([code, output, errors]).toEqual([0, "", ""]);
  });

  it("without a key, or with one that agents may not use, says so on standard error", async () => {
    const [without, live, unknown] = await Promise.all([
      startPartnerCli({}, ["mcp"]).ended(),
      startPartnerCli(environment(wire.partner.key), ["mcp"]).ended(),
      startPartnerCli(environment("pok_test_unknown"), ["mcp"]).ended(),
    ]);
    expect([without, live, unknown].map(({ code, output }) => [code, output])).toEqual([
      [2, ""],
      [2, ""],
      [1, ""],
    ]);
    expect(without.errors).toMatch(/^No key is set\. Set PARTNER_ORDERS_API and PARTNER_ORDERS_KEY/);
    expect(live.errors).toMatch(/^Agents may not use live keys/);
    expect(unknown.errors).toMatch(/401 unauthorized/);
  });
});
