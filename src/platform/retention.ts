const DAY_MS = 86_400_000;

/** How long events can be read and sent (decision 0030). */
export const EVENTS_KEPT_MS = 30 * DAY_MS;
/** How long the log of deliveries goes back: deliveries, attempts, recoveries and mails. */
export const LOG_KEPT_MS = 90 * DAY_MS;

export const before = (now: Date, ms: number): Date => new Date(now.getTime() - ms);
