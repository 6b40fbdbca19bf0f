import type { Queryable } from "../../platform/database/database.ts";
import { clearStockChange, listStockChanges, type StockChange } from "../../stock/supply-changes-sql.ts";
import { clearRateChange, listRateChanges, type RateChange } from "../facilities/rate-changes-sql.ts";

/** A change that can release waiting orders: more stock of a product, or new rates of a facility. */
export type SupplyChange =
  | ({ readonly about: "stock" } & StockChange)
  | ({ readonly about: "rates" } & RateChange);

/** Changes for which not all waiting orders have been evaluated. */
export async function listSupplyChanges(db: Queryable): Promise<SupplyChange[]> {
  const stock = await listStockChanges(db);
  const rates = await listRateChanges(db);
  return [
    ...stock.map((change) => ({ about: "stock" as const, ...change })),
    ...rates.map((change) => ({ about: "rates" as const, ...change })),
  ];
}

/** Clears a change after all waiting orders have been evaluated for it. A later change of the same subject stays. */
export async function clearSupplyChange(db: Queryable, change: SupplyChange): Promise<void> {
  switch (change.about) {
    case "stock":
      return clearStockChange(db, change);
    case "rates":
      return clearRateChange(db, change);
    default:
      return change satisfies never;
  }
}
