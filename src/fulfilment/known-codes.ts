import { isExternalOrderId } from "../orders/owners-sql.ts";
import { idsIn, isCommand, readCode } from "../platform/codes.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { CodeMeaning } from "../platform/wire/rules.ts";
import { findProductOfCode } from "../products/products-sql.ts";

type CarrierTexts = { readonly carrier?: string | null; readonly trackingNumber?: string | null };
type KnownText = { readonly field: keyof CarrierTexts; readonly knownAs: CodeMeaning };

/**
 * Which of a carrier's texts the service knows as something else (docs/design/fulfilment.md, "A code means one thing"): an id, or a
 * code of the merchant that the order belongs to. Codes of other merchants are not looked up, because their names for orders and
 * products must not keep this merchant's parcels back.
 */
export async function findKnownTexts(
  db: Queryable,
  merchantId: string,
  { carrier, trackingNumber }: CarrierTexts,
): Promise<KnownText[]> {
  // A carrier is a word, and a product may be called like one. With a digit it may be a code.
  const texts = [
    { field: "trackingNumber", text: trackingNumber ?? "" },
    { field: "carrier", text: carrier != null && /\d/.test(carrier) ? carrier : "" },
  ] as const;
  const known = await Promise.all(
    texts.map(async ({ field, text }) => {
      const knownAs = text.trim() === "" ? null : await knownAsOther(db, merchantId, text.trim());
      return knownAs === null ? [] : [{ field, knownAs }];
    }),
  );
  return known.flat();
}

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
