import type { Static } from "typebox";
import type { Initiator } from "../../../audit/initiator.ts";
import type { WorkItem } from "../../../fulfilment/work-list/pick-list.ts";
import { readWork } from "../../../fulfilment/work-list/read-work.ts";
import type { Context } from "../../../platform/context.ts";
import { recordReads } from "../orders/record-reads.ts";
import { toWireWork, type WorkSchema } from "./work-wire.ts";

/** Orders with their destinations. Who reads them is recorded before they are sent (decision 0070). */
export async function describeWork(
  context: Context,
  by: Initiator,
  items: readonly WorkItem[],
): Promise<Static<typeof WorkSchema>[]> {
  const work = await readWork(context.db, items);
  await recordReads(context, by, { orders: work, testMode: false });
  return work.map(toWireWork);
}
