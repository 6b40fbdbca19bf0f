import { execFile } from "node:child_process";
import { createServer, request as send } from "node:http";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { packageFolder } from "../../../scripts/install-packages.ts";
import { createKey } from "../../support/builders.ts";
import { freePort } from "../../support/free-port.ts";
import { NODE_ENVIRONMENT } from "../../support/node-environment.ts";
import { startPartnerListener } from "../../support/partner-listener.ts";

// docs/design/api-conventions.md, "Agents"

const run = promisify(execFile);

/** A partner's listener, its test key, and an address in front of it that adds the key. */
async function startForAgents() {
  const port = await freePort();
  const wire = await startPartnerListener({ config: { baseUrl: `http://127.0.0.1:${port}` } });
  const { key } = await createKey(wire.test, wire.partner.connectionId, { mode: "test" });
  const front = createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${key}` };
    const options = { method: request.method, headers };
    request.pipe(
      send(new URL(request.url ?? "/", wire.url), options, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      }),
    );
  });
  await new Promise<void>((listening) => front.listen(port, "127.0.0.1", listening));
  onTestFinished(async () => {
    front.closeAllConnections();
    front.close();
    await wire.close();
  });
  return { wire, key, address: `http://127.0.0.1:${port}/v1/mcp` };
}

/**
 * The scenarios of the conformance suite that any server can pass. All others call tools, prompts and resources of the suite's own
 * server, or need what a server without sessions does not have: logging, completion, sampling, elicitation, progress and streams.
 */
const SCENARIOS = ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"];

it("the conformance suite passes, and the client of older agents works over HTTP and on stdio without an error", async () => {
  const { wire, key, address } = await startForAgents();
  const suite = packageFolder("test/release", "@modelcontextprotocol/conformance");
  const program = resolve(String(suite), "dist/index.js");
  for (const scenario of SCENARIOS) {
    const options = ["server", "--url", address, "--scenario", scenario];
    const { stdout } = await run(process.execPath, [program, ...options]);
    expect(stdout, scenario).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/);
  }
  const client = await run(process.execPath, ["test/release/agents/older-client.mjs"], {
    env: { ...NODE_ENVIRONMENT, API: wire.url, KEY: key, PROGRAM: resolve("packages/cli/src/main.ts") },
  });
  const { http, stdio } = JSON.parse(client.stdout);
  expect(http).toMatchObject({ id: wire.partner.connectionId, code: "not-found", errors: [] });
  expect(http.tools).toContain("place_test_order");
  expect(stdio).toEqual(http);
});
