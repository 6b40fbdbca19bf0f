import { createHash } from "node:crypto";
import { recordAudit } from "../audit/record-audit.ts";
import { SERVICE } from "../lifecycle/applied-transition.ts";
import { type ApiKey, makeKey } from "../merchants/api-key.ts";
import { type Connection, keyOf } from "../merchants/connection.ts";
import { findConnectionById, insertConnection, listRequestedSince } from "../merchants/connections-sql.ts";
import { reachedKeyLimit, storeKey } from "../merchants/keys.ts";
import type { LimitOverrides } from "../merchants/limits.ts";
import { countConnections, lockCounts, readMerchantMaximum } from "../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { StartError } from "../platform/environment.ts";
import { toTypeId } from "../platform/ids.ts";
import { after, before, DAY_MS, HOUR_MS } from "../platform/time.ts";
import type { Problem } from "../platform/wire/problems.ts";
import { copyExposures } from "../products/exposure-sql.ts";

/** How long a test key lives that a stranger has requested, with its connection and all it has. */
const LIFETIME_MS = 7 * DAY_MS;
/** Keys that one network gets within 24 hours. */
export const KEYS_OF_NETWORK_MAX = 3;
/** Products that a new connection sees. */
const PRODUCTS_MAX = 500;

/**
 * What such a connection can store. One endpoint, so that each request causes few webhooks; the rest is enough for every page of the
 * documentation (docs/design/isolation-and-limits.md, "Test keys without a person").
 */
const LIMITS = {
  endpoints: 0,
  testEndpoints: 1,
  endpointCreationsPerHour: 10,
  testOrders: 100,
  testOrderTransitions: 50,
  redeliveriesPerDay: 5,
  deliveryAttempts: 20,
  apiKeys: 1,
} as const satisfies LimitOverrides;

/** A request of a stranger. `network`: what counts together, such as an address. */
export type Requester = { readonly network: string; readonly requestId: string };

/** A new test key, its connection, and how many more the network gets within 24 hours of the first. */
export type RequestedKey = { readonly key: string; readonly issued: ApiKey; readonly connection: Connection };

/**
 * Makes a test key for a stranger, with a connection of its own to the merchant of the demo: the connection is the unit of
 * isolation, so strangers see nothing of each other. All or nothing is stored. The counts of the merchant are locked, so that two
 * requests for the last place wait for each other.
 * @param model the connection of SELF_SERVICE_TEST_KEYS, whose products the key may order
 */
export async function createTestKey(
  context: Context,
  model: Connection,
  { network, requestId }: Requester,
): Promise<RequestedKey | Problem> {
  const { clock, newId } = context;
  const by = { actor: SERVICE, requestId, action: "createTestKey" };
  return inTransaction(context, async (tx) => {
    await lockCounts(tx, model.merchantId);
    const now = clock.now();
    const requesterHash = hashOf(network);
    const connection: Connection = {
      ...model,
      id: newId(),
      name: "",
      limits: LIMITS,
      liveAgents: false,
      certificationMaxAgeDays: null,
      certifiedAt: null,
      createdAt: now,
      endsAt: after(now, LIFETIME_MS),
    };
    const refused =
      (await tooManyOfNetwork(tx, connection, requesterHash)) ??
      (await allInUse(tx, connection)) ??
      (await reachedKeyLimit(tx, connection, now));
    if (refused !== null) return refused;
    const { key, prefix, hash } = makeKey("test");
    const named: Connection = { ...connection, name: `Test key ${prefix}` };
    await insertConnection(tx, named, requesterHash);
    await copyExposures(tx, keyOf(model), keyOf(named), now, PRODUCTS_MAX);
    const { name, endsAt } = named;
    await recordAudit(tx, context, by, {
      ...keyOf(named),
      subject: "con",
      ids: [named.id],
      details: { name, endsAt },
    });
    const issued: ApiKey = {
      ...keyOf(named),
      id: newId(),
      name: null,
      mode: "test",
      prefix,
      createdAt: now,
      expiresAt: endsAt,
      revokedAt: null,
      isRequested: true,
    };
    await storeKey(tx, context, { issued, hash, tokenId: null }, by);
    return { key, issued, connection: named };
  });
}

/** The database does not learn the address: it needs only to recognize it. */
const hashOf = (network: string): Buffer => createHash("sha256").update(`test key of ${network}`).digest();

/** Those that have ended count too, so that a stranger whose connection was ended gets no other one at once. */
async function tooManyOfNetwork(
  tx: Queryable,
  { merchantId, createdAt }: Connection,
  requesterHash: Buffer,
): Promise<Problem | null> {
  const requested = await listRequestedSince(tx, merchantId, requesterHash, before(createdAt, DAY_MS));
  const [oldest] = requested;
  if (oldest === undefined || requested.length < KEYS_OF_NETWORK_MAX) return null;
  const waitMs = after(oldest, DAY_MS).getTime() - createdAt.getTime();
  return {
    code: "rate-limited",
    detail: `Your network has got ${KEYS_OF_NETWORK_MAX} test keys within 24 hours. Use one of them, or retry in ${Math.ceil(waitMs / HOUR_MS)} h.`,
    headers: { "retry-after": String(Math.ceil(waitMs / 1_000)) },
  };
}

async function allInUse(tx: Queryable, { merchantId, createdAt: now }: Connection): Promise<Problem | null> {
  const maximum = (await readMerchantMaximum(tx, [merchantId], "connections"))(merchantId);
  if ((await countConnections(tx, merchantId, now, maximum)) < maximum) return null;
  return {
    code: "limit-reached",
    detail: "All test keys that this service offers at once are taken. Retry on another day, or ask for one.",
    members: { limit: "connections", maximum },
  };
}

/** The connection of SELF_SERVICE_TEST_KEYS. Null: test keys are not offered, or the connection does not exist. */
export const findModel = async ({ config, db }: Context): Promise<Connection | null> =>
  config.selfServiceTestKeys === null ? null : findConnectionById(db, config.selfServiceTestKeys);

/**
 * Only connections that end are deleted, so a service that has started finds its model at any later time.
 * @throws StartError
 */
export async function checkModel(context: Context): Promise<void> {
  const id = context.config.selfServiceTestKeys;
  if (id === null) return;
  const model = await findModel(context);
  if (model === null || model.endsAt !== null)
    throw new StartError(
      `SELF_SERVICE_TEST_KEYS names ${toTypeId("con", id)}, which is no connection that a person has created. Create one with connection create, or unset the variable.`,
    );
}
