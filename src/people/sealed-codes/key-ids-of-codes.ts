import type { Queryable } from "../../platform/database/database.ts";
import { keyIdOf } from "../auth/auth-secrets.ts";
import { listVersionsOfCodes } from "./sealed-codes-sql.ts";

/** The ids of all keys with which one-time codes are encrypted. What has not the form of better-auth has no key. */
export const listKeyIdsOfCodes = async (db: Queryable): Promise<string[]> =>
  (await listVersionsOfCodes(db)).flatMap((version) => keyIdOf(Number(version)) ?? []);
