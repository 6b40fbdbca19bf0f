// SQL conditions that several statements share. `now` is the parameter that holds the time.

/** No attempt of the due delivery `d` is in progress. */
export const isUnleased = (now: `$${number}`): string =>
  `(d.leased_until is null or d.leased_until <= ${now})`;

/** The due delivery `d` can be claimed. */
export const isClaimable = (now: `$${number}`): string => `d.due_at <= ${now} and ${isUnleased(now)}`;

/** The endpoint of the state `s` is not backed off. */
export const isNotBackedOff = (now: `$${number}`): string =>
  `(s.backoff_until is null or s.backoff_until <= ${now})`;

/** The endpoint of the state `s` belongs to no other worker. */
export const isFreeFor = (worker: `$${number}`, now: `$${number}`): string =>
  `(s.worker_id is null or s.worker_id = ${worker} or s.leased_until <= ${now})`;

/** The resend can be processed: a resume reads the log again when no earlier transaction is open any more. */
export const isProcessable = (now: `$${number}`): string =>
  `finished_at is null and not (in_order and is_read and until > ${now})`;
