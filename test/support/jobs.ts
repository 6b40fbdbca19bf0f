import { fromTypeId } from "../../src/platform/ids.ts";
import { JOBS } from "../../src/service/jobs.ts";
import type { TestService } from "./test-service.ts";

/** Runs a job of the worker once. Returns how many items it processed. */
export async function runJob(
  { context }: Pick<TestService, "context">,
  name: string,
  stopping?: AbortSignal,
): Promise<number> {
  const job = JOBS.find((candidate) => candidate.name === name);
  if (job === undefined) throw new Error(`There is no job ${name}.`);
  return job.run(context, stopping);
}

/** The statuses of orders as stored, without the effect of the clock. */
export async function storedStatuses(test: TestService, connectionId?: string): Promise<string[]> {
  const rows = await test.db.query<{ connection_id: string; status: string }>({
    name: "test-stored-statuses",
    text: "select connection_id, status from orders order by id",
    values: [],
  });
  const uuid = connectionId === undefined ? null : fromTypeId("con", connectionId);
  return rows.filter((row) => uuid === null || row.connection_id === uuid).map(({ status }) => status);
}
