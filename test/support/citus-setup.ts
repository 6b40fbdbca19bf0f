import { afterAll, expect } from "vitest";
import { findUnlisted, readList, widestPlans } from "../../scripts/citus-plans.ts";
import { explainStatements, recordStatements, writePlans } from "./citus-plans.ts";
import { dropDatabases } from "./test-service.ts";

recordStatements();
// The hooks of the file itself run before this one.
afterAll(async () => {
  try {
    const planned = await explainStatements();
    writePlans(planned);
    expect(findUnlisted(widestPlans(planned), readList())).toEqual([]);
  } finally {
    await dropDatabases();
  }
});
