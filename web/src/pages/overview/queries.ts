import { read } from "../../api/read.ts";

/** The figures change all the time; a person reads them for a minute. */
const REFRESH_MS = 60_000;

/** The periods that can be chosen, in days. */
export const PERIODS = ["7", "30", "90"] as const;
export type Period = (typeof PERIODS)[number];

export const PERIOD_DEFAULT: Period = "30";

/** @param filters as in the address of the page */
export const overviewQuery = ({
  days = PERIOD_DEFAULT,
  merchantId,
}: {
  days?: Period | undefined;
  merchantId?: string | undefined;
}) => ({
  ...read("/api/overview", {
    params: { query: { days: Number(days), ...(merchantId !== undefined && { merchantId }) } },
  }),
  refetchInterval: REFRESH_MS,
});
