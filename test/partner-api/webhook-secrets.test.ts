import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner } from "../support/builders.ts";
import { expectErrors } from "../support/orders.ts";
import { dumpTables } from "../support/tables.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import {
  createEndpoint,
  ENDPOINTS,
  endpointPath,
  pauseEndpoint,
  readRows,
  uuidIn,
} from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

/** Requests a new secret, which must succeed; returns it. */
async function rotate(endpointId: string, body?: object): Promise<string> {
  const answer = await partner.client.post(endpointPath(endpointId, "rotate-secret"), body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.secret;
}

/** The secrets of an endpoint in plain text, newest first, and in how many hours they end. */
async function secretsOf(endpointId: string): Promise<[secret: string, hours: number | null][]> {
  const rows = await readRows(test, "webhook_secrets", endpointId);
  const ends = (at: unknown) =>
    at instanceof Date ? (at.getTime() - test.clock.now().getTime()) / 3_600_000 : null;
  return rows
    .toReversed()
    .map(({ sealed, expires_at }) => [
      test.context.secrets.open(String(sealed), uuidIn("whe", endpointId)),
      ends(expires_at),
    ]);
}

describe("POST /v1/webhook-endpoints/{endpointId}/rotate-secret", () => {
  it("returns the endpoint with a new secret; the old one signs for a day beside it", async () => {
    const { secret: first, ...endpoint } = await createEndpoint(partner);
    const answer = await partner.client.post(endpointPath(endpoint.id, "rotate-secret"));
    expect(answer.status).toBe(200);
    const { secret, previousSecretExpiresAt, ...shown } = answer.body;
    expect(shown).toEqual(endpoint);
    expect(Date.parse(previousSecretExpiresAt)).toBe(test.clock.now().getTime() + 24 * 3_600_000);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await secretsOf(endpoint.id)).toEqual([
      [secret, null],
      [first, 24],
    ]);
  });

  it.each([0.5, 1, 168])("keeps the old secret signing for %d hours when requested", async (overlapHours) => {
    const { id, secret: first } = await createEndpoint(partner);
    const secret = await rotate(id, { overlapHours });
    expect(await secretsOf(id)).toEqual([
      [secret, null],
      [first, overlapHours],
    ]);
  });

  it("without overlap leaves only the new secret, even if older ones had time left", async () => {
    const { id } = await createEndpoint(partner);
    await rotate(id, { overlapHours: 168 });
    const secret = await rotate(id, { overlapHours: 0 });
    expect(await secretsOf(id)).toEqual([[secret, null]]);
  });

  it("counts the overlap from its own request, and does not change an earlier end", async () => {
    const { id, secret: first } = await createEndpoint(partner);
    const second = await rotate(id, { overlapHours: 2 });
    test.clock.advance({ hours: 1 });
    const third = await rotate(id, { overlapHours: 24 });
    expect(await secretsOf(id)).toEqual([
      [third, null],
      [second, 24],
      [first, 1],
    ]);
  });

  it("shortens the time of older ones that would outlive the overlap", async () => {
    const { id, secret: first } = await createEndpoint(partner);
    const second = await rotate(id, { overlapHours: 168 });
    const third = await rotate(id, { overlapHours: 1 });
    expect(await secretsOf(id)).toEqual([
      [third, null],
      [second, 1],
      [first, 1],
    ]);
  });

  it("keeps at most two older ones, and deletes the oldest", async () => {
    const { id } = await createEndpoint(partner);
    const secrets: string[] = [];
    for (let count = 0; count < 4; count += 1) secrets.unshift(await rotate(id));
    expect((await secretsOf(id)).map(([secret]) => secret)).toEqual(secrets.slice(0, 3));
  });

  it("deletes expired secrets", async () => {
    const { id } = await createEndpoint(partner);
    const second = await rotate(id, { overlapHours: 1 });
    test.clock.advance({ hours: 1 });
    const third = await rotate(id);
    expect((await secretsOf(id)).map(([secret]) => secret)).toEqual([third, second]);
  });

  it("gives each of many concurrent requests its own secret, one of which is the newest", async () => {
    const { id } = await createEndpoint(partner);
    const given = await Promise.all(Array.from({ length: 8 }, () => rotate(id)));
    expect(new Set(given).size).toBe(8);
    const kept = await secretsOf(id);
    expect(kept).toHaveLength(3);
    expect(kept.filter(([, hours]) => hours === null)).toHaveLength(1);
    for (const [secret] of kept) expect(given).toContain(secret);
  });

  it("works on a paused endpoint, which stays paused", async () => {
    const { id } = await createEndpoint(partner);
    await pauseEndpoint(test, id);
    await rotate(id);
    expect((await partner.client.get(endpointPath(id))).body.status).toBe("paused");
  });

  it.each([
    ...[-1, 168.01, 1e9, "24", ""].map((overlapHours) => ({ overlapHours })),
    { overlap: 0 }, // Ignored, it would leave a leaked secret valid for a day.
  ])("rejects %j, and keeps the secret", async (body) => {
    const { id } = await createEndpoint(partner);
    const before = await dumpTables(test);
    const answer = await partner.client.post(endpointPath(id, "rotate-secret"), body);
    expectErrors(answer, [{ pointer: `/${Object.keys(body)[0]}` }]);
    expect(await dumpTables(test)).toEqual(before);
  });
});

describe("a signing secret", () => {
  it("is in no response except the one that creates it, and nowhere in the database", async () => {
    const { id, secret: first } = await createEndpoint(partner);
    const second = await rotate(id);
    const answers = [
      await partner.client.get(endpointPath(id)),
      await partner.client.get(`${ENDPOINTS}?limit=100`),
      await partner.client.request("PATCH", endpointPath(id), { body: { description: "x" } }),
      await partner.client.post(endpointPath(id, "ping")),
      await partner.client.post(endpointPath(id, "resume")),
      await partner.client.get("/v1/deliveries"),
    ];
    const stored = JSON.stringify(await dumpTables(test));
    const shown = JSON.stringify(answers);
    expect(shown).not.toMatch(/"secret"|whsec_/);
    expect(stored).not.toContain("whsec_");
    for (const secret of [first, second]) {
      const bytes = Buffer.from(secret.slice("whsec_".length), "base64");
      for (const form of [
        secret.slice("whsec_".length),
        bytes.toString("hex"),
        bytes.toString("base64url"),
      ]) {
        expect(stored).not.toContain(form);
        expect(shown).not.toContain(form);
      }
    }
  });

  it("can be decrypted only for its own endpoint", async () => {
    const [one, two] = [await createEndpoint(partner), await createEndpoint(partner)];
    const [row] = await readRows(test, "webhook_secrets", one.id);
    expect(() => test.context.secrets.open(String(row?.["sealed"]), uuidIn("whe", two.id))).toThrow();
  });
});
