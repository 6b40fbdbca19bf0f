import type { Order } from "../../lifecycle/order.ts";
import type { Context } from "../../platform/context.ts";
import { toTypeId } from "../../platform/ids.ts";
import { formatMoney } from "../../platform/money.ts";
import { HOUR_MS } from "../../platform/time.ts";

type PlacedValue = { readonly order: Order; readonly goodsMinor: bigint; readonly currency: string };

/**
 * Adds up what each connection has ordered since the hour began, and alerts once an hour when that is more than
 * ALERT_ORDER_VALUES: a stolen key, or a program that orders again and again (decision 0072). Each process counts for
 * itself. What is kept is a number for each connection that has ordered in this hour.
 */
export function watchOrderValues(
  { clock, config, log }: Context,
  onUnusual: () => void,
): (placed: PlacedValue) => void {
  const sums = new Map<string, bigint>();
  let hour = 0;
  return ({ order, goodsMinor, currency }) => {
    const limit = config.alertOrderValuesMinor.get(currency);
    if (limit === undefined || order.testMode) return; // A test order is never charged.
    const current = Math.floor(clock.now().getTime() / HOUR_MS);
    if (current !== hour) sums.clear();
    hour = current;
    const before = sums.get(order.connectionId) ?? 0n;
    const sum = before + goodsMinor;
    sums.set(order.connectionId, sum);
    if (before > limit || sum <= limit) return;
    onUnusual();
    log.warn(
      {
        merchant: { id: toTypeId("mer", order.merchantId) },
        connection: { id: toTypeId("con", order.connectionId) },
        orderedThisHour: formatMoney({ minor: sum, currency }),
        limit: formatMoney({ minor: limit, currency }),
      },
      "unusual order value of a connection",
    );
  };
}
