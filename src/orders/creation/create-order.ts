import type { Static } from "typebox";
import { type Initiator, recordAudit } from "../../audit/record-audit.ts";
import type { Order } from "../../lifecycle/order.ts";
import { fullAccess, type KeyAccess } from "../../merchants/api-key.ts";
import { limitReached } from "../../merchants/limits.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Spent } from "../../platform/database/database.ts";
import { groupCalls } from "../../platform/database/group.ts";
import { toTypeId, wireOrderId } from "../../platform/ids.ts";
import { formatMoney } from "../../platform/money.ts";
import { HOUR_MS } from "../../platform/time.ts";
import { countryCodeError } from "../../platform/wire/countries.ts";
import { type Problem, type ValidationError, validationFailed } from "../../platform/wire/problems.ts";
import type { Violation } from "../../platform/wire/rules.ts";
import type { ReadOrder } from "../reading/read-order.ts";
import {
  hashOrderRequest,
  normalizeOrderRequest,
  type OrderRequestSchema,
  type TestOrderRequestSchema,
} from "./order-request.ts";
import {
  KnownProducts,
  type Placed,
  type Placement,
  placeOrder,
  placeOrders,
  placeOrderWithin,
  type RejectedContent,
  type RejectedLine,
} from "./place-orders.ts";
import type { EarlierOrder } from "./place-orders-sql.ts";
import { differencesFrom } from "./request-differences.ts";

/** `replayed`: an earlier request with the same idempotency key created the order. */
type Created = { readonly order: Order; readonly replayed: boolean };

export type CreateOrder = (
  access: KeyAccess,
  idempotencyKey: string | undefined,
  body: Static<typeof OrderRequestSchema>,
  requestId?: string,
) => Promise<Created | Problem>;

/** Groups that are stored at the same time: while one waits for its commit, the next one is written. */
const GROUPS_MAX = 2;
const GROUP_SIZE_MAX = 96;
/**
 * An order of a larger group costs hardly less. The group is written while the service reads more requests
 * (docs/design/performance.md, "Groups of calls").
 */
const GROUP_SIZE_ENOUGH = 32;
/** Orders of several processes arrive one by one. A call that arrives later than this after a group still begins one at once. */
const SHARED_EVERY_MS = 3;

/**
 * Lets one of several processes store the small groups of all, as larger ones
 * (docs/design/performance.md, "One process stores small groups").
 */
export type SharedGroups = {
  /** An outcome for each, in their order. Null: this process stores them. */
  send(placements: readonly Placement[]): Promise<(Placed | Error)[]> | null;
  /** Returns whether this process stores those of the others, by `place`. */
  serve(place: (placement: Placement) => Promise<Placed>): boolean;
};

/**
 * POST /v1/orders. Specification, part 4; docs/design/creating-orders.md. A retry is safe and returns the order as it is now.
 * @param context its database is for groups: a statement of many partners' orders must not wait for one of them
 * @param aloneContext the context in which an order of this connection is placed on its own
 */
