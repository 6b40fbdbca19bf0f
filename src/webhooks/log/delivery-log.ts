import type { Static } from "typebox";
import type { KeyAccess } from "../../merchants/key-mode.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { momentOf, uuidAt } from "../../platform/ids.ts";
import { CLOCK_SKEW_MAX_MS } from "../../platform/time.ts";
import { type PagePosition, toPage } from "../../platform/wire/cursor.ts";
import {
  type Delivery,
  type DeliverySchema,
  type LoggedAttempts,
  NO_ATTEMPTS,
  toWireDelivery,
} from "./delivery.ts";
import type { DeliveryFilter } from "./delivery-conditions-sql.ts";
import {
  countAttempts,
  hasManyDeliveries,
  listAttempts,
  listDeliveries,
  listDeliveriesOfEndpoint,
  listDeliveriesOfOrder,
  readDelivery,
} from "./delivery-log-sql.ts";

type WireDelivery = Static<typeof DeliverySchema>;
type DeliveryPage = { data: WireDelivery[]; nextCursor: string | null };

/** Attempts of each delivery in a list. A delivery seldom has more than the 13 of its schedule. */
const ATTEMPTS_IN_LIST = 20;
/** Attempts of a delivery that is read on its own. */
export const ATTEMPTS_OF_ONE = 100;
/** Attempts are counted up to this number. */
const COUNT_MAX = 10_000;
/** Characters of JSON that the responses on a page have together. */
const RESPONSES_MAX = 1_048_576;

/** A page of a connection's deliveries with their attempts, newest first. */
export async function readDeliveryPage(
  db: Queryable,
  access: KeyAccess,
  filter: DeliveryFilter,
  position: PagePosition,
  now: Date,
): Promise<DeliveryPage> {
  const list = await listerFor(db, access, filter);
  const { deliveries, readTo } = await list(db, access, filter, position, now);
  const attempts = await readAttempts(db, access, deliveries.slice(0, position.limit), ATTEMPTS_IN_LIST);
  const toWire = (delivery: Delivery) => toWireDelivery(delivery, attempts.get(delivery.id) ?? NO_ATTEMPTS);
  const fitting = countFitting(deliveries.slice(0, position.limit), attempts);
  // A page that would be too large ends earlier, as if its limit were lower.
  return fitting < Math.min(deliveries.length, position.limit)
    ? toPage(deliveries, { ...position, limit: fitting }, toWire)
    : toPage(deliveries, position, toWire, readTo);
}

/** How many of these deliveries a page shows so that their responses fit; at least one. */
function countFitting(
  deliveries: readonly Delivery[],
  attempts: ReadonlyMap<string, LoggedAttempts>,
): number {
  let bytes = 0;
  const tooMany = deliveries.findIndex(({ id }) => {
    for (const { responseBody } of attempts.get(id)?.newest ?? [])
      bytes += responseBody === null ? 0 : JSON.stringify(responseBody).length;
    return bytes > RESPONSES_MAX;
  });
  return tooMany === -1 ? deliveries.length : Math.max(1, tooMany);
}

async function listerFor(
  db: Queryable,
  connection: ConnectionKey,
  filter: DeliveryFilter,
): Promise<typeof listDeliveries> {
  if (filter.orderId !== null && !(await hasManyDeliveries(db, connection, filter)))
    return listDeliveriesOfOrder;
  return filter.endpointId === null ? listDeliveries : listDeliveriesOfEndpoint;
}

/** One delivery with its attempts. Null when the connection has no such delivery. */
export async function readWireDelivery(
  db: Queryable,
  access: KeyAccess,
  deliveryId: string,
  now: Date,
): Promise<WireDelivery | null> {
  const delivery = await readDelivery(db, access, deliveryId, now);
  if (delivery === null) return null;
  const attempts = await readAttempts(db, access, [delivery], ATTEMPTS_OF_ONE);
  return toWireDelivery(delivery, attempts.get(delivery.id) ?? NO_ATTEMPTS);
}

/** The newest attempts by delivery, oldest first, and how many there are. */
export async function readAttempts(
  db: Queryable,
  connection: ConnectionKey,
  deliveries: readonly Delivery[],
  limit: number,
): Promise<ReadonlyMap<string, LoggedAttempts>> {
  if (deliveries.length === 0) return new Map();
  const ids = deliveries.map(({ id }) => id);
  const earliestMs = Math.min(...ids.map((id) => momentOf(id).getTime()));
  const oldestId = uuidAt(new Date(Math.max(0, earliestMs - CLOCK_SKEW_MAX_MS)));
  const attempts = await listAttempts(db, connection, ids, { oldestId, limit });
  const byDelivery = Map.groupBy(attempts, ({ deliveryId }) => deliveryId);
  // Only a delivery with a full list can have more.
  const full = ids.filter((id) => byDelivery.get(id)?.length === limit);
  const counts = await countAttempts(db, connection, full, { oldestId, countMax: COUNT_MAX });
  return new Map(
    [...byDelivery].map(([id, newest]) => [id, { newest, count: counts.get(id) ?? newest.length }]),
  );
}
