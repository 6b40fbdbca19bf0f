/** Callers whose members are kept. Beyond them all are made again. */
const CALLERS_MAX = 4_096;

/**
 * Returns the members of a log line that name a caller, as JSON. They are kept, because most requests come from few
 * callers, and a TypeID alone takes a microsecond.
 */
export function callerMembers<Caller>(
  keyOf: (caller: Caller) => string,
  describe: (caller: Caller) => object,
): (caller: Caller) => string {
  const kept = new Map<string, string>();
  return (caller) => {
    const key = keyOf(caller);
    const known = kept.get(key);
    if (known !== undefined) return known;
    const members = JSON.stringify(describe(caller)).slice(1, -1);
    if (kept.size >= CALLERS_MAX) kept.clear();
    kept.set(key, members);
    return members;
  };
}
