import { type Static, Type } from "typebox";
import { type Grant, isWithin, ROLES } from "../../audit/grant.ts";
import type { Initiator } from "../../audit/record-audit.ts";
import type { RouteResponse } from "../../http/route.ts";
import {
  type Change,
  type Changed,
  changeGrants,
  disablePerson,
  enablePerson,
  endSessionsOf,
  invitePerson,
  makeSignInLink,
  removeSignInMethods,
  renamePerson,
  resendInvitation,
  unlinkSingleSignOn,
} from "../../people/manage.ts";
import { listPeople, readPerson, readPersonByEmail } from "../../people/people-sql.ts";
import {
  EMAIL_LENGTH_MAX,
  grantsVersion,
  normalEmail,
  PERSON_STATES,
  type PeopleContext,
  type Person,
  stateOf,
} from "../../people/person.ts";
import { listSessions } from "../../people/sessions.ts";
import type { Context } from "../../platform/context.ts";
import { fromTypeId, toTypeId } from "../../platform/ids.ts";
import { expectedVersionField, versionField } from "../../platform/wire/content-version.ts";
import { pagePosition, toPage } from "../../platform/wire/cursor.ts";
import {
  isProblem,
  isStorableText,
  notFound,
  type Problem,
  type ValidationError,
} from "../../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  describedAs,
  enumeration,
  idField,
  limitField,
  NoParameters,
  nullableTime,
  pageOf,
  searchField,
  shortText,
  toSearchedMail,
} from "../../platform/wire/schemas.ts";
import {
  type BackOfficeCaller,
  type BackOfficeRoute,
  confinedTo,
  merchantSide,
  operatorOnly,
  route,
} from "../access.ts";
import { ActorSchema, toWireActor } from "../actor-schema.ts";
import {
  type GrantRequest,
  GrantRequestSchema,
  GrantSchema,
  grantErrors,
  grantOfRequest,
  RoleSchema,
  toWireGrant,
} from "../grants.ts";
import { valueAt } from "../money/amounts.ts";
import { SessionListSchema, toWireSessions } from "./sessions.ts";

const StateSchema = enumeration(
  "PersonState",
  PERSON_STATES,
  "`invited`: has never signed in. `active`: can sign in. `disabled`: cannot sign in.",
);

const PersonSchema = Type.Object(
  {
    id: idField("per", "Id of the person, set by the service."),
    name: Type.String({ description: "Name that timelines and the audit log show." }),
    email: Type.String({
      description: "Mail address, in lower case. Invitations and resets are sent to it.",
    }),
    state: describedAs(StateSchema, "Whether the person can sign in."),
    grants: Type.Array(GrantSchema, {
      description:
        "All roles of the person, and what each is for. The person may do what any of them allows.",
    }),
    grantsVersion: versionField("these grants"),
    hasSecondFactor: Type.Boolean({ description: "Whether a one-time code must follow the password." }),
    hasSingleSignOn: Type.Boolean({
      description: "Whether an account of the identity provider is linked with the person.",
    }),
    createdBy: describedAs(ActorSchema, "Who invited the person."),
    createdAt: dateTime("When the person was invited."),
    acceptedAt: nullableTime("When the person first signed in. Null if it never did."),
    lastSignedInAt: nullableTime("When the person last signed in. Null if it never did."),
    disabledAt: nullableTime("Since when the person cannot sign in. Null if it can."),
  },
  { title: "Person", description: "A person who signs in to the back office." },
);

/** The response of a route that returns a person. */
const aPerson = (description: string) => ({ 200: { description, schema: PersonSchema } });

const PersonEmailSchema = Type.String({
  format: "email",
  minLength: 3,
  maxLength: EMAIL_LENGTH_MAX,
  description: "Mail address of the person. Upper and lower case are the same.",
});

const SignInLinkSchema = Type.Object(
  {
    url: Type.String({
      description: "The link. It is returned only in this response.",
      examples: ["http://localhost:8081/sign-in#token=pol_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"],
    }),
    expiresAt: dateTime("When the link expires."),
  },
  { title: "SignInLink", description: "A link with which a person signs in once." },
);

