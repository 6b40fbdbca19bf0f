import { CHORES } from "../../src/app/worker.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import type { TestService } from "./test-service.ts";

/** Runs a chore of the worker once; answers how much it has done. */
export async function runChore(
  { context }: Pick<TestService, "context">,
  name: string,
  stopping?: AbortSignal,
): Promise<number> {
  const chore = CHORES.find((candidate) => candidate.name === name);
  if (chore === undefined) throw new Error(`The worker has no chore ${name}.`);
  return chore.run(context, stopping);
}

/** How an order lies in the table, without anybody looking at the clock. */
export async function storedStatuses(test: TestService, connectionId?: string): Promise<string[]> {
  const rows = await test.db.query<{ connection_id: string; status: string }>({
    name: "test-stored-statuses",
    text: "select connection_id, status from orders order by id",
    values: [],
  });
  const uuid = connectionId === undefined ? null : fromTypeId("con", connectionId);
  return rows.filter((row) => uuid === null || row.connection_id === uuid).map(({ status }) => status);
}
