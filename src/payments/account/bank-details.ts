import { type Initiator, recordAudit } from "../../audit/record-audit.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** A bank account of the operator, to which merchants pay what they owe in its currency. */
export type BankDetails = {
  readonly id: string;
  readonly currency: string;
  readonly accountHolder: string;
  /** An IBAN without spaces, or another number. */
  readonly accountNumber: string;
  readonly bankCode: string | null;
  readonly bankName: string | null;
  readonly note: string | null;
  readonly updatedAt: Date;
};

/** Sets where merchants pay in a currency. A retry is safe. */
export async function setBankDetails(
  context: Context,
  fields: Omit<BankDetails, "id" | "updatedAt">,
  by: Initiator,
): Promise<BankDetails> {
  return inTransaction(context, async (tx) => {
    const set = { ...fields, id: context.newId(), updatedAt: context.clock.now() };
    const id = await upsertBankDetails(tx, set);
    await recordAudit(tx, context, by, { merchantId: null, subject: "bank", ids: [id], details: fields });
    return { ...set, id };
  });
}

/** Merchants of the currency see no account any more. False if there was none. */
export async function removeBankDetails(context: Context, currency: string, by: Initiator): Promise<boolean> {
  return inTransaction(context, async (tx) => {
    const id = await deleteBankDetails(tx, currency);
    if (id === null) return false;
    await recordAudit(tx, context, by, {
      merchantId: null,
      subject: "bank",
      ids: [id],
      details: { currency },
    });
    return true;
  });
}

export async function readBankDetails(db: Queryable, currency: string): Promise<BankDetails | null> {
  const [details = null] = await db.query<BankDetails>({
    name: "read-bank-details",
    text: `
      select id, currency, account_holder as "accountHolder", account_number as "accountNumber", bank_code as "bankCode",
             bank_name as "bankName", note, updated_at as "updatedAt"
      from bank_details
      where currency = $1`,
    values: [currency],
  });
  return details;
}

/** All of them: at most one for each currency. */
export const listBankDetails = (db: Queryable): Promise<BankDetails[]> =>
  db.query<BankDetails>({
    name: "list-bank-details",
    text: `
      select id, currency, account_holder as "accountHolder", account_number as "accountNumber", bank_code as "bankCode",
             bank_name as "bankName", note, updated_at as "updatedAt"
      from bank_details
      order by currency`,
    values: [],
  });

/** Returns the id, which stays that of the first ones of the currency. */
async function upsertBankDetails(tx: Queryable, details: BankDetails): Promise<string> {
  const [row] = await tx.query<{ id: string }>({
    name: "upsert-bank-details",
    text: `
      insert into bank_details (id, currency, account_holder, account_number, bank_code, bank_name, note, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8)
      on conflict (currency) do update
      set account_holder = excluded.account_holder, account_number = excluded.account_number,
          bank_code = excluded.bank_code, bank_name = excluded.bank_name, note = excluded.note,
          updated_at = excluded.updated_at
      returning id`,
    values: [
      details.id,
      details.currency,
      details.accountHolder,
      details.accountNumber,
      details.bankCode,
      details.bankName,
      details.note,
      details.updatedAt,
    ],
  });
  return row?.id ?? details.id;
}

async function deleteBankDetails(tx: Queryable, currency: string): Promise<string | null> {
  const [row] = await tx.query<{ id: string }>({
    name: "delete-bank-details",
    text: "delete from bank_details where currency = $1 returning id",
    values: [currency],
  });
  return row?.id ?? null;
}

/** True for an IBAN whose check digits fit (ISO 13616). */
export function isIban(text: string): boolean {
  const digits = `${text.slice(4)}${text.slice(0, 4)}`.replace(/[A-Z]/g, (letter) =>
    String(letter.charCodeAt(0) - 55),
  );
  return looksLikeIban(text) && BigInt(digits) % 97n === 1n;
}

export const looksLikeIban = (text: string): boolean => /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(text);
