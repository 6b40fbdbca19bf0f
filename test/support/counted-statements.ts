import type { Database, Queryable } from "../../src/platform/database/database.ts";
import type { WebhookContext } from "../../src/webhooks/context.ts";

export type StatementCount = {
  /** A service like the given one, whose statements count here. */
  readonly context: WebhookContext;
  /** Names of the statements in the order in which they ran; `transaction` for the beginning of each transaction. */
  readonly names: string[];
};

/** Counts what a piece of work asks of the database. */
export function countStatements(context: WebhookContext): StatementCount {
  const names: string[] = [];
  const counted = ({ query, isDistributed }: Queryable): Queryable => ({
    isDistributed,
    query(statement) {
      names.push(statement.name);
      return query(statement);
    },
  });
  const db: Database = {
    ...context.db,
    ...counted(context.db),
    transaction(work) {
      names.push("transaction");
      return context.db.transaction((tx) => work(counted(tx)));
    },
  };
  return { context: { ...context, db }, names };
}