const toWirePerson = (person: Person): Static<typeof PersonSchema> => ({
  id: toTypeId("per", person.id),
  name: person.name,
  email: person.email,
  state: stateOf(person),
  grants: person.grants.map(toWireGrant),
  grantsVersion: grantsVersion(person.grants),
  hasSecondFactor: person.hasTwoFactor,
  hasSingleSignOn: person.hasSingleSignOn,
  createdBy: toWireActor(person.createdBy),
  createdAt: person.createdAt.toISOString(),
  acceptedAt: person.acceptedAt?.toISOString() ?? null,
  lastSignedInAt: person.lastSignedInAt?.toISOString() ?? null,
  disabledAt: person.disabledAt?.toISOString() ?? null,
});

const PersonIdParams = Type.Object({
  id: Type.String({ description: "Id of the person, or its mail address." }),
});

const missing = notFound("person");

/** The person that a path names. Null if it is missing, or may do more than the caller (docs/design/people.md, "Roles and grants"). */
async function findPerson({ db }: Context, caller: BackOfficeCaller, text: string): Promise<Person | null> {
  const id = fromTypeId("per", text);
  const isEmail = text.includes("@") && isStorableText(text);
  const byEmail = isEmail ? readPersonByEmail(db, normalEmail(text)) : null;
  const person = id === null ? await byEmail : await readPerson(db, id);
  return person?.grants.every((grant) => isWithin(grant, caller.grants)) ? person : null;
}

type PersonRequest = {
  readonly caller: BackOfficeCaller;
  readonly params: { readonly id: string };
  readonly by: Initiator;
};

/** Changes the person that a path names. */
async function changeNamed(
  context: Context,
  { caller, params, by }: PersonRequest,
  work: (request: Change) => Promise<Changed>,
): Promise<RouteResponse | Problem> {
  const person = await findPerson(context, caller, params.id);
  return person === null ? missing : answer(await work({ personId: person.id, giver: caller, by }));
}

/** Handles a request that changes the person of its path, and says no more than that. */
const changing =
  (work: (context: PeopleContext, change: Change) => Promise<Changed>) =>
  (request: PersonRequest, { context }: { readonly context: PeopleContext }) =>
    changeNamed(context, request, (change) => work(context, change));

const answer = (changed: Person | Problem | null, status = 200): RouteResponse | Problem => {
  if (changed === null) return missing;
  return isProblem(changed) ? changed : { status, body: toWirePerson(changed) };
};

const TAG = "People";
const grantsField = Type.Array(GrantRequestSchema, {
  minItems: 1,
  maxItems: ROLES.length,
  description:
    "What the person may do: roles, each once, and what each is for. They replace all earlier ones.",
});

const toGrants = (context: Context, grants: readonly GrantRequest[]): Promise<Grant[]> =>
  Promise.all(grants.map((grant) => grantOfRequest(context, grant)));

