import type { Database } from "../../src/database/database.ts";
import type { Service } from "../../src/service.ts";

/**
 * A service like the given one, with something done before each of its transactions; `number` counts them from 1.
 */
export function betweenTransactions(
  service: Service,
  before: (number: number) => void | Promise<void>,
): Service {
  let number = 0;
  const db: Database = {
    ...service.db,
    async transaction(work) {
      number += 1;
      await before(number);
      return service.db.transaction(work);
    },
  };
  return { ...service, db };
}
