import type { Me } from "../../api/schema.d.ts";

/** Staff of named facilities create none, and see no order before it is routed to theirs (decision 0121). */
export const worksEverywhere = ({ grants }: Me): boolean =>
  grants.some(
    ({ role, facilityIds }) => role === "operator" || (role === "warehouse" && facilityIds === null),
  );
