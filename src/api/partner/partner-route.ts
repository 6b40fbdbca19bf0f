import { type Route, routeTable } from "../http/route.ts";
import type { PartnerCaller } from "./authentication.ts";
import type { PartnerOperations } from "./operations.ts";

/** Declares a row of the partner's table. */
export const route = routeTable<PartnerOperations, PartnerCaller>();

export type PartnerRoute = Route<PartnerOperations, PartnerCaller>;
