import type { Queryable } from "../platform/database/database.ts";
import type { Problem } from "../platform/wire/problems.ts";

/**
 * Who makes a key, a token, a grant or an endpoint. What a token makes ends with it, or before (docs/design/people.md, "What a token
 * makes").
 */
export type Maker = {
  /** Null: a person, `OPERATOR_TOKEN` or the command line. */
  readonly tokenId: string | null;
  /** The name of the token. Empty: no token. */
  readonly tokenName: string;
  /** When the token ends. Null: never. */
  readonly endsAt: Date | null;
};

/**
 * The maker, locked until the transaction ends: a revocation of its token waits, and then finds what was made. Or the problem: it was
 * revoked before.
 */
export type LockMaker = (tx: Queryable) => Promise<Maker | Problem>;

/** No token: what is made ends with nothing. */
export const NO_MAKER: Maker = { tokenId: null, tokenName: "", endsAt: null };
export const NO_TOKEN: LockMaker = async () => NO_MAKER;

/** The earlier one of two ends. Null: never. */
export const earlierEnd = (one: Date | null, other: Date | null): Date | null =>
  one === null || (other !== null && other < one) ? other : one;
