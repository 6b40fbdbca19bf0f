import type { Service } from "../service.ts";
import { insertMerchant, type Merchant } from "./merchants-sql.ts";

export async function createMerchant(
  { db, clock, newId }: Service,
  fields: Omit<Merchant, "id" | "createdAt">,
): Promise<Merchant> {
  const merchant: Merchant = { ...fields, id: newId(), createdAt: clock.now() };
  await insertMerchant(db, merchant);
  return merchant;
}
