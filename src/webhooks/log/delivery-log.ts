import type { Static } from "typebox";
import type { KeyAccess } from "../../merchants/key-mode.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { momentOf, toTypeId, uuidAt } from "../../platform/ids.ts";
import { CLOCK_SKEW_MAX_MS } from "../../platform/time.ts";
import { type PagePosition, toPage } from "../../platform/wire/cursor.ts";
import { type AllDeliveriesFilter, listAllDeliveries, type OwnedDelivery } from "./all-deliveries-sql.ts";
import { countDeliveryAttempts, type DeliveryKey, listAttempts } from "./attempts-sql.ts";
import {
  type Delivery,
  type DeliverySchema,
  type LoggedAttempts,
  NO_ATTEMPTS,
  type OwnedDeliverySchema,
  toWireDelivery,
} from "./delivery.ts";
import type { DeliveryFilter } from "./delivery-conditions-sql.ts";
import {
  hasManyDeliveries,
  listDeliveries,
  listDeliveriesOfEndpoint,
  listDeliveriesOfOrder,
  readDelivery,
} from "./delivery-log-sql.ts";

type WireDelivery = Static<typeof DeliverySchema>;
type WireOwnedDelivery = Static<typeof OwnedDeliverySchema>;
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
  return showPage(db, deliveries.map(ofMerchant(access)), position, readTo, toWireDelivery);
}

/** A page of the deliveries of all connections that a filter shows, with their attempts, newest first. */
export async function readAllDeliveriesPage(
  db: Queryable,
  filter: AllDeliveriesFilter,
  position: PagePosition,
  now: Date,
): Promise<{ data: WireOwnedDelivery[]; nextCursor: string | null }> {
  const { deliveries, readTo } = await listAllDeliveries(db, filter, position, now);
  return showPage(db, deliveries, position, readTo, toWireOwnedDelivery);
}

const toWireOwnedDelivery = (delivery: OwnedDelivery, attempts: LoggedAttempts): WireOwnedDelivery => ({
  ...toWireDelivery(delivery, attempts),
  connectionId: toTypeId("con", delivery.connectionId),
  connectionName: delivery.connectionName,
});

async function showPage<Listed extends Delivery & DeliveryKey, Wire>(
  db: Queryable,
  deliveries: readonly Listed[],
  position: PagePosition,
  readTo: string | null,
  show: (delivery: Listed, attempts: LoggedAttempts) => Wire,
): Promise<{ data: Wire[]; nextCursor: string | null }> {
  const shown = deliveries.slice(0, position.limit);
  const attempts = await readAttempts(db, shown, ATTEMPTS_IN_LIST);
  const toWire = (delivery: Listed) => show(delivery, attempts.get(delivery.id) ?? NO_ATTEMPTS);
  const fitting = countFitting(shown, attempts);
  // A page that would be too large ends earlier, as if its limit were lower.
  return fitting < shown.length
    ? toPage(deliveries, { ...position, limit: fitting }, toWire)
    : toPage(deliveries, position, toWire, readTo);
}

const ofMerchant =
  ({ merchantId }: ConnectionKey) =>
  (delivery: Delivery): Delivery & DeliveryKey => ({ ...delivery, merchantId });

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
  const attempts = await readAttempts(db, [ofMerchant(access)(delivery)], ATTEMPTS_OF_ONE);
  return toWireDelivery(delivery, attempts.get(delivery.id) ?? NO_ATTEMPTS);
}

/** The newest attempts by delivery, oldest first, and how many there are. */
export async function readAttempts(
  db: Queryable,
  deliveries: readonly DeliveryKey[],
  limit: number,
): Promise<ReadonlyMap<string, LoggedAttempts>> {
  if (deliveries.length === 0) return new Map();
  const earliestMs = Math.min(...deliveries.map(({ id }) => momentOf(id).getTime()));
  const oldestId = uuidAt(new Date(earliestMs - CLOCK_SKEW_MAX_MS));
  const attempts = await listAttempts(db, deliveries, { oldestId, limit });
  const byDelivery = Map.groupBy(attempts, ({ deliveryId }) => deliveryId);
  // Only a delivery with a full list can have more.
  const full = deliveries.filter(({ id }) => byDelivery.get(id)?.length === limit);
  const counts = await countDeliveryAttempts(db, full, { oldestId, countMax: COUNT_MAX });
  return new Map(
    [...byDelivery].map(([id, newest]) => [id, { newest, count: counts.get(id) ?? newest.length }]),
  );
}
