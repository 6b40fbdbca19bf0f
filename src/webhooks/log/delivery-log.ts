import type { Static } from "typebox";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { momentOf, uuidAt } from "../../platform/ids.ts";
import { CLOCK_SKEW_MAX_MS } from "../../platform/time.ts";
import { type PagePosition, toPage } from "../../platform/wire/cursor.ts";
import { type Attempt, type Delivery, type DeliverySchema, toWireDelivery } from "./delivery.ts";
import {
  type DeliveryFilter,
  hasManyDeliveries,
  listAttempts,
  listDeliveries,
  listDeliveriesOfEndpoint,
  listDeliveriesOfOrder,
  readDelivery,
} from "./delivery-log-sql.ts";

type WireDelivery = Static<typeof DeliverySchema>;
type DeliveryPage = { data: WireDelivery[]; nextCursor: string | null };

/** A page of a connection's deliveries with their attempts, newest first. */
export async function readDeliveryPage(
  db: Queryable,
  connection: ConnectionKey,
  filter: DeliveryFilter,
  position: PagePosition,
  now: Date,
): Promise<DeliveryPage> {
  const list = await listerFor(db, connection, filter);
  const { deliveries, readTo } = await list(db, connection, filter, position, now);
  const attempts = await readAttempts(db, connection, deliveries.slice(0, position.limit));
  const toWire = (delivery: Delivery) => toWireDelivery(delivery, attempts.get(delivery.id) ?? []);
  return toPage(deliveries, position, toWire, readTo);
}

async function listerFor(
  db: Queryable,
  connection: ConnectionKey,
  { orderId, endpointId }: DeliveryFilter,
): Promise<typeof listDeliveries> {
  if (orderId !== null && !(await hasManyDeliveries(db, connection, orderId))) return listDeliveriesOfOrder;
  return endpointId === null ? listDeliveries : listDeliveriesOfEndpoint;
}

/** One delivery with its attempts. Null when the connection has no such delivery. */
export async function readWireDelivery(
  db: Queryable,
  connection: ConnectionKey,
  deliveryId: string,
  now: Date,
): Promise<WireDelivery | null> {
  const delivery = await readDelivery(db, connection, deliveryId, now);
  if (delivery === null) return null;
  const attempts = await readAttempts(db, connection, [delivery]);
  return toWireDelivery(delivery, attempts.get(delivery.id) ?? []);
}

/** Attempts by delivery, oldest first. */
async function readAttempts(
  db: Queryable,
  connection: ConnectionKey,
  deliveries: readonly Delivery[],
): Promise<Map<string, Attempt[]>> {
  if (deliveries.length === 0) return new Map();
  const ids = deliveries.map(({ id }) => id);
  const earliestMs = Math.min(...ids.map((id) => momentOf(id).getTime()));
  const oldestId = uuidAt(new Date(Math.max(0, earliestMs - CLOCK_SKEW_MAX_MS)));
  const attempts = await listAttempts(db, connection, ids, oldestId);
  return Map.groupBy(attempts, ({ deliveryId }) => deliveryId);
}
