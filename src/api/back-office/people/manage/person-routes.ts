import { Type } from "typebox";
import { type Grant, ROLES } from "../../../../access/grant.ts";
import {
  changeGrants,
  disablePerson,
  enablePerson,
  endSessions,
  renamePerson,
} from "../../../../people/manage/change-person.ts";
import { invitePerson, resendInvitation } from "../../../../people/manage/invite-person.ts";
import { listPeople } from "../../../../people/people-sql.ts";
import { listSessions } from "../../../../people/sessions/sessions-sql.ts";
import type { Context } from "../../../../platform/context.ts";
import { expectedVersionField } from "../../../../platform/wire/content-version.ts";
import { pagePosition, toPage } from "../../../../platform/wire/cursor.ts";
import { isProblem } from "../../../../platform/wire/problems.ts";
import {
  cursorField,
  describedAs,
  limitField,
  NoParameters,
  pageOf,
  searchField,
  shortText,
  toSearched,
} from "../../../../platform/wire/schemas.ts";
import { type BackOfficeRoute, confinedTo, merchantSide, operatorOnly, route } from "../../access.ts";
import { type GrantRequest, GrantRequestSchema, toGrant } from "../../grants/grant-request.ts";
import { RoleSchema } from "../../grants/grant-wire.ts";
import { SessionListSchema, toWireSessions } from "../session-wire.ts";
import { grantsErrors } from "./grants-errors.ts";
import { answer, changeNamed, findPerson, missing, PersonIdParams } from "./named-person.ts";
import { aPerson, PersonEmailSchema, PersonSchema, StateSchema, toWirePerson } from "./person-wire.ts";

const TAG = "People";
const grantsField = Type.Array(GrantRequestSchema, {
  minItems: 1,
  maxItems: ROLES.length,
  description:
    "What the person may do: roles, each once, and what each is for. They replace all earlier ones.",
});

const toGrants = (context: Context, grants: readonly GrantRequest[]): Promise<Grant[]> =>
  Promise.all(grants.map((grant) => toGrant(context, grant)));

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
      "Sends a link by mail that is valid for seven days. A caller of a merchant invites people for its own merchants and for connections of these only, as long as a merchant has fewer than 200.",
    body: Type.Object(
      {
        name: shortText("Name of the person, as timelines and the audit log show it.", ["Mia Merchant"]),
        email: PersonEmailSchema,
        grants: grantsField,
      },
      { title: "Invitation", description: "A person to invite." },
    ),
    responses: { 201: { description: "The person was invited.", schema: PersonSchema } },
    problems: ["person-exists", "limit-reached", "validation-failed"],
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
      q: searchField("A part of the name or of the mail address. Case is ignored."),
      role: Type.Optional(describedAs(RoleSchema, "Only people with this role.")),
      state: Type.Optional(describedAs(StateSchema, "Only people in this state.")),
    }),
    responses: { 200: { description: "A page, oldest first.", schema: pageOf(PersonSchema, "PersonPage") } },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const position = pagePosition("people", query);
      if (isProblem(position)) return position;
      const { q, role = null, state = null } = query;
      const filter = { text: toSearched(q), role, state, withinMerchantIds: confinedTo(caller) };
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
    description: "Links that were sent to an earlier address end.",
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
    description: "It counts from the person's next request on. The last operator keeps its role.",
    params: PersonIdParams,
    body: Type.Object(
      { grants: grantsField, expectedVersion: expectedVersionField("grantsVersion") },
      { title: "Grants", description: "All grants of a person." },
    ),
    responses: aPerson("The person."),
    problems: ["not-found", "person-state", "version-changed", "validation-failed"],
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
    description: "The link of an earlier one ends. At most five within 15 minutes.",
    params: PersonIdParams,
    responses: aPerson("The person."),
    problems: ["not-found", "person-state", "rate-limited"],
    handle: (request, { context }) =>
      changeNamed(context, request, (change) => resendInvitation(context, change)),
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
    handle: (request, { context }) =>
      changeNamed(context, request, (change) => disablePerson(context, change)),
  }),
  route({
    method: "POST",
    path: "/api/people/{id}/enable",
    operationId: "enablePerson",
    admits: merchantSide,
    needsRecentAuthentication: true,
    tag: TAG,
    summary: "Enable a person again",
    description: "Repeating the request has no further effect.",
    params: PersonIdParams,
    responses: aPerson("The person."),
    problems: ["not-found"],
    handle: (request, { context }) =>
      changeNamed(context, request, (change) => enablePerson(context, change)),
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
    handle: (request, { context }) => changeNamed(context, request, (change) => endSessions(context, change)),
  }),
];
