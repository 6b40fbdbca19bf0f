import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, it, vi } from "vitest";
import { createSecretBox } from "../../src/platform/secret-box.ts";
import type { WebhookContext } from "../../src/webhooks/conditions-sql.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import {
  type StoredEndpoint,
  sendDue,
  startDispatcher,
  startReceiverForTest,
  storeEndpoint,
} from "../support/dispatch.ts";
import { runJob } from "../support/jobs.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

const [oldKey, newKey, strangeKey] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const url = "http://127.0.0.1:9/";

/** The same service with other keys, newest first. */
const withKeys = (test: TestService, ...keys: Buffer[]): TestService => ({
  ...test,
  context: { ...test.context, secrets: createSecretBox(keys) } satisfies WebhookContext,
});

async function start(): Promise<{ test: TestService; partner: Partner }> {
  const started = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  return { test: withKeys(started, oldKey), partner: await createPartner(started) };
}

const reseal = (test: TestService) => runJob(test, "reseal-secrets");

async function storedSecrets({ db }: TestService): Promise<string[]> {
  const rows = await db.query<{ sealed: string }>({
    name: "test-sealed",
    text: "select sealed from webhook_secrets order by connection_id, endpoint_id, id",
    values: [],
  });
  return rows.map(({ sealed }) => sealed);
}

/** What the endpoints' secrets are, for who has these keys. */
async function opened(test: TestService, endpoints: readonly StoredEndpoint[], ...keys: Buffer[]) {
  const box = createSecretBox(keys);
  const sealed = await storedSecrets(test);
  return endpoints.map(({ id }, index) => box.open(sealed[index] ?? "", id));
}

describe("after a new key was added before the old one", () => {
  it("every secret is encrypted again and stays the same, so that the old key can be removed", async () => {
    const { test, partner } = await start();
    const other = await createPartner(test);
    const endpoints: StoredEndpoint[] = [];
    for (const one of [partner, partner, other]) endpoints.push(await storeEndpoint(test, one, { url }));
    const rotated = withKeys(test, newKey, oldKey);
    expect(await reseal(rotated)).toBe(3);
    expect(await opened(test, endpoints, newKey)).toEqual(endpoints.map(({ secret }) => secret));
    const before = await storedSecrets(test);
    expect(await reseal(rotated)).toBe(0);
    expect(await storedSecrets(test)).toEqual(before);
  });

  it("deliveries are signed as before, at once and after the old key was removed", async () => {
    const { test, partner } = await start();
    const receiver = await startReceiverForTest();
    const { secret } = await storeEndpoint(test, partner, { url: receiver.url });
    const rotated = withKeys(test, newKey, oldKey);
    await placeOrder(partner);
    const dispatcher = startDispatcher(rotated);
    await sendDue(dispatcher);
    await dispatcher.stop();
    await reseal(rotated);
    await placeOrder(partner);
    await sendDue(startDispatcher(withKeys(test, newKey)));
    expect(receiver.requests).toHaveLength(2);
    vi.useFakeTimers({ now: test.clock.now(), toFake: ["Date"] });
    try {
      for (const { body, headers } of receiver.requests)
        expect(() => new Webhook(secret).verify(body, headers as Record<string, string>)).not.toThrow();
    } finally {
      vi.useRealTimers();
    }
  });

  it("more secrets than one batch are encrypted in one run, once, also by several workers", async () => {
    const { test, partner } = await start();
    const endpoint = await storeEndpoint(test, partner, { url });
    const sealed = test.context.secrets.seal(endpoint.secret, endpoint.id);
    await test.db.query({
      name: "test-many-secrets",
      text: `
        insert into webhook_secrets (merchant_id, connection_id, endpoint_id, id, sealed, created_at, expires_at)
        select $5, $1, $2, gen_random_uuid(), $3, $4, $4 from generate_series(1, 450)`,
      values: [endpoint.connectionId, endpoint.id, sealed, test.clock.now(), endpoint.merchantId],
    });
    const rotated = withKeys(test, newKey, oldKey);
    const counts = await Promise.all([reseal(rotated), reseal(rotated), reseal(rotated)]);
    expect(counts.reduce((sum, count) => sum + count)).toBe(451);
    const keyIds = (await storedSecrets(test)).map((text) => rotated.context.secrets.keyIdOf(text));
    expect(new Set(keyIds)).toEqual(new Set([rotated.context.secrets.keyId]));
  });

  it("a secret that cannot be decrypted is logged with its endpoint, left unchanged, and stops no other", async () => {
    const { test, partner } = await start();
    const endpoints: StoredEndpoint[] = [];
    for (const one of [withKeys(test, strangeKey), test, test])
      endpoints.push(await storeEndpoint(one, partner, { url }));
    const [strange, moved, sound] = endpoints;
    const [sealed] = await test.db.query<{ sealed: unknown }>({
      name: "test-sealed-of-endpoint",
      text: "select sealed from webhook_secrets where endpoint_id = $1",
      values: [sound?.id],
    });
    await test.db.query({
      name: "test-move-secret",
      text: "update webhook_secrets set sealed = $2 where endpoint_id = $1",
      values: [moved?.id, sealed?.sealed],
    });
    const before = await storedSecrets(test);
    const log = vi.spyOn(test.context.log, "error");
    expect(await reseal(withKeys(test, newKey, oldKey))).toBe(1);
    expect((await storedSecrets(test)).slice(0, 2)).toEqual(before.slice(0, 2));
    expect(log.mock.calls.map(([fields]) => fields)).toMatchObject([
      { endpoint: { id: strange?.id }, code: "unknown-key" },
      { endpoint: { id: moved?.id }, code: "not-authentic" },
    ]);
    expect(JSON.stringify(log.mock.calls)).not.toContain(before[0]);
  });
});
