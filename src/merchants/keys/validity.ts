import { after, HOUR_MS, LATEST } from "../../platform/time.ts";

/** How long a key of a connection, or a token of the back office, is valid. */
export type Validity = {
  readonly createdAt: Date;
  /** Null if it does not expire. */
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
};

export const isValid = ({ revokedAt, expiresAt }: Omit<Validity, "createdAt">, now: Date): boolean =>
  revokedAt === null && (expiresAt === null || now < expiresAt);

/** When what replaces it expires, unless the request says so: after as long a time as the first one was given. */
export const renewedExpiry = (
  { createdAt, expiresAt }: Pick<Validity, "createdAt" | "expiresAt">,
  now: Date,
): Date | null =>
  expiresAt === null
    ? null
    : new Date(Math.min(now.getTime() + expiresAt.getTime() - createdAt.getTime(), LATEST.getTime()));

/** When it ends after it was replaced: with the overlap, but never later than before. */
export function endOfOverlap({ expiresAt }: Pick<Validity, "expiresAt">, hours: number, now: Date): Date {
  const overlapEnd = after(now, Math.round(hours * HOUR_MS));
  return expiresAt !== null && expiresAt < overlapEnd ? expiresAt : overlapEnd;
}

/** Why it cannot be rotated. */
export const END_REASONS = ["revoked", "expired", "replaced"] as const;
export type EndReason = (typeof END_REASONS)[number];

/** Null: it can be rotated. */
export function whyNotRotatable(
  replaced: Validity & { readonly replacedById: string | null },
  now: Date,
): EndReason | null {
  if (replaced.revokedAt !== null) return "revoked";
  if (!isValid(replaced, now)) return "expired";
  return replaced.replacedById === null ? null : "replaced";
}
