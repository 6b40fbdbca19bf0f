import type { Configuration } from "openid-client";
import type { AuditFact } from "../audit/audit-sql.ts";
import { type Grant, strongestRole } from "../audit/grant.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { Actor } from "../lifecycle/applied-transition.ts";
import type { Context } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { toTypeId } from "../platform/ids.ts";
import { MAIL_ADDRESS_LENGTH_MAX, normalMailAddress } from "../platform/mail-address.ts";
import type { SecretBox } from "../platform/secret-box.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../platform/time.ts";
import { versionOf } from "../platform/wire/content-version.ts";
import { toGrantRow } from "./given-grants.ts";
import { merchantsOfGrant } from "./token.ts";

/** A person who signs in to the back office (docs/design/people.md, "Sign-in is our own"). */
export type Person = {
  readonly id: string;
  /** What timeline and audit log call the person. */
  readonly name: string;
  /** In lower case. */
  readonly email: string;
  readonly grants: readonly Grant[];
  readonly hasTwoFactor: boolean;
  /** Whether an account of the identity provider is linked with the person (docs/design/people.md, "Identity provider"). */
  readonly hasSingleSignOn: boolean;
  readonly createdBy: Actor;
  readonly createdAt: Date;
  /** When the person first signed in. Null: the invitation is open. */
  readonly acceptedAt: Date | null;
  readonly lastSignedInAt: Date | null;
  /** Since then the person cannot sign in. Null: it can. */
  readonly disabledAt: Date | null;
};

/** A person who has not signed in yet. */
export const newPerson = (
  { newId, clock }: Pick<PeopleContext, "newId" | "clock">,
  fields: Pick<Person, "name" | "email" | "grants">,
  createdBy: Actor,
): Person => ({
  ...fields,
  id: newId(),
  hasTwoFactor: false,
  hasSingleSignOn: false,
  createdBy,
  createdAt: clock.now(),
  acceptedAt: null,
  lastSignedInAt: null,
  disabledAt: null,
});

/** The merchants that a person has access to, or to connections of them. */
export const merchantsOfPerson = ({ grants }: Pick<Person, "grants">): string[] => [
  ...new Set(grants.flatMap(merchantsOfGrant)),
];

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

/** People without access to a merchant, whom only the operator invites. Those of a merchant have a limit of their own. */
export const PEOPLE_MAX = 10_000;
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
export const EMAIL_LENGTH_MAX = MAIL_ADDRESS_LENGTH_MAX;

/** A mail address as it is stored and compared. */
export const normalEmail = (email: string): string => normalMailAddress(email).normalize("NFC").toLowerCase();

/** What operations of people need beside the context of all: keys for cookies and one-time codes. */
export type PeopleContext = Context & { readonly secrets: SecretBox };

/** What the routes of sign-in need. Made once for a listener. */
export type People = PeopleContext & {
  /** What the identity provider has published about itself. It is requested when a person first signs in there. */
  readonly provider: { configuration: Promise<Configuration> | null };
  /** An identity provider that needs longer is not available. */
  readonly providerMs: number;
};

export const openPeople = (context: PeopleContext, providerMs = 10 * SECOND_MS): People => ({
  ...context,
  provider: { configuration: null },
  providerMs,
});

/** The browser, or the program, that signs in. */
export type Visitor = {
  /** The `Cookie` header. Empty: it sent none. */
  readonly cookie: string;
  readonly userAgent: string;
  readonly ipAddress: string;
  /** Attempts are counted by it: the address, or the network of an IPv6 address. */
  readonly network: string;
  /** The `Origin` header, which was compared with the address of the service. Empty: it sent none. */
  readonly origin: string;
  readonly requestId: string;
  /** Id of the person that the page shows as signed in. Null: the request names none. */
  readonly expectedPersonId: string | null;
};

/** As they are read: a person has one of each role at most. */
export const sortedByRole = (grants: readonly Grant[]): Grant[] =>
  grants.toSorted((a, b) => (a.role < b.role ? -1 : 1));

/** The version of a person's grants. Their order does not matter. */
export const grantsVersion = (grants: readonly Grant[]): string =>
  versionOf(grants.map((grant) => JSON.stringify(toGrantRow(grant))).sort());

/**
 * What the audit log contains about a person. An entry about a person of one merchant belongs to that merchant. The address
 * is that of staff, not of a buyer.
 */
export const personFact = (
  { id, name, email, grants }: Pick<Person, "id" | "name" | "email" | "grants">,
  details: Readonly<Record<string, unknown>> = {},
): AuditFact => ({
  merchantId: onlyMerchantOf(grants),
  subject: "per",
  ids: [id],
  details: { name, email, grants: grants.map(grantText), ...details },
});

/** The merchant of all grants. Null if they are of several, or of none. */
function onlyMerchantOf(grants: readonly Grant[]): string | null {
  const merchantIds = new Set(grants.flatMap(merchantsOf));
  const [only = null] = merchantIds.size === 1 ? merchantIds : [];
  return only;
}

/** A null stands for all merchants, or for none. */
function merchantsOf(grant: Grant): readonly (string | null)[] {
  if (grant.role === "merchant") return grant.merchantIds;
  return grant.role === "partner" ? grant.connections.map(({ merchantId }) => merchantId) : [null];
}

function grantText(grant: Grant): string {
  switch (grant.role) {
    case "merchant":
      return `merchant ${grant.merchantIds.map((id) => toTypeId("mer", id)).join(" ")}`;
    case "partner":
      return `partner ${grant.connections.map(({ connectionId }) => toTypeId("con", connectionId)).join(" ")}`;
    case "warehouse":
      return grant.facilityIds === null
        ? grant.role
        : `warehouse ${grant.facilityIds.map((id) => toTypeId("fac", id)).join(" ")}`;
    default:
      return grant.role;
  }
}

/** Records what a person has done, or a stranger in its name, with how it signs in. */
export const recordByPerson = (
  tx: Queryable,
  context: Pick<PeopleContext, "clock" | "newId">,
  { id, name, grants }: Pick<Person, "id" | "name" | "grants">,
  { requestId }: Pick<Visitor, "requestId">,
  action: string,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> =>
  recordAudit(
    tx,
    context,
    {
      actor: { kind: strongestRole(grants) ?? "service", name, id: toTypeId("per", id) },
      requestId,
      action,
    },
    { merchantId: null, subject: "per", ids: [id], details },
  );
