import type { Database, Queryable } from "../../src/platform/database/database.ts";
import type { WebhookContext } from "../../src/webhooks/conditions-sql.ts";
import { isOnCitus } from "./plain-postgres.ts";

export type StatementCount = {
  /** A service like the given one, whose statements count here. */
  readonly context: WebhookContext;
  /** Names of the statements in the order in which they ran; `transaction` for the beginning of each transaction. */
  readonly names: string[];
};

/**
 * The statements of a batch. Citus runs some of them merchant by merchant, one after the other
 * (docs/design/distribution.md, "Merchant by merchant"). There they count once.
 */
export const statementsOfBatch = (names: readonly string[]): readonly string[] =>
  isOnCitus() ? names.filter((name, at) => name !== names[at - 1]) : names;

/** Counts what a piece of work asks of the database. */
export function countStatements(context: WebhookContext): StatementCount {
  const names: string[] = [];
  const counted = ({ query, isDistributed, beforeCommit }: Queryable): Queryable => ({
    isDistributed,
    ...(beforeCommit && { beforeCommit }),
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