export function orderCreator(
  context: Context,
  readOrder: ReadOrder,
  aloneContext: (connection: ConnectionKey) => Context,
  { onUnusualValue, spent, shared }: { onUnusualValue: () => void; spent?: Spent; shared?: SharedGroups },
): CreateOrder {
  const watchValue = watchOrderValues(context, onUnusualValue);
  const known = new KnownProducts();
  const groups = {
    name: "place orders",
    run: (placements: Placement[]): Promise<(Placed | Error)[]> => placeOrders(context, placements, known),
    sizeMax: GROUP_SIZE_MAX,
    atOnce: GROUP_SIZE_ENOUGH,
    concurrencyMax: GROUPS_MAX,
    besideMin: "as-many" as const, // A group costs as much as a dozen orders (docs/design/performance.md, "Groups of calls").
    ownerOf: (placement: Placement) => placement,
    runAlone: (placement: Placement) => placeOrder(aloneContext(placement), placement),
    ...(spent && { spent }),
  };
  const placeHere = groupCalls<Placement, Placed | Error>(
    shared === undefined
      ? groups
      : { ...groups, spacing: { ms: SHARED_EVERY_MS, unlessWaiting: GROUP_SIZE_ENOUGH } },
  );
  const isStoring = shared?.serve(async (placement) => placedOf(await placeHere(placement))) ?? true;
  const placeInGroup = isStoring
    ? placeHere
    : groupCalls<Placement, Placed | Error>({
        ...groups,
        run: (placements) =>
          (placements.length < GROUP_SIZE_ENOUGH && shared?.send(placements)) || groups.run(placements),
      });
  // On Citus the node of one merchant may be down while those of others are not
  // (docs/design/creating-orders.md, "One function stores a group").
  const placeInOwnGroup = groupCalls<Placement, Placed | Error>({ ...groups, oneOwnerEach: true });
  const place = async (placement: Placement): Promise<Placed> => {
    const placed = placedOf(
      (await context.db.isDistributed()) ? await placeInOwnGroup(placement) : await placeInGroup(placement),
    );
    if (placed.outcome === "created") watchValue(placed);
    return placed;
  };
  return async (access, header, body, requestId) => {
    const idempotencyKey = header ?? body.externalOrderId;
    if (idempotencyKey === undefined) return KEY_MISSING;
    return resolvePlacement(access, placementOf(access, idempotencyKey, body, requestId), place, readOrder);
  };
}

/** What another process could not store, fails here. */
function placedOf(placed: Placed | Error): Placed {
  if (placed instanceof Error) throw placed;
  return placed;
}

export function placementOf(
  { merchantId, connectionId }: ConnectionKey,
  idempotencyKey: string,
  body: Static<typeof OrderRequestSchema>,
  requestId: string | undefined,
): Placement {
  const request = normalizeOrderRequest(body);
  return {
    merchantId,
    connectionId,
    idempotencyKey,
    requestHash: hashOrderRequest(request),
    request,
    requestId,
  };
}

const KEY_MISSING: Problem = {
  code: "idempotency-key-missing",
  detail: "The request needs an Idempotency-Key header, an externalOrderId, or both.",
};

/** A real order has no name for a test key, as in `alreadyExists`. */
const keyReused = ({ testOnly }: KeyAccess, existing: EarlierOrder, differences: string[]): Problem => ({
  code: "idempotency-key-reused",
  detail:
    "This idempotency key was already used for a different request; see differences. The key is the Idempotency-Key header or, without it, the externalOrderId.",
  members: { orderId: testOnly && !existing.testMode ? null : wireOrderId(existing), differences },
});

/** The response to a placement: the new order, or the one that an earlier request has created, or why there is none. */
async function resolvePlacement(
  access: KeyAccess,
  placement: Placement,
  place: (placement: Placement) => Promise<Placed>,
  readOrder: ReadOrder,
): Promise<Created | Problem> {
  const { merchantId, connectionId, request } = placement;
  const placed = await place(placement);
  switch (placed.outcome) {
    case "created":
      return { order: placed.order, replayed: false };
    case "replayed":
    case "key-reused": {
      const { id, testMode, requestHash } = placed.by;
      // A test key must learn nothing of a real order, so no request for a test order is compared with one.
      if (request.testMode && !testMode) return keyReused(access, placed.by, ["/testMode"]);
      const ref = { id, testMode, externalOrderId: null };
      const order = await readOrder({ merchantId, connectionId, ref });
      // The test order was erased between the two statements. Its key is free again, so this is a new request.
      if (order === null) return resolvePlacement(access, placement, place, readOrder);
      return placed.outcome === "replayed"
        ? { order, replayed: true }
        : keyReused(access, placed.by, differencesFrom(order, requestHash, request));
    }
    case "external-id-taken":
      return alreadyExists(access, placed.by, placement.request.externalOrderId);
    case "content-rejected":
      return validationFailed(contentErrors(placed));
    case "limit-reached":
      return limitReached("testOrders", placed.maximum);
    default:
      return placed satisfies never;
  }
}

/**
 * Missing, foreign and unexposed products get the same error
 * (docs/design/creating-orders.md, "Products that cannot be ordered").
 */
