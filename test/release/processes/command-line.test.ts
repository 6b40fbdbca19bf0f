import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Queryable } from "../../../src/platform/database/database.ts";
import { countBlocked, untilBlocked } from "../../support/blocked.ts";
import { createPartner, type Partner, placeOrder } from "../../support/builders.ts";
import { startCli } from "../../support/cli.ts";
import { temporaryFolder } from "../../support/main-process.ts";
import { NODE_ENVIRONMENT } from "../../support/node-environment.ts";
import { eventually } from "../../support/running-service.ts";
import { dumpTables } from "../../support/tables.ts";
import { createDatabase, startTestService, type TestService } from "../../support/test-service.ts";
import { uuidIn } from "../../support/webhooks.ts";

let test: TestService;
let partner: Partner;
let environment: Record<string, string>;
beforeAll(async () => {
  const databaseUrl = await createDatabase();
  test = await startTestService({ databaseUrl });
  partner = await createPartner(test);
  environment = { DATABASE_URL: databaseUrl, DATA_DIR: join(await mkdtemp(join(tmpdir(), "cli-")), "data") };
});
afterAll(() => test.close());

const run = (args: readonly string[], variables = environment, input = "") => {
  const { child, ended } = startCli(variables, args);
  child.stdin.end(input);
  return ended();
};

describe("node src/cli/main.ts", () => {
  it("ends with the exit code of what it did", async () => {
    const [done, rejected, usage] = await Promise.all([
      run(["merchant", "list"]),
      run(["merchant", "show", "x"]),
      run(["merchant", "list", "--frob"]),
    ]);
    expect(done).toMatchObject({ code: 0, output: expect.stringContaining(partner.merchantId), errors: "" });
    expect(rejected).toMatchObject({
      code: 1,
      output: "",
      errors: "Resource not found: No such merchant.\n",
    });
    expect(usage).toMatchObject({ code: 2, output: "" });
  });

  it("reads an import from a pipe", async () => {
    const rows = rowsOf("P", 2_500, "piped,1.00");
    const args = ["product", "import", "-", "--merchant", partner.merchantId];
    expect(await run(args, environment, `sku,name,price\n${rows}`)).toMatchObject({
      code: 0,
      errors: "",
      output: "created    2500\nchanged    0\nunchanged  0\n",
    });
  });

  it("leaves nothing of an import that is killed while it stores", async () => {
    const before = await dumpTables(test);
    const args = ["product", "import", "-", "--merchant", partner.merchantId];
    const { child, ended } = startCli(environment, args);
    await test.db.transaction(async (tx) => {
      // The first batch goes in, and the second waits for this row.
      const blocked = await createBlockedRow(tx);
      child.stdin.end(`sku,name,price,id\n${rowsOf("K", 1_500, "killed,1.00,")}K,killed,1.00,${blocked}\n`);
      await untilBlocked(test, 1);
      child.kill("SIGKILL");
      expect((await ended()).code).toBeNull();
    });
    await eventually(async () => expect(await countBlocked(test.db)).toBe(0));
    expect(await dumpTables(test)).toEqual(before);
  });

  it("ends quietly when its reader has seen enough", async () => {
    await placeOrder(partner);
    const { child, ended } = startCli(environment, ["order", "export"]);
    child.stdin.end();
    child.stdout.destroy();
    const { code, errors } = await ended();
    expect([code, errors]).toEqual([0, ""]);
  });

  it("reports in one sentence that its output cannot be written, and that a change was made", async () => {
    const [shown, help, created] = await Promise.all([
      runOntoFullDisk(["merchant", "list"]),
      runOntoFullDisk(["--help"]),
      runOntoFullDisk(["key", "create", "--connection", partner.connectionId, "--name", "lost"]),
    ]);
    const cause = "The output cannot be written: ENOSPC: no space left on device, write.";
    for (const { code, errors } of [shown, help]) expect([code, errors]).toEqual([1, `${cause}\n`]);
    const { body } = await test.backOffice.get(`/api/connections/${partner.connectionId}/keys`);
    const { id } = body.data.find(({ name }: { name: string }) => name === "lost");
    expect([created.code, created.errors]).toEqual([
      1,
      `${cause} The request was carried out. The key is lost: replace it with \`key rotate ${id} --overlap-hours 0\`.\n`,
    ]);
  });

  it("reports a change whose result has no reader", async () => {
    const { child, ended } = startCli(environment, [
      "merchant",
      "change",
      partner.merchantId,
      "--name",
      "New",
    ]);
    child.stdin.end();
    child.stdout.destroy();
    const { code, errors } = await ended();
    expect(code).toBe(1);
    expect(errors).toMatch(/EPIPE\. The request was carried out\. Check before you repeat the command\.\n$/);
  });

  it("starts an embedded database that is not running, migrates it only when requested, and stops it again", async () => {
    const dataDir = join(await temporaryFolder(), "data");
    const own = { DATA_DIR: dataDir };
    for (const words of [
      ["merchant", "list"],
      ["order", "export"],
    ]) {
      const rejected = await run(words, own);
      expect(rejected).toMatchObject({ code: 3, output: "" });
      expect(rejected.errors).toMatch(
        /There is no database in .*data.*start the service.*npm run cli -- migrate/,
      );
    }
    expect((await run(["doctor"], own)).output).toMatch(/There is no database in/);
    expect(existsSync(dataDir)).toBe(false); // A command that only reads leaves no database behind.
    expect(await run(["migrate"], own)).toMatchObject({ code: 0, errors: "" });
    expect(await run(["merchant", "list"], own)).toMatchObject({ code: 0, errors: "" });
    expect(existsSync(join(dataDir, "postgres", "postmaster.pid"))).toBe(false);
  });
});

/** Standard output is a file on a full disk. */
async function runOntoFullDisk(args: readonly string[]): Promise<{ code: number | null; errors: string }> {
  const disk = await open("/dev/full", "w");
  const child = spawn(process.execPath, ["src/cli/main.ts", ...args], {
    stdio: ["ignore", disk.fd, "pipe"],
    env: { ...NODE_ENVIRONMENT, ...environment },
  });
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const [code] = await once(child, "close");
  await disk.close();
  return { code, errors };
}

/** Rows of new products, each with a SKU of its own. */
const rowsOf = (sku: string, count: number, cells: string): string =>
  Array.from({ length: count }, (_, n) => `${sku}${n},${cells}\n`).join("");

async function createBlockedRow(tx: Queryable): Promise<string> {
  const [row] = await tx.query<{ id: string }>({
    name: "test-block-product",
    text: "select id from products where merchant_id = $1 and id = $2 for update",
    values: [uuidIn("mer", partner.merchantId), partner.productIds[0]],
  });
  return row?.id ?? "";
}
