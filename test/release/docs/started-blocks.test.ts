import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { linkCheckout, runUntil } from "../../support/block-runs.ts";
import { blocksOfPages } from "../../support/code-blocks.ts";
import { freePort } from "../../support/free-port.ts";
import { temporaryFolder } from "../../support/main-process.ts";
import { startReceiver } from "../../support/receivers.ts";
import { createDatabase } from "../../support/test-service.ts";

/** The address that pages write for a reader's own database. */
const DATABASE = "postgres://user:password@host:5432/partner_orders?sslmode=verify-full";
const COLLECTOR = "http://collector:4318";
/** On a busy machine: the documentation is built first if it has changed. */
const BUILD_MS = 300_000;
const STARTED = /Partner Orders is running|"msg":"ready"|Local:.*http:\/\/localhost:/;

/** The blocks that start a service. Pages may have the same one. */
const STARTS = [
  ...Map.groupBy(
    blocksOfPages("start").flatMap(([path, blocks]) => blocks.map(({ code }) => ({ path, code }))),
    ({ code }) => code,
  ),
].map(([code, pages]): [string, string] => [
  `${pages.map(({ path }) => path).join()}: ${code.trim().split("\n").at(-1)}`,
  code,
]);

/** `npm start` builds what has changed, so it runs in the checkout itself, with data of its own. The others may write files. */
async function placeOf(code: string): Promise<{ folder: string; environment: Record<string, string> }> {
  const ports = { PORT: "0", BACK_OFFICE_PORT: String(await freePort()) };
  if (/\bnpm start\b/.test(code))
    return { folder: ".", environment: { ...ports, DATA_DIR: await temporaryFolder() } };
  const folder = await linkCheckout();
  await mkdir(join(folder, ".data"));
  await writeFile(join(folder, ".data/operator-token"), "operator-token-of-a-running-service");
  return { folder, environment: ports };
}

describe("the blocks that start a service", () => {
  it("are found", () => expect(STARTS.length).toBeGreaterThanOrEqual(4));

  it.each(STARTS)("%s: it starts, and stops by Ctrl-C", { timeout: BUILD_MS }, async (_name, code) => {
    const collector = await startReceiver();
    onTestFinished(collector.close);
    const output = await runUntil(
      STARTED,
      code.replace(DATABASE, await createDatabase()).replace(COLLECTOR, new URL(collector.url).origin),
      await placeOf(code),
    );
    expect(output).not.toMatch(/"level":"(?:error|fatal)"|\bError:/);
    if (code.includes(COLLECTOR)) expect(collector.requests.map(({ path }) => path)).toContain("/v1/metrics");
  });
});
