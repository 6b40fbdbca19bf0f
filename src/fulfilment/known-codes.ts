import { comparableNumber } from "../orders/changes/tracking-number.ts";
import { listExternalOrderIds } from "../orders/owners-sql.ts";
import { idsIn, isCommand, readCode } from "../platform/codes.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { CodeMeaning } from "../platform/wire/rules.ts";
import { findProductsOfCodes } from "../products/products-sql.ts";

/** A carrier's texts for a parcel of a merchant. */
type CarrierTexts = {
  readonly merchantId: string;
  readonly carrier?: string | null | undefined;
  readonly trackingNumber?: string | null | undefined;
};
export type KnownText = { readonly field: "carrier" | "trackingNumber"; readonly knownAs: CodeMeaning };

/**
 * Of each parcel, which of a carrier's texts the service knows as something else (docs/design/fulfilment.md, "A code means one
 * thing"): an id, a code of the merchant that the order belongs to, or a number in place of the carrier's name. Codes of other
 * merchants are not looked up, because their names for orders and products must not keep this merchant's parcels back.
 */
export async function findKnownTexts(
  db: Queryable,
  parcels: readonly CarrierTexts[],
): Promise<readonly KnownText[][]> {
  const asked = parcels.flatMap((parcel) => textsOf(parcel).map(({ text }) => ({ ...parcel, text })));
  const known = new Map<string, ReadonlyMap<string, CodeMeaning>>();
  for (const [merchantId, own] of Map.groupBy(asked, (each) => each.merchantId))
    known.set(merchantId, await meaningsOf(db, merchantId, [...new Set(own.map(({ text }) => text))]));
  return parcels.map((parcel) =>
    textsOf(parcel).flatMap(({ field, text }) => {
      const knownAs = known.get(parcel.merchantId)?.get(text);
      if (knownAs !== undefined) return [{ field, knownAs }];
      return field === "carrier" && isNumber(text, parcel.trackingNumber)
        ? [{ field, knownAs: "number" }]
        : [];
    }),
  );
}

/** A carrier is a word, and a product may be called like one. With a digit, or without a letter, it may be a code. */
function textsOf({ carrier, trackingNumber }: CarrierTexts): { field: KnownText["field"]; text: string }[] {
  const texts = [
    { field: "trackingNumber" as const, text: trackingNumber?.trim() ?? "" },
    { field: "carrier" as const, text: isWord(carrier ?? "") ? "" : (carrier?.trim() ?? "") },
  ];
  return texts.filter(({ text }) => text !== "");
}

const isWord = (text: string): boolean => /\p{L}/u.test(text) && !/\d/.test(text);

/** The most digits of a carrier's name: `17TRACK` and `Kurier 2000` are names. */
const DIGITS_IN_NAME_MAX = 5;

/** True if a carrier is a number, or has the form of one, or is the tracking number itself: it was scanned one step early. */
const isNumber = (carrier: string, trackingNumber: string | null | undefined): boolean =>
  !/\p{L}/u.test(carrier) ||
  carrier.replace(/\D/g, "").length > DIGITS_IN_NAME_MAX ||
  comparableNumber(carrier) === comparableNumber(trackingNumber ?? "");

async function meaningsOf(
  db: Queryable,
  merchantId: string,
  texts: readonly string[],
): Promise<ReadonlyMap<string, CodeMeaning>> {
  const meanings = new Map(texts.map((text) => [text, meaningByForm(text)]));
  const others = texts.filter((text) => meanings.get(text) === null);
  if (others.length > 0) {
    const [products, orders] = await Promise.all([
      findProductsOfCodes(db, merchantId, others),
      listExternalOrderIds(db, merchantId, others.map(readCode)),
    ]);
    for (const text of others)
      meanings.set(text, products.get(text) ?? (orders.has(readCode(text)) ? "external_order_id" : null));
  }
  return new Map([...meanings].flatMap(([text, meaning]) => (meaning === null ? [] : [[text, meaning]])));
}

function meaningByForm(text: string): CodeMeaning | null {
  const [id] = idsIn(text);
  if (id !== undefined) return id.prefix === "ord" ? "order" : id.prefix === "shp" ? "shipment" : "id";
  return isCommand(text) ? "command" : null;
}
