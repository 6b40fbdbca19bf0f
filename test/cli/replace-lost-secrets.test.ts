import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { describe, expect, it, vi } from "vitest";
import { byService } from "../../src/audit/initiator.ts";
import { upsertProcess } from "../../src/monitoring/processes/processes-sql.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createSecretBox } from "../../src/platform/secret-box.ts";
import { resumeEndpoint } from "../../src/webhooks/recovery/resume-endpoint.ts";
import { rotateSecret } from "../../src/webhooks/secrets/rotate-secret.ts";
import { createPartner, placeOrder } from "../support/builders.ts";
import { runCli } from "../support/cli.ts";
import { sendDue, startDispatcher, startReceiverForTest, storeEndpoint } from "../support/dispatch.ts";
import { runJob } from "../support/jobs.ts";
import { temporaryFolder } from "../support/main-process.ts";
import { dumpTables } from "../support/tables.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

const [lostKey, newKey] = [randomBytes(32), randomBytes(32)];
const lostKeyId = createSecretBox([lostKey]).keyId;
const url = "http://127.0.0.1:9/";
const by = byService("test");
type Shown = { status: string; pauseReason: string | null };

const withKeys = (test: TestService, ...keys: Buffer[]): TestService => ({
  ...test,
  context: { ...test.context, secrets: createSecretBox(keys) },
});

async function start() {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const environment = {
    DATABASE_URL: test.context.config.databaseUrl ?? "",
    WEBHOOK_SECRET_KEYS: newKey.toString("base64"),
  };
  const replace = (keyId = lostKeyId, others: Record<string, string> = {}) =>
    runCli({ ...environment, ...others }, ["replace-lost-secrets", "--key", keyId]);
  return {
    test,
    partner: await createPartner(test),
    before: withKeys(test, lostKey),
    after: withKeys(test, newKey),
    replace,
  };
}

describe("replace-lost-secrets", () => {
  it("pauses the endpoints whose present secret is lost, and their events arrive after rotation and resume", async () => {
    const { test, partner, before, after, replace } = await start();
    const receiver = await startReceiverForTest();
    const lost = await storeEndpoint(before, partner, { url: receiver.url });
    await storeEndpoint(after, partner, { url });
    const rotated = await storeEndpoint(before, partner, { url });
    await rotateSecret(after.context, rotated, 24, by);
    await placeOrder(partner);

    expect(await replace()).toMatchObject({
      code: 0,
      output: "Paused 1 endpoint with a new secret: their partners rotate the secret and resume.\n",
    });
    const { data } = (await partner.client.get("/v1/webhook-endpoints")).body;
    expect(data.map(({ status, pauseReason }: Shown) => [status, pauseReason])).toEqual([
      ["paused", "requested"],
      ["active", null],
      ["active", null],
    ]);
    expect(new Set(await storedKeyIds(test))).toEqual(new Set([after.context.secrets.keyId]));
    const { body } = await test.backOffice.get("/api/audit-entries?action=replaceLostSecrets");
    expect(body.data).toMatchObject([{ details: { lostKeyId }, actor: { kind: "operator" } }]);

    const secret = (await rotateSecret(after.context, lost, 24, by))?.secret ?? "";
    await resumeEndpoint(after.context, lost, by);
    await runJob(after, "recover-deliveries");
    await sendDue(startDispatcher(after));
    expect(receiver.requests).toHaveLength(1);
    vi.useFakeTimers({ now: test.clock.now(), toFake: ["Date"] });
    try {
      const [{ body: sent, headers } = { body: "", headers: {} }] = receiver.requests;
      expect(() => new Webhook(secret).verify(sent, headers as Record<string, string>)).not.toThrow();
    } finally {
      vi.useRealTimers();
    }
  });

  it("changes nothing when it is repeated, or when no secret has the key", async () => {
    const { test, partner, before, replace } = await start();
    await storeEndpoint(before, partner, { url });
    await replace();
    const tables = await dumpTables(test);
    for (const keyId of [lostKeyId, "00000000"])
      expect(await replace(keyId)).toMatchObject({
        code: 0,
        output: `Nothing is encrypted with the key ${keyId}.\n`,
      });
    expect(await dumpTables(test)).toEqual(tables);
  });

  it("rejects a key that is configured, a service at an address, and no key", async () => {
    const { test, partner, before, replace } = await start();
    await storeEndpoint(before, partner, { url });
    const tables = await dumpTables(test);
    const keys = { WEBHOOK_SECRET_KEYS: [newKey, lostKey].map((key) => key.toString("base64")).join(",") };
    expect(await replace(lostKeyId, keys)).toMatchObject({
      code: 2,
      errors: `The key ${lostKeyId} is configured: what it encrypts is not lost.\n`,
    });
    expect((await replace(lostKeyId, { PARTNER_ORDERS_URL: "https://example.com" })).code).toBe(2);
    expect((await runCli({}, ["replace-lost-secrets"])).code).toBe(2);
    expect(await dumpTables(test)).toEqual(tables);
  });

  it("replaces nothing while a process runs that perhaps has the key", async () => {
    const { test, partner, before, replace } = await start();
    await storeEndpoint(before, partner, { url });
    const now = systemClock.now();
    const [id, roles] = [test.context.newId(), ["worker"]];
    const running = { id, roles, version: "1", host: "hall-1", pid: 4711, startedAt: now, seenAt: now };
    await upsertProcess(test.db, { ...running, stoppedAt: null }, []);
    const tables = await dumpTables(test);
    expect(await replace()).toMatchObject({
      code: 2,
      errors: expect.stringMatching(/^A process runs that perhaps has the key: 4711 on hall-1, /),
    });
    expect(await dumpTables(test)).toEqual(tables);
    await upsertProcess(test.db, { ...running, stoppedAt: now }, []);
    expect((await replace()).code).toBe(0);
  });

  it("makes a new webhook-secret-key in place of a lost file, for the named key alone", async () => {
    const { partner, before, replace } = await start();
    await storeEndpoint(before, partner, { url });
    const dataDir = join(await temporaryFolder(), "data");
    const file = join(dataDir, "webhook-secret-key");
    const kept = { DATA_DIR: dataDir, WEBHOOK_SECRET_KEYS: "" };
    expect(await replace("00000000", kept)).toMatchObject({
      code: 2,
      errors: expect.stringMatching(`^${file} is missing: the key ${lostKeyId}`),
    });
    expect(existsSync(file)).toBe(false);
    expect((await replace(lostKeyId, kept)).code).toBe(0);
    expect(existsSync(file)).toBe(true);
  });
});

async function storedKeyIds({ db }: TestService): Promise<string[]> {
  const rows = await db.query<{ key_id: string }>({
    name: "test-key-ids",
    text: "select split_part(sealed, '.', 2) as key_id from webhook_secrets",
    values: [],
  });
  return rows.map((row) => row.key_id);
}
