import type { Context } from "../platform/context.ts";
import { insertMerchant, type Merchant } from "./merchants-sql.ts";

export async function createMerchant(
  { db, clock, newId }: Context,
  fields: Omit<Merchant, "id" | "createdAt">,
): Promise<Merchant> {
  const merchant: Merchant = { ...fields, id: newId(), createdAt: clock.now() };
  await insertMerchant(db, merchant);
  return merchant;
}
