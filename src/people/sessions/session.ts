import { before } from "../../platform/time.ts";
import { type Person, RECENT_MS, SESSION_IDLE_MS, SESSION_MAX_MS } from "../person.ts";

/** A sign-in of a person on one browser. */
export type Session = {
  readonly id: string;
  readonly personId: string;
  /** Where the person signed in from. */
  readonly ipAddress: string | null;
  /** The browser, as it names itself. */
  readonly userAgent: string | null;
  readonly signedInAt: Date;
  /** Written at most once in SEEN_INTERVAL_MS. */
  readonly seenAt: Date;
  /** When the person last proved who it is. */
  readonly authenticatedAt: Date;
};

/** A session with its person. */
export type PersonSession = {
  readonly session: Session;
  readonly person: Pick<
    Person,
    "id" | "name" | "email" | "grants" | "hasTwoFactor" | "signInVersion" | "disabledAt"
  >;
};

/** Whether a session is still good for a request. */
export const isLive = ({ signedInAt, seenAt }: Session, now: Date): boolean =>
  before(now, SESSION_MAX_MS) < signedInAt && before(now, SESSION_IDLE_MS) < seenAt;

/** When a session ends if it is not used again. */
export const endOf = ({ signedInAt, seenAt }: Session): Date =>
  new Date(Math.min(signedInAt.getTime() + SESSION_MAX_MS, seenAt.getTime() + SESSION_IDLE_MS));

/** Whether the person has proved who it is recently enough for keys, secrets and money. */
export const isRecent = ({ authenticatedAt }: Pick<Session, "authenticatedAt">, now: Date): boolean =>
  before(now, RECENT_MS) < authenticatedAt;
