import { comparableNumber } from "../orders/changes/tracking-number.ts";
import { isExternalOrderId } from "../orders/owners-sql.ts";
import { idsIn, isCommand, readCode } from "../platform/codes.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { CodeMeaning } from "../platform/wire/rules.ts";
import { findProductOfCode } from "../products/products-sql.ts";

type CarrierTexts = { readonly carrier?: string | null; readonly trackingNumber?: string | null };
type KnownText = { readonly field: keyof CarrierTexts; readonly knownAs: CodeMeaning };

/**
 * Which of a carrier's texts the service knows as something else (docs/design/fulfilment.md, "A code means one thing"): an id, a
 * code of the merchant that the order belongs to, or a number in place of the carrier's name. Codes of other merchants are not
 * looked up, because their names for orders and products must not keep this merchant's parcels back.
 */
export async function findKnownTexts(
  db: Queryable,
  merchantId: string,
  { carrier, trackingNumber }: CarrierTexts,
): Promise<KnownText[]> {
  // A carrier is a word, and a product may be called like one. With a digit, or without a letter, it may be a code.
  const texts = [
    { field: "trackingNumber", text: trackingNumber ?? "" },
    { field: "carrier", text: isWord(carrier ?? "") ? "" : (carrier ?? "") },
  ] as const;
  const known = await Promise.all(
    texts.map(async ({ field, text }) => {
      if (text.trim() === "") return [];
      const knownAs = await knownAsOther(db, merchantId, text.trim());
      if (knownAs !== null) return [{ field, knownAs }];
      return field === "carrier" && isNumber(text, trackingNumber)
        ? [{ field, knownAs: "number" as const }]
        : [];
    }),
  );
  return known.flat();
}

const isWord = (text: string): boolean => /\p{L}/u.test(text) && !/\d/.test(text);

/** The most digits of a carrier's name: `17TRACK` and `Kurier 2000` are names. */
const DIGITS_IN_NAME_MAX = 5;

/** True if a carrier is a number, or has the form of one, or is the tracking number itself: it was scanned one step early. */
const isNumber = (carrier: string, trackingNumber: string | null | undefined): boolean =>
  !/\p{L}/u.test(carrier) ||
  carrier.replace(/\D/g, "").length > DIGITS_IN_NAME_MAX ||
  comparableNumber(carrier) === comparableNumber(trackingNumber ?? "");

async function knownAsOther(db: Queryable, merchantId: string, text: string): Promise<CodeMeaning | null> {
  const [id] = idsIn(text);
  if (id !== undefined) return id.prefix === "ord" ? "order" : id.prefix === "shp" ? "shipment" : "id";
  if (isCommand(text)) return "command";
  const [product, isOrder] = await Promise.all([
    findProductOfCode(db, merchantId, text),
    isExternalOrderId(db, merchantId, readCode(text)),
  ]);
  return product ?? (isOrder ? "external_order_id" : null);
}
