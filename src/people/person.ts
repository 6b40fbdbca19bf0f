import type { Grant } from "../access/grant.ts";
import type { Actor } from "../lifecycle/applied-transition.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../platform/time.ts";

/** A person who signs in to the back office (decision 0115). */
export type Person = {
  readonly id: string;
  /** What timeline and audit log call the person. */
  readonly name: string;
  /** In lower case. */
  readonly email: string;
  readonly grants: readonly Grant[];
  readonly hasTwoFactor: boolean;
  /** Whether an account of the identity provider is linked with the person (decision 0219). */
  readonly hasSingleSignOn: boolean;
  /** Raised when all sign-ins of the person end: its password is replaced, or it is signed out everywhere (decision 0210). */
  readonly signInVersion: number;
  readonly createdBy: Actor;
  readonly createdAt: Date;
  /** When the person first signed in. Null: the invitation is open. */
  readonly acceptedAt: Date | null;
  readonly lastSignedInAt: Date | null;
  /** Since then the person cannot sign in. Null: it can. */
  readonly disabledAt: Date | null;
};

/** Whether a person can sign in. */
export const PERSON_STATES = ["invited", "active", "disabled"] as const;
export type PersonState = (typeof PERSON_STATES)[number];

export const stateOf = ({
  acceptedAt,
  disabledAt,
}: Pick<Person, "acceptedAt" | "disabledAt">): PersonState => {
  if (disabledAt !== null) return "disabled";
  return acceptedAt === null ? "invited" : "active";
};

/** Stored people. */
export const PEOPLE_MAX = 10_000;
/** People with a grant for a merchant, beyond which its own people invite no more. */
export const MERCHANT_PEOPLE_MAX = 200;
/** Sessions of a person. Beyond them the oldest ends. */
export const SESSIONS_MAX = 50;

/** A session ends when it was not used for so long. */
export const SESSION_IDLE_MS = 12 * HOUR_MS;
/** A session ends so long after the sign-in. */
export const SESSION_MAX_MS = 7 * DAY_MS;
/** How long ago a person may have proved who it is, to do what concerns keys, secrets and money. */
export const RECENT_MS = 15 * MINUTE_MS;
/** A later use within this time is not written. */
export const SEEN_INTERVAL_MS = 5 * MINUTE_MS;

export const PASSWORD_LENGTH_MIN = 12;
export const PASSWORD_LENGTH_MAX = 128;
export const NAME_LENGTH_MAX = 255;
export const EMAIL_LENGTH_MAX = 254;

/** A mail address as it is stored and compared. */
export const normalEmail = (email: string): string => email.trim().normalize("NFC").toLowerCase();
