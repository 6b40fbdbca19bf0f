import { findMerchants } from "../../../merchants/merchants-sql.ts";
import type { Context } from "../../../platform/context.ts";
import { fromTypeId } from "../../../platform/ids.ts";
import type { ValidationError } from "../../../platform/wire/problems.ts";
import { TOKEN_MERCHANTS_MAX } from "../../../tokens/token.ts";
import { type BackOfficeCaller, confinedTo, maySee } from "../access.ts";
import { valueAt } from "../money/amounts.ts";

/** Merchants that `grantErrors` has checked, each once. */
export const merchantIdsOf = (texts: readonly string[] = []): string[] => [
  ...new Set(texts.flatMap((text) => fromTypeId("mer", text) ?? [])),
];

/**
 * Errors in what a new token is to give access to. A caller gives no more than it has (decision 0077). A merchant that the
 * caller may not see is reported exactly as a missing one.
 */
export async function grantErrors(
  context: Context,
  caller: BackOfficeCaller,
  body: unknown,
): Promise<ValidationError[]> {
  const role = valueAt(body, "/role");
  const sent = valueAt(body, "/merchantIds");
  if (confinedTo(caller) !== null && typeof role === "string" && role !== "merchant")
    return [{ pointer: "/role", detail: "must be merchant: a token gives no more than its creator has" }];
  if (role !== "merchant")
    return sent === undefined
      ? []
      : [
          {
            pointer: "/merchantIds",
            detail: "must be absent: only the role merchant is for named merchants",
          },
        ];
  if (sent === undefined) return [{ pointer: "/merchantIds", detail: "is required for the role merchant" }];
  return Array.isArray(sent) && sent.length <= TOKEN_MERCHANTS_MAX
    ? unknownMerchants(context, caller, sent)
    : []; // The schema reports it.
}

async function unknownMerchants(
  { db }: Context,
  caller: BackOfficeCaller,
  sent: readonly unknown[],
): Promise<ValidationError[]> {
  const ids = sent.map((text) => (typeof text === "string" ? fromTypeId("mer", text) : null));
  const visible = ids.filter((id) => id !== null).filter((id) => maySee(caller, id));
  const known = new Set(await findMerchants(db, visible));
  return ids.flatMap((id, index) =>
    id !== null && known.has(id) ? [] : [{ pointer: `/merchantIds/${index}`, detail: "is not a merchant" }],
  );
}
