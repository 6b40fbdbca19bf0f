/**
 * When the schedule plans the attempt after the last of these, which was declined now. Each interval begins with the
 * decline before it. An attempt that was declined before its planned time was made out of turn: by request, or because the
 * merchant could pay more. It uses up no interval, so the planned time stays. Null after the last attempt of the schedule.
 * @param attempts at one charge or refund, oldest first. Each was added when the one before it was declined.
 */
export function plannedAfter(
  attempts: readonly { readonly createdAt: Date }[],
  waitsMs: readonly number[],
  now: Date,
): Date | null {
  const declines = [...attempts.slice(1).map(({ createdAt }) => createdAt), now].map((at) => at.getTime());
  let plannedMs = 0;
  let used = 0;
  for (const declinedMs of declines) {
    if (declinedMs < plannedMs) continue;
    const waitMs = waitsMs[used];
    if (waitMs === undefined) return null;
    plannedMs = declinedMs + waitMs;
    used += 1;
  }
  return new Date(plannedMs);
}
