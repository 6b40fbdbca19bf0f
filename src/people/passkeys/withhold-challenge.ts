import { AsyncLocalStorage } from "node:async_hooks";

/** The row in which better-auth would store a challenge of WebAuthn. Its own cookie has the identifier alone. */
export type Challenge = {
  readonly identifier: string;
  readonly value: string;
  readonly expiresAt: Date;
};

/** The options that are made now. */
const making = new AsyncLocalStorage<{ challenge: Challenge | null }>();

/** Called before better-auth stores a row. A challenge is kept out of the database (decision 0211). */
export async function withholdChallenge(row: Challenge): Promise<boolean> {
  const store = making.getStore();
  if (store === undefined) return true;
  store.challenge = row;
  return false;
}

/** Makes options of WebAuthn, and returns the challenge that they contain. Null: better-auth has made none. */
export async function withChallenge<Result>(
  make: () => Promise<Result>,
): Promise<{ result: Result; challenge: Challenge | null }> {
  const store: { challenge: Challenge | null } = { challenge: null };
  const result = await making.run(store, make);
  return { result, challenge: store.challenge };
}