const LINE_RULES = {
  unknown: { rule: "not_found", kind: "product" },
  discontinued: { rule: "discontinued" },
} as const satisfies Record<RejectedLine["reason"], Violation>;

const contentErrors = ({ countryCode, lines }: RejectedContent): ValidationError[] => [
  ...(countryCode === null
    ? []
    : [{ pointer: "/shippingAddress/countryCode", ...countryCodeError(countryCode) }]),
  ...lines.map(lineError),
];

const lineError = ({ index, reason }: RejectedLine): ValidationError => ({
  pointer: `/lines/${index}/productId`,
  ...LINE_RULES[reason],
});

/**
 * For a test key, a real order does not exist, so the problem does not name it
 * (docs/design/isolation-and-limits.md, "Live and test keys").
 */
const alreadyExists = (
  { testOnly }: KeyAccess,
  existing: EarlierOrder,
  externalOrderId: string | null,
): Problem => ({
  code: "order-already-exists",
  detail: "Another order of this connection has this externalOrderId.",
  members: { orderId: testOnly && !existing.testMode ? null : wireOrderId(existing), externalOrderId },
});

/**
 * Creates a test order for a caller of the back office (docs/design/lifecycle.md, "The sandbox"). It has the rules, limits,
 * keys and events of the partner's own test orders. A request without a key and without an external id is never a retry.
 */
export async function createTestOrder(
  context: Context,
  readOrder: ReadOrder,
  connection: ConnectionKey,
  request: {
    readonly idempotencyKey: string | undefined;
    readonly body: Static<typeof TestOrderRequestSchema>;
  },
  by: Initiator,
): Promise<Created | Problem> {
  const { idempotencyKey, body } = request;
  const key = idempotencyKey ?? body.externalOrderId ?? context.newId();
  const placement = placementOf(connection, key, { ...body, testMode: true }, by.requestId ?? undefined);
  // Who makes test orders here reads the real orders of the connection, too.
  const access = fullAccess(connection);
  return resolvePlacement(access, placement, (one) => placeAudited(context, one, by), readOrder);
}

async function placeAudited(context: Context, placement: Placement, by: Initiator): Promise<Placed> {
  const placed = await inTransaction(context, async (tx) => {
    const outcome = await placeOrderWithin(tx, context, placement);
    if (outcome.outcome === "created") {
      const { merchantId, connectionId, id, status, externalOrderId } = outcome.order;
      const details = { status, ...(externalOrderId !== null && { externalOrderId }) };
      await recordAudit(tx, context, by, { merchantId, connectionId, subject: "test", ids: [id], details });
    }
    return outcome;
  });
  if (placed.outcome === "created") context.signals.send("deliveries_due", [placement]);
  return placed;
}

type PlacedValue = { readonly order: Order; readonly goodsMinor: bigint; readonly currency: string };

/**
 * Adds up what each connection has ordered since the hour began, and alerts once an hour when that is more than
 * ALERT_ORDER_VALUES: a stolen key, or a program that orders again and again (docs/design/lifecycle.md, "Review"). Each process
 * counts for itself. What is kept is a number for each connection that has ordered in this hour.
 */
function watchOrderValues(
  { clock, config, log }: Context,
  onUnusual: () => void,
): (placed: PlacedValue) => void {
  const sums = new Map<string, bigint>();
  let hour = 0;
  return ({ order, goodsMinor, currency }) => {
    const limit = config.alertOrderValuesMinor.get(currency);
    if (limit === undefined || order.testMode) return; // A test order is never charged.
    const current = Math.floor(clock.now().getTime() / HOUR_MS);
    if (current !== hour) sums.clear();
    hour = current;
    const before = sums.get(order.connectionId) ?? 0n;
    const sum = before + goodsMinor;
    sums.set(order.connectionId, sum);
    if (before > limit || sum <= limit) return;
    onUnusual();
    log.warn(
      {
        merchant: { id: toTypeId("mer", order.merchantId) },
        connection: { id: toTypeId("con", order.connectionId) },
        orderedThisHour: formatMoney({ minor: sum, currency }),
        limit: formatMoney({ minor: limit, currency }),
      },
      "unusual order value of a connection",
    );
  };
}