export const personRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/people",
    operationId: "invitePerson",
    admits: merchantSide,
    needsRecentAuthentication: true,
    tag: TAG,
    summary: "Invite a person",
    description:
      "Sends a link by mail that is valid for seven days. A caller of a merchant invites people for its own merchants and for connections of these only, up to the limits `merchantPeople` and `invitationsPerDay` of each merchant. Operators send up to 1,000 invitations within 24 hours.",
    body: Type.Object(
      {
        name: shortText("Name of the person, as timelines and the audit log show it.", ["Mia Merchant"]),
        email: PersonEmailSchema,
        grants: grantsField,
      },
      { title: "Invitation", description: "A person to invite." },
    ),
    responses: { 201: { description: "The person was invited.", schema: PersonSchema } },
    problems: ["token-expires", "person-exists", "limit-reached", "validation-failed"],
    bodyErrors: ({ caller, body }, { context }) => grantsErrors(context, caller, body),
    handle: async ({ caller, body, by }, { context }) => {
      const { name, email } = body;
      const fields = { name, email, grants: await toGrants(context, body.grants) };
      return answer(await invitePerson(context, fields, caller, by), 201);
    },
  }),
  route({
    method: "GET",
    path: "/api/people",
    operationId: "listPeople",
    admits: merchantSide,
    tag: TAG,
    summary: "List people",
    description: "A caller of a merchant sees the people all of whose grants are for its own merchants.",
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      q: searchField("A part of the name or of the mail address. Case, accents and apostrophes are ignored."),
      role: Type.Optional(describedAs(RoleSchema, "Only people with this role.")),
      state: Type.Optional(describedAs(StateSchema, "Only people in this state.")),
    }),
    responses: { 200: { description: "A page, oldest first.", schema: pageOf(PersonSchema, "PersonPage") } },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const position = pagePosition("people", query);
      if (isProblem(position)) return position;
      const { q, role = null, state = null } = query;
      const filter = { text: toSearchedMail(q), role, state, withinMerchantIds: confinedTo(caller) };
      const people = await listPeople(context.db, filter, position);
      return { status: 200, body: toPage(people, position, toWirePerson) };
    },
  }),
  route({
    method: "GET",
    path: "/api/people/{id}",
    operationId: "getPerson",
    admits: merchantSide,
    tag: TAG,
    summary: "Get a person",
    params: PersonIdParams,
    responses: aPerson("The person."),
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => answer(await findPerson(context, caller, params.id)),
  }),
  route({
    method: "PATCH",
    path: "/api/people/{id}",
    operationId: "updatePerson",
    admits: operatorOnly,
    needsRecentAuthentication: true,
    tag: TAG,
    summary: "Change a person's name or mail address",
    description:
      "Links that were sent to an earlier address end. A token changes the mail address only of people who have nothing but roles that it gave.",
    params: PersonIdParams,
    body: Type.Object(
      {
        name: Type.Optional(shortText("Name of the person.", ["Mia Merchant"])),
        email: Type.Optional(PersonEmailSchema),
      },
      { title: "PersonChange", description: "What to change." },
    ),
    responses: aPerson("The person."),
    problems: ["not-found", "person-exists", "validation-failed"],
    handle: (request, { context }) =>
      changeNamed(context, request, (change) => renamePerson(context, change, request.body)),
  }),
  route({
    method: "PUT",
    path: "/api/people/{id}/grants",
    operationId: "setGrants",
    admits: merchantSide,
    needsRecentAuthentication: true,
    tag: TAG,
    summary: "Change what a person may do",
    description:
      "It counts from the person's next request on. The last operator keeps its role. What a token adds ends with the token. A person, or `OPERATOR_TOKEN`, takes over all roles that it sets.",
    params: PersonIdParams,
    body: Type.Object(
      { grants: grantsField, expectedVersion: expectedVersionField("grantsVersion") },
      { title: "Grants", description: "All grants of a person." },
    ),
    responses: aPerson("The person."),
    problems: [
      "token-expires",
      "not-found",
      "person-state",
      "version-changed",
      "limit-reached",
      "validation-failed",
    ],
    bodyErrors: async ({ caller, params, body }, { context }) =>
      (await findPerson(context, caller, params.id)) === null ? [] : grantsErrors(context, caller, body),
    handle: (request, { context }) =>
      changeNamed(context, request, async (change) => {
        const { grants, expectedVersion } = request.body;
        return changeGrants(context, change, await toGrants(context, grants), expectedVersion);
      }),
  }),
  route({
    method: "POST",
    path: "/api/people/{id}/resend-invitation",
    operationId: "resendInvitation",
    admits: merchantSide,
    tag: TAG,
    summary: "Send the invitation again",
    description:
      "The link of an earlier one ends. An invitation is sent again three times at most, and counts for the limit `invitationsPerDay` of the merchant, or for the operator's 1,000.",
    params: PersonIdParams,
    responses: aPerson("The person."),
    problems: ["not-found", "person-state", "limit-reached"],
    handle: changing(resendInvitation),
  }),
  route({
    method: "POST",
    path: "/api/people/{id}/disable",
    operationId: "disablePerson",
    admits: merchantSide,
    tag: TAG,
    summary: "Disable a person",
    description:
      "The person cannot sign in any more, and its sessions and links end. The last operator cannot be disabled. Repeating the request has no further effect.",
    params: PersonIdParams,
    responses: aPerson("The person."),
    problems: ["not-found", "person-state"],
    handle: changing(disablePerson),
  }),
  route({
    method: "POST",
    path: "/api/people/{id}/enable",
    operationId: "enablePerson",
    admits: merchantSide,
    needsRecentAuthentication: true,
    tag: TAG,
    summary: "Enable a person again",
    description:
      "A token enables only people who have nothing but roles that it gave. Repeating the request has no further effect.",
    params: PersonIdParams,
    responses: aPerson("The person."),
    problems: ["not-found"],
    handle: changing(enablePerson),
  }),
  route({
    method: "GET",
    path: "/api/people/{id}/sessions",
    operationId: "listSessions",
    admits: merchantSide,
    tag: TAG,
    summary: "List the sessions of a person",
    params: PersonIdParams,
    query: NoParameters,
    responses: {
      200: { description: "All of them, the one that was used last first.", schema: SessionListSchema },
    },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params }, { context }) => {
      const person = await findPerson(context, caller, params.id);
      if (person === null) return missing;
      const sessions = await listSessions(context.db, person.id);
      return { status: 200, body: toWireSessions(sessions, caller.session?.id ?? null) };
    },
  }),
  route({
    method: "POST",
    path: "/api/people/{id}/end-sessions",
    operationId: "endSessions",
    admits: merchantSide,
    tag: TAG,
    summary: "Sign a person out everywhere",
    description:
      "All sessions of the person end, and all links that were not used: an invitation, and a link to sign in or to set a password.",
    params: PersonIdParams,
    responses: aPerson("The person."),
    problems: ["not-found"],
    handle: changing(endSessionsOf),
  }),
];

