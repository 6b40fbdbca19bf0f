import type { Role } from "../../api/me.ts";
import { read } from "../../api/read.ts";

/** The figures change all the time; a person reads them for a minute. */
const REFRESH_MS = 60_000;

/** The periods that can be chosen, in days. */
export const PERIODS = ["7", "30", "90"] as const;
export type Period = (typeof PERIODS)[number];

export const PERIOD_DEFAULT: Period = "30";

/** Whose days are meant. */
const timeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** @param filters as in the address of the page */
export const overviewQuery = ({
  days = PERIOD_DEFAULT,
  merchantId,
}: {
  days?: Period | undefined;
  merchantId?: string | undefined;
}) => ({
  ...read("/api/overview", {
    params: {
      query: { days: Number(days), timeZone: timeZone(), ...(merchantId !== undefined && { merchantId }) },
    },
  }),
  refetchInterval: REFRESH_MS,
});

export const workOverviewQuery = () => ({
  ...read("/api/work-list/overview"),
  refetchInterval: REFRESH_MS,
});

/** What a person with these roles sees. An operator finds the facilities in the navigation. */
export const partsFor = (roles: readonly Role[]) => ({
  hasFigures: roles.some((role) => FIGURES.includes(role)),
  hasWork: roles.includes("warehouse"),
});

const FIGURES: readonly Role[] = ["operator", "support", "merchant", "partner"];
