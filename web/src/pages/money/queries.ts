import { read } from "../../api/read.ts";
import type { ChargeKind, ChargeStatus } from "../../api/schema.d.ts";
import { endOf, startOf, startOfMonth } from "../../text/format.ts";

const pathOf = (id: string) => ({ path: { id } });

export const CHARGE_KINDS = ["goods", "shipping", "refund"] as const satisfies readonly ChargeKind[];

export const CHARGE_STATUSES = [
  "pending",
  "succeeded",
  "failed",
  "canceled",
] as const satisfies readonly ChargeStatus[];

type Paged = { readonly cursor?: string | undefined };

/** @param filters as in the address of the list */
export const failuresQuery = (filters: Paged & { merchantId?: string | undefined; limit?: number }) =>
  read("/api/payment-failures", { params: { query: { limit: 50, ...filters } } });

export const failuresByMerchantQuery = (merchantId: string | undefined) =>
  read("/api/payment-failures/by-merchant", { params: { query: { limit: 100, merchantId } } });

export const accountQuery = (id: string) => read("/api/merchants/{id}/account", { params: pathOf(id) });

export const stripeQuery = (id: string) => read("/api/merchants/{id}/stripe", { params: pathOf(id) });

type PeriodOfDays = { readonly from?: string | undefined; readonly to?: string | undefined };

/**
 * The days are those of the person's zone, and so is the month with which a period without a first day begins: that of its last
 * day, or the present one.
 */
export const timesOf = ({ from, to }: PeriodOfDays) => ({
  from: from === undefined ? startOfMonth(to) : startOf(from),
  ...(to !== undefined && { to: endOf(to) }),
});

export const statementQuery = (id: string, { from, to, cursor }: PeriodOfDays & Paged) =>
  read("/api/merchants/{id}/statement", {
    params: { ...pathOf(id), query: { limit: 50, cursor, ...timesOf({ from, to }) } },
  });

type ChargeFilters = Paged & {
  readonly kind?: ChargeKind | undefined;
  readonly status?: ChargeStatus | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
};

export const chargesQuery = (id: string, { since, until, ...filters }: ChargeFilters) =>
  read("/api/merchants/{id}/charges", {
    params: {
      ...pathOf(id),
      query: {
        limit: 50,
        ...filters,
        ...(since !== undefined && { since: startOf(since) }),
        ...(until !== undefined && { until: endOf(until) }),
      },
    },
  });
