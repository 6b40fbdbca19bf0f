import type { Queryable } from "../../platform/database/database.ts";
import { fromTypeId } from "../../platform/ids.ts";
import { UUID_MIN } from "../../platform/wire/cursor.ts";
import type { OrderFilter } from "./order-list-filter.ts";
import { findOrderIdOfEvent, findOrderIdOfLine, findOrderIdOfShipment } from "./order-of-part-sql.ts";

/** What a text searches for: the order that it names by an id of the service, or a text that orders contain. */
export async function toSearchedOrder(
  db: Queryable,
  text: string | undefined,
): Promise<Pick<OrderFilter, "orderId" | "text">> {
  if (text === undefined) return { orderId: null, text: null };
  const trimmed = text.trim();
  const orderId = fromTypeId("ord", trimmed) ?? fromTypeId("test", trimmed);
  if (orderId !== null) return { orderId, text: null };
  const part = findByPart(db, trimmed);
  // No order has the nil UUID: what an id of the service does not find is not searched for as a text.
  return part === null ? { orderId: null, text: trimmed } : { orderId: (await part) ?? UUID_MIN, text: null };
}

function findByPart(db: Queryable, text: string): Promise<string | null> | null {
  const [shipment, event, line] = [
    fromTypeId("shp", text),
    fromTypeId("evt", text),
    fromTypeId("line", text),
  ];
  if (shipment !== null) return findOrderIdOfShipment(db, shipment);
  if (event !== null) return findOrderIdOfEvent(db, event);
  return line === null ? null : findOrderIdOfLine(db, line);
}
