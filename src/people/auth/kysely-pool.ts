import type { Database } from "../../platform/database/database.ts";

type Client = {
  query: (text: string, parameters: readonly unknown[]) => Promise<unknown>;
  release: () => void;
};

/**
 * Our connections in the form that better-auth's query builder expects, so that it has the same time limits and the same
 * pool as the other statements of the back office.
 */
export const kyselyPool = (db: Pick<Database, "withClient">) => ({
  connect: () =>
    new Promise<Client>((resolve, reject) => {
      db.withClient(
        (client) =>
          new Promise<void>((release) => {
            // pg's client has the methods; only its overloads differ.
            const query = client.query.bind(client) as unknown as Client["query"];
            resolve({ query, release });
          }),
      ).catch(reject);
    }),
  end: async () => undefined, // Who opened the pool closes it.
});
