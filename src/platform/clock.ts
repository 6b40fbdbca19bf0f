/** The only source of time. All code that depends on the time uses it, so that tests can set it. */
export type Clock = { now(): Date };

export const systemClock: Clock = { now: () => new Date() };
