import { type Route, routeTable } from "../http/route.ts";
import type { Problem } from "../platform/wire/problems.ts";
import type { PartnerCaller } from "./authentication.ts";
import type { PartnerOperations } from "./operations.ts";

/** Of an endpoint that test keys may not change (docs/design/isolation-and-limits.md, "Live and test keys"). */
export const FOR_LIVE_KEYS: Problem = {
  code: "forbidden",
  detail: "A test key does not allow this operation. Use a live key.",
};

/** Declares a row of the partner's table. */
export const route = routeTable<PartnerOperations, PartnerCaller>();

export type PartnerRoute = Route<PartnerOperations>;
