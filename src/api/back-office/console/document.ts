/**
 * Options of a route that browsers, balancers and link checkers read, and no client of the API. It also responds to `HEAD`,
 * as RFC 9110 expects. The routes of the tables do not: whatever they do not list is a 404.
 */
export const DOCUMENT = { exposeHeadRoute: true } as const;
