import type { Database } from "../../src/platform/database/database.ts";

/**
 * A database that a process loses permanently after the given number of statements and transactions, as if the process
 * had been killed there. With `applied` the last one takes effect, and only its response is lost.
 */
export function dyingDatabase(db: Database, statements: number, applied: boolean): Database {
  let left = statements;
  async function call<T>(run: () => Promise<T>): Promise<T> {
    left -= 1;
    if (left > 0) return run();
    if (left === 0 && applied) await run();
    throw new Error("The process is dead.");
  }
  return {
    ...db,
    query: (statement) => call(() => db.query(statement)),
    transaction: (work) => call(() => db.transaction(work)),
    runScript: (sql) => call(() => db.runScript(sql)),
    withClient: (work) => call(() => db.withClient(work)),
  };
}
