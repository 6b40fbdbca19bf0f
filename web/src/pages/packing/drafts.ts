import type { ScannedOrder } from "../../api/schema.d.ts";
import { readStored, store } from "../../stored.ts";
import {
  type OpenPacking,
  openOrder,
  type Part,
  parcelRequest,
  shipmentOfLostAttempt,
  textOf,
} from "./packing.ts";

// What a table keeps in the browser, so that a printed page, a reload or a crash loses nothing.

/** Without the buyer's data: of the address there is a number, which shows that it has changed. */
export type Draft = Pick<
  OpenPacking,
  | "step"
  | "counts"
  | "missing"
  | "rest"
  | "damaged"
  | "reference"
  | "parcels"
  | "weightGrams"
  | "carrier"
  | "wasSent"
> & {
  readonly orderId: string;
  readonly name: string;
  readonly savedAtMs: number;
  /** It was put aside or closed, and is continued only when its order is scanned. */
  readonly isAside: boolean;
  readonly goods: string;
  readonly address: number;
  /** The number of the parcel whose attempt got no response, and the shipments that there were before it. */
  readonly sent: { readonly trackingNumber: string | null; readonly shipmentIds: readonly string[] } | null;
};

export const draftOf = (
  state: OpenPacking,
  { savedAtMs, isAside, sent }: Pick<Draft, "savedAtMs" | "isAside"> & { sent: string | null | undefined },
): Draft => ({
  step: state.step,
  counts: state.counts,
  missing: state.missing,
  rest: state.rest,
  damaged: state.damaged,
  reference: state.reference,
  parcels: state.parcels,
  weightGrams: state.weightGrams,
  carrier: state.carrier,
  wasSent: state.wasSent,
  orderId: state.order.orderId,
  name: state.order.externalOrderId ?? state.order.orderId,
  ...{ savedAtMs, isAside },
  goods: textOf.goods(state.order),
  address: hashOf(textOf.address(state.order)),
  sent:
    sent === undefined
      ? null
      : { trackingNumber: sent, shipmentIds: state.order.shipments.map(({ id }) => id) },
});

/** An order that is opened again, with what was counted; and what has changed since. */
export function resume(
  draft: Draft,
  now: ScannedOrder,
  mayCancel: boolean,
): { readonly packing: OpenPacking; readonly parts: readonly Part[]; readonly shipmentId: string | null } {
  const { step, counts, missing, rest, damaged, reference, parcels, weightGrams, carrier, wasSent } = draft;
  const kept = { step, counts, missing, rest, weightGrams, wasSent };
  const opened = openOrder(now, carrier, { parcels, damaged, mayCancel, reference });
  const packing = { ...opened, ...kept };
  const before = now.shipments.filter(({ id }) => draft.sent?.shipmentIds.includes(id));
  const asSent = { ...packing, order: { ...now, shipments: before } };
  const shipmentId =
    draft.sent === null
      ? null
      : shipmentOfLostAttempt(asSent, parcelRequest(asSent, draft.sent.trackingNumber), now);
  const isOther = {
    goods: draft.goods !== textOf.goods(now),
    address: draft.address !== hashOf(textOf.address(now)),
  };
  const parts = (["goods", "address"] as const).filter((part) => isOther[part]);
  return { packing: isOther.goods ? opened : packing, parts, shipmentId };
}

/** FNV-1a: two addresses that differ by a correction have different numbers. */
const hashOf = (text: string): number =>
  [...text].reduce((hash, sign) => Math.imul(hash ^ (sign.codePointAt(0) ?? 0), 16_777_619), 2_166_136_261);

const DRAFTS_MAX = 30;
/** As long as the longest pick list. */
const DRAFT_MS = 12 * 3_600_000;
const keyOf = (personId: string): string => `packing:${personId}`;

/** The orders that the person has begun on this device, newest first. */
export function draftsOf(personId: string): readonly Draft[] {
  try {
    const drafts: unknown = JSON.parse(readStored(keyOf(personId)) ?? "[]");
    // Only this file writes them.
    return Array.isArray(drafts)
      ? (drafts as Draft[]).filter(({ savedAtMs }) => savedAtMs > Date.now() - DRAFT_MS)
      : [];
  } catch {
    return [];
  }
}

export const saveDraft = (personId: string, draft: Draft): void =>
  storeDrafts(personId, [draft, ...draftsOf(personId).filter(({ orderId }) => orderId !== draft.orderId)]);

export const removeDraft = (personId: string, orderId: string): void =>
  storeDrafts(
    personId,
    draftsOf(personId).filter((draft) => draft.orderId !== orderId),
  );

const storeDrafts = (personId: string, drafts: readonly Draft[]): void =>
  store(keyOf(personId), JSON.stringify(drafts.slice(0, DRAFTS_MAX)));
