import type pg from "pg";

type Done = (error: Error | null, result?: pg.QueryResult) => void;
/** One of the forms of pg's `query`, which both the pool and this file use. */
type Query = (statement: unknown, values: unknown, done: Done) => void;

/**
 * Ends each statement of a client after a time: a server that is gone applies no `statement_timeout`. The session ends too,
 * because its next user would wait for the same statement, and not every user reports an error to the pool.
 *
 * pg has such a limit (`query_timeout`) and promises of its own. But with either of them, what one statement leaves behind
 * keeps the next one alive until the whole heap is collected (decision 0192), so only its callbacks are used here.
 */
export function limitTime(client: pg.Client, limitMs: number): void {
  const query = client.query.bind(client) as unknown as Query;
  const limited: Query = (statement, values, done) => {
    let isOver = false;
    const end: Done = (error, result) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      done(error, result);
    };
    const timer = setTimeout(() => {
      void client.end(); // At once, since a statement is in progress.
      end(new Error("Query read timeout"));
    }, limitMs);
    query(statement, values, end);
  };
  const promised = async (statement: unknown, values: unknown): Promise<pg.QueryResult | undefined> => {
    try {
      return await new Promise((resolve, reject) =>
        limited(statement, values, (error, result) => (error === null ? resolve(result) : reject(error))),
      );
    } catch (error) {
      if (error instanceof Error) Error.captureStackTrace(error); // It leads to the caller, and not to pg's parser.
      throw error;
    }
  };
  const replacement = (statement: unknown, values?: unknown, done?: Done): unknown =>
    done === undefined ? promised(statement, values) : limited(statement, values, done);
  client.query = replacement as pg.Client["query"];
}
