import type { Me } from "../../api/schema.d.ts";

/**
 * Staff of named facilities create none, and see no order before it is routed to theirs (docs/design/people.md, "Facilities").
 */
export const worksEverywhere = ({ grants }: Me): boolean =>
  grants.some(
    ({ role, facilityIds }) => role === "operator" || (role === "warehouse" && facilityIds === null),
  );
