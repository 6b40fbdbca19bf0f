import type { Money as MoneyValue } from "../api/schema.d.ts";
import { formatMoney } from "../text/format.ts";
import classes from "./money.module.css";

/**
 * An amount in the merchant's currency. Digits have one width, so that columns of amounts align. Nothing for null: what
 * the person may not see has no amount.
 */
export const Money = ({ of }: { of: MoneyValue | null }) =>
  of === null ? null : <span className={classes["money"]}>{formatMoney(of)}</span>;
