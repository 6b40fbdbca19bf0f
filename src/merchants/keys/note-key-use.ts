import type { Context } from "../../platform/context.ts";
import { groupCalls } from "../../platform/database/group.ts";
import { before, MINUTE_MS } from "../../platform/time.ts";
import { recordKeyUses } from "../keys-sql.ts";

/** A later use within this time is not written. */
const LAST_USE_INTERVAL_MS = 5 * MINUTE_MS;
/** Keys whose last use a process remembers. Beyond these it forgets all, and writes the next use of each. */
const KEYS_REMEMBERED_MAX = 20_000;
const GROUP_SIZE_MAX = 128;

/** Notes that a key was used now. It never fails, and the request does not wait for it. */
export type NoteKeyUse = (keyId: string) => void;

/**
 * Records uses of keys beside the requests (decision 0143): one statement for many keys, one at a time, and none for a key
 * that this process has noted within five minutes. A failure is logged only.
 */
export function keyUseNotes({ db, clock, log }: Pick<Context, "db" | "clock" | "log">): NoteKeyUse {
  const noted = new Map<string, number>();
  const record = groupCalls<string, null>({
    name: "note key uses",
    run: async (keyIds) => {
      const now = clock.now();
      await recordKeyUses(db, [...new Set(keyIds)].sort(), now, before(now, LAST_USE_INTERVAL_MS));
      return keyIds.map(() => null);
    },
    sizeMax: GROUP_SIZE_MAX,
    concurrencyMax: 1,
  });
  return (keyId) => {
    const now = clock.now().getTime();
    const last = noted.get(keyId);
    if (last !== undefined && now - last < LAST_USE_INTERVAL_MS) return;
    if (noted.size >= KEYS_REMEMBERED_MAX) noted.clear();
    noted.set(keyId, now);
    record(keyId).catch((err: unknown) => log.warn({ err }, "last use of key not recorded"));
  };
}
