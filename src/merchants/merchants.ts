import { type Initiator, recordAudit } from "../audit/record-audit.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { insertMerchant, type Merchant } from "./merchants-sql.ts";

export async function createMerchant(
  context: Context,
  fields: Omit<Merchant, "id" | "limits" | "createdAt">,
  by: Initiator,
): Promise<Merchant> {
  const { clock, newId } = context;
  return inTransaction(context, async (tx) => {
    const merchant: Merchant = { ...fields, id: newId(), limits: {}, createdAt: clock.now() };
    await insertMerchant(tx, merchant);
    const { id } = merchant;
    await recordAudit(tx, context, by, { merchantId: id, subject: "mer", ids: [id], details: fields });
    return merchant;
  });
}
