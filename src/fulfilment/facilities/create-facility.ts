import type { Context } from "../../platform/context.ts";
import { insertFacility } from "./facilities-sql.ts";
import type { Facility } from "./facility.ts";

/** Creates a facility without stock and rates. The first facility turns routing on. */
export async function createFacility(
  { db, clock, newId }: Context,
  fields: Pick<Facility, "name" | "countryCode">,
): Promise<Facility> {
  const facility: Facility = { ...fields, id: newId(), createdAt: clock.now() };
  await insertFacility(db, facility);
  return facility;
}