/** Errors in the grants of a body. A caller gives no more than it has. */
async function grantsErrors(
  context: Context,
  caller: BackOfficeCaller,
  body: unknown,
): Promise<ValidationError[]> {
  const grants = valueAt(body, "/grants");
  if (!Array.isArray(grants) || grants.length > ROLES.length) return []; // The schema reports it.
  const roles = grants.map((_, index) => valueAt(body, `/grants/${index}/role`));
  const errors = await Promise.all(
    grants.map((_, index) => grantErrors(context, caller, body, `/grants/${index}`)),
  );
  const twice = roles.flatMap((role, index) =>
    typeof role === "string" && roles.indexOf(role) < index
      ? [
          {
            pointer: `/grants/${index}/role`,
            rule: "duplicate_grant" as const,
          },
        ]
      : [],
  );
  return [...errors.flat(), ...twice];
}

/** What the operator does with the ways in which a person signs in. */
export const signInMethodRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/people/{id}/unlink-single-sign-on",
    operationId: "unlinkSingleSignOn",
    admits: operatorOnly,
    needsRecentAuthentication: true,
    tag: TAG,
    summary: "Unlink a person from the identity provider",
    description:
      "For a person whose account at the identity provider was made again. All sessions of the person end. The next account that signs in with the person's mail address is linked. Password, passkeys and one-time codes stay: if another human has used the account, remove all ways to sign in instead. Repeating the request has no further effect.",
    params: PersonIdParams,
    responses: aPerson("The person."),
    problems: ["not-found"],
    handle: changing(unlinkSingleSignOn),
  }),
  route({
    method: "POST",
    path: "/api/people/{id}/remove-sign-in-methods",
    operationId: "removeSignInMethods",
    admits: operatorOnly,
    needsRecentAuthentication: true,
    tag: TAG,
    summary: "Remove all ways in which a person signs in",
    description:
      "For a person as whom another human has signed in: it may have added a password or a passkey of its own. Removes the password, all passkeys, the one-time codes and the account of the identity provider. All sessions end, and all links that were not used. The person then sets a new password with a link by mail, signs in by the identity provider, or with a link of the operator. Who receives the person's mails can do that, so change the mail address first if it is that of the other human. Repeating the request has no further effect.",
    params: PersonIdParams,
    responses: aPerson("The person."),
    problems: ["not-found"],
    handle: changing(removeSignInMethods),
  }),
  route({
    method: "POST",
    path: "/api/people/{id}/sign-in-link",
    operationId: "makeSignInLink",
    admits: operatorOnly,
    needsRecentAuthentication: true,
    tag: TAG,
    summary: "Make a link to sign in with",
    description:
      "For a person who can neither sign in nor receive mail. It works once within an hour, without a second factor, so give it to that person alone. A token makes it only for people who have nothing but roles that it gave.",
    params: PersonIdParams,
    responses: { 201: { description: "The link.", schema: SignInLinkSchema } },
    problems: ["not-found", "person-state"],
    handle: async ({ caller, params, by }, { context }) => {
      const person = await findPerson(context, caller, params.id);
      const link =
        person === null ? null : await makeSignInLink(context, { personId: person.id, giver: caller, by });
      if (link === null) return missing;
      if (isProblem(link)) return link;
      return { status: 201, body: { url: link.url, expiresAt: link.expiresAt.toISOString() } };
    },
  }),
];
