import type { Database } from "../../src/platform/database/database.ts";
import type { WebhookContext } from "../../src/webhooks/conditions-sql.ts";

/**
 * A service like the given one, with something done before each of its transactions; `number` counts them from 1.
 */
export function betweenTransactions(
  context: WebhookContext,
  before: (number: number) => void | Promise<void>,
): WebhookContext {
  let number = 0;
  const db: Database = {
    ...context.db,
    async transaction(work) {
      number += 1;
      await before(number);
      return context.db.transaction(work);
    },
  };
  return { ...context, db };
}
