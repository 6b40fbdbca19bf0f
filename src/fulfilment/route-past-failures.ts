import { isOutOfReach } from "../database/database.ts";
import { toTypeId } from "../ids.ts";
import { throwTogether } from "../worker/in-turn.ts";

/**
 * Routes orders of a failed batch again, each alone, so that one that cannot be stored keeps nobody else waiting.
 * Answers the failures of those that fail alone as well.
 * @throws What made the batch fail, when no order is to blame; and that the database is out of reach, as it is so for
 * each of them.
 */
export async function routePastFailures(
  batch: { readonly error: unknown; readonly orderIds: readonly string[] },
  routeAlone: (orderId: string) => Promise<unknown>,
): Promise<Error[]> {
  if (isOutOfReach(batch.error) || batch.orderIds.length === 0) throw batch.error;
  const failures: Error[] = [];
  for (const orderId of batch.orderIds) {
    try {
      await routeAlone(orderId);
    } catch (error) {
      if (isOutOfReach(error)) throw error;
      failures.push(new Error(`Order ${toTypeId("ord", orderId)} could not be routed.`, { cause: error }));
    }
  }
  return failures;
}

/** Tells at the end of a round what failed in it. */
export const tellFailures = (failures: readonly Error[]): void =>
  throwTogether(failures, `${failures.length} orders could not be routed.`);
