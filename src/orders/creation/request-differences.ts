import type { Order } from "../../lifecycle/order.ts";
import { asRequested } from "../../lifecycle/parts.ts";
import { ERASED } from "../personal-data-sql.ts";
import { hashOrderRequest, type OrderRequest } from "./order-request.ts";

/**
 * The members in which a request differs from the one that created an order, as JSON Pointers. The first request is not
 * stored: its hash and the order are what is left of it. Names only what is certain
 * (docs/design/creating-orders.md, "What differs").
 * @param firstHash the hash of the request that created the order
 */
export function differencesFrom(order: Order, firstHash: Buffer, sent: OrderRequest): string[] {
  const { shippingAddress, externalOrderId, testMode, note, metadata } = order;
  const first = {
    shippingAddress,
    lines: asRequested(order.lines),
    externalOrderId,
    testMode,
    note,
    metadata,
  } satisfies OrderRequest;
  return [
    ...(isErased(order) ? [] : addressDifferences(first, firstHash, sent)),
    ...lineDifferences(first, sent),
    ...(externalOrderId === sent.externalOrderId ? [] : ["/externalOrderId"]),
    ...(testMode === sent.testMode ? [] : ["/testMode"]),
    ...(isErased(order) || note === sent.note ? [] : ["/note"]),
    ...(isErased(order) ? [] : differentMembers("/metadata", metadata, sent.metadata)),
  ];
}

const isErased = ({ shippingAddress: { firstName, address1, city } }: Order): boolean =>
  [firstName, address1, city].every((text) => text === ERASED);

/** A correction may have changed the address since. The hash then shows whether it differs, but not in which field. */
function addressDifferences(first: OrderRequest, firstHash: Buffer, sent: OrderRequest): string[] {
  const isFirst = (request: OrderRequest) => hashOrderRequest(request).equals(firstHash);
  if (isFirst(first))
    return differentMembers("/shippingAddress", first.shippingAddress, sent.shippingAddress);
  return isFirst({ ...first, shippingAddress: sent.shippingAddress }) ? [] : ["/shippingAddress"];
}

function lineDifferences({ lines }: OrderRequest, sent: OrderRequest): string[] {
  if (lines.length !== sent.lines.length) return ["/lines"];
  return lines.flatMap((line, index) => differentMembers(`/lines/${index}`, line, { ...sent.lines[index] }));
}

/** Pointers to the members of two objects that differ. A member of one of them alone differs too. */
function differentMembers(pointer: string, one: object, other: object): string[] {
  const [ofOne, ofOther] = [new Map(Object.entries(one)), new Map(Object.entries(other))];
  return [...new Set([...ofOne.keys(), ...ofOther.keys()])]
    .filter((name) => ofOne.get(name) !== ofOther.get(name))
    .map((name) => `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`);
}
