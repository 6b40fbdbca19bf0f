import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { ATTACKS, type Attack, seedOf } from "../../../bench/neighbors/attacks.ts";
import { startHostileReceiver } from "../../../bench/neighbors/hostile-receivers.ts";
import {
  orderBody,
  type PartnerAccess,
  type PartnerClient,
  partnerClient,
} from "../../../bench/neighbors/partner-client.ts";
import { startService as startProcess, stop } from "../../../bench/processes.ts";
import { accessOf, addPartners, type Partner } from "../../../bench/site.ts";
import { type Database, openDatabase } from "../../../src/platform/database/database.ts";
import { type Receiver, startReceiver } from "../../support/receivers.ts";
import { createDatabase } from "../../support/test-service.ts";

/** Requests of an attack, all at once. `npm run bench -- neighbors` runs the attacks in full, and measures. */
const REQUESTS = 40;
const SEEDED_ROWS = 1_000;
const VICTIM_ORDERS = 4;

let service: Awaited<ReturnType<typeof startProcess>>;
let db: Database;
let dataDir: string;

beforeAll(async () => {
  const databaseUrl = await createDatabase();
  dataDir = await mkdtemp(join(tmpdir(), "partner-orders-neighbors-"));
  service = await startProcess(databaseUrl, dataDir, { RATE_LIMIT_PER_MINUTE: "600" });
  db = openDatabase({ url: databaseUrl, connectionsMax: 2, onIdleError: () => undefined });
});
afterAll(async () => {
  await stop(service);
  await db.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** A partner with a healthy endpoint. */
async function newVictim(): Promise<{ access: PartnerAccess; receiver: Receiver }> {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  const access = accessOf(service, await newPartner());
  const endpoint = await partnerClient(access)("POST", "/v1/webhook-endpoints", { url: receiver.url });
  expect(endpoint.status).toBe(201);
  return { access, receiver };
}

async function newPartner(): Promise<Partner> {
  const [partner] = await addPartners({ service }, 1);
  if (partner === undefined) throw new Error("There is no partner.");
  return partner;
}

/** Runs an attack with fewer requests; returns the statuses that the attacker got. */
async function attackWith({ run, seed, isOfVictim }: Attack, victim: PartnerAccess): Promise<number[]> {
  const attacker = await newPartner();
  const access = isOfVictim === true ? victim : accessOf(service, attacker);
  if (seed !== undefined) {
    await db.runScript(seedOf({ ...seed, rows: SEEDED_ROWS }, attacker.connection));
  }
  const statuses: number[] = [];
  const counted =
    (client: PartnerClient): PartnerClient =>
    async (...request) => {
      const response = await client(...request);
      statuses.push(response.status);
      return response;
    };
  await run({
    ...access,
    client: counted(partnerClient(access)),
    another: (change) => counted(partnerClient({ ...access, ...change })),
    attack: async (request) => {
      await Promise.all(Array.from({ length: REQUESTS }, (_, count) => request(count)));
    },
    receiver: async (behavior) => {
      const { url, close } = await startHostileReceiver(behavior);
      onTestFinished(close);
      return url;
    },
  });
  return statuses;
}

/** The requests of the victim at the same time, one after the other. Returns their statuses. */
async function behave(victim: PartnerAccess): Promise<number[]> {
  const client = partnerClient(victim);
  const statuses: number[] = [];
  for (let count = 0; count < VICTIM_ORDERS; count += 1) {
    const id = `order-${count}`;
    statuses.push((await client("POST", "/v1/orders", orderBody(victim.productIds, id))).status);
    statuses.push((await client("GET", `/v1/orders/${id}`)).status);
  }
  return statuses;
}

describe("a partner with normal traffic is served, and gets its events, beside", () => {
  it.each(ATTACKS.map((attack) => ({ attack, name: attack.name })))("$name", async ({ attack }) => {
    const { access, receiver } = await newVictim();
    const [statuses, attackers] = await Promise.all([behave(access), attackWith(attack, access)]);
    expect(statuses.filter((status) => status !== 201 && status !== 200)).toEqual([]);
    expect(attackers.filter((status) => status === 500 || status === 0)).toEqual([]);
    await receiver.waitFor(VICTIM_ORDERS);
  });
});
