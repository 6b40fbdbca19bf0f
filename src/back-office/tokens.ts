import { type Static, Type } from "typebox";
import { isWithin, ROLES, type Role } from "../audit/grant.ts";
import {
  aboutScope,
  hasScope,
  lackedScope,
  NAMED_ONLY,
  type NamedScope,
  namedScopes,
  SCOPE_SETS,
  SCOPES,
  type Scope,
  scopeRequired,
  scopesOfRole,
} from "../audit/scope.ts";
import { checkGiving } from "../people/manage.ts";
import type { Token } from "../people/token.ts";
import { createToken, type GrantCheck, makerOf, revokeToken, rotateToken } from "../people/tokens.ts";
import { listTokens, readToken } from "../people/tokens-sql.ts";
import type { Context } from "../platform/context.ts";
import { fromTypeId, toTypeId } from "../platform/ids.ts";
import { parseTime } from "../platform/time.ts";
import { pagePosition, toPage } from "../platform/wire/cursor.ts";
import { isProblem, notFound, type ValidationError } from "../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  described,
  describedAs,
  enumeration,
  flagField,
  idField,
  limitField,
  nullable,
  nullableTime,
  pageOf,
  shortText,
} from "../platform/wire/schemas.ts";
import { pauseEndedEndpoints } from "../webhooks/endpoints/ended-access.ts";
import {
  type BackOfficeCaller,
  type BackOfficeRoute,
  confinedTo,
  everyToken,
  merchantSide,
  roleOf,
  route,
} from "./access.ts";
import { ActorSchema, toWireActor } from "./actor-schema.ts";
import {
  GrantSchema,
  grantErrors,
  grantFields,
  grantOfRequest,
  grantWireFields,
  RoleSchema,
  toWireGrant,
} from "./grants.ts";
import { expiryErrors } from "./lookups.ts";
import { valueAt } from "./money/amounts.ts";
import { rotationFields, rotationOf } from "./rotation.ts";

const ScopeSchema = enumeration(
  "Scope",
  SCOPES,
  described(Object.fromEntries(SCOPES.map((scope) => [scope, `${aboutScope(scope)}.`]))),
);

const NAMED_SCOPES_TEXT = `A scope, or \`*:read\`: all scopes of the role that read, or \`*\`: all of the role. Only by name are given: ${NAMED_ONLY.map((scope) => `\`${scope}\``).join(", ")}. ${SCOPES.map((scope) => `\`${scope}\`: ${aboutScope(scope)}.`).join(" ")}`;

const tokenFields = {
  id: idField("tok", "Id of the token, set by the service. It is not the token itself."),
  name: Type.String({ description: "Name of the program, as timelines and the audit log show it." }),
  ...grantWireFields,
  scopes: Type.Array(ScopeSchema, { description: "What of its role the token may do. They do not change." }),
  prefix: Type.String({
    description: "First characters of the token, by which people recognize it. They show its role.",
  }),
  createdBy: describedAs(ActorSchema, "Who created the token."),
  createdAt: dateTime("When the token was created."),
  expiresAt: nullableTime(
    "When the token expires. Null if it does not expire. A rotation sets it to the end of the overlap.",
  ),
  revokedAt: nullableTime("When the token was revoked. Null if it was not."),
  lastUsedAt: nullableTime(
    "When the token was used. A use within five minutes after this is not recorded. Null if it was never used.",
  ),
  replaces: nullable(Type.String(), "Id of the token that a rotation replaced with this one. Null if none."),
  replacedBy: nullable(Type.String(), "Id of the token that replaced this one. Null if it was not rotated."),
};

const TokenSchema = Type.Object(tokenFields, {
  title: "Token",
  description: "A token of the back office, without the token itself.",
});

const tokenText = Type.String({ description: "The token itself. It is returned only in this response." });

const NewTokenSchema = Type.Object(
  { ...tokenFields, token: tokenText },
  { title: "CreatedToken", description: "A new token of the back office." },
);

const RotatedTokenSchema = Type.Object(
  {
    ...tokenFields,
    token: tokenText,
    previousExpiresAt: dateTime("When the replaced token expires."),
  },
  { title: "RotatedToken", description: "The token that replaces another one." },
);

const tokenId = (id: string | null): string | null => (id === null ? null : toTypeId("tok", id));

const toWireToken = (token: Token): Static<typeof TokenSchema> => ({
  id: toTypeId("tok", token.id),
  name: token.name,
  ...toWireGrant(token.grant),
  scopes: [...token.scopes],
  prefix: token.prefix,
  createdBy: toWireActor(token.createdBy),
  createdAt: token.createdAt.toISOString(),
  expiresAt: token.expiresAt?.toISOString() ?? null,
  revokedAt: token.revokedAt?.toISOString() ?? null,
  lastUsedAt: token.lastUsedAt?.toISOString() ?? null,
  replaces: tokenId(token.replacesId),
  replacedBy: tokenId(token.replacedById),
});

const TokenIdParams = Type.Object({ id: Type.String({ description: "Id of the token." }) });
const missing = notFound("token");

/**
 * The token that a path names. Null if it is missing, or allows more than the caller may do (docs/design/people.md, "Tokens").
 */
async function findToken({ db }: Context, caller: BackOfficeCaller, text: string): Promise<Token | null> {
  const id = fromTypeId("tok", text);
  const token = id === null ? null : await readToken(db, id);
  return token !== null && (confinedTo(caller) === null || isWithin(token.grant, caller.grants))
    ? token
    : null;
}

const checkOf =
  (context: Context, caller: BackOfficeCaller): GrantCheck =>
  (tx, grant) =>
    checkGiving(tx, context, caller, [grant]);

const ScopesField = Type.Optional(
  Type.Array(enumeration("NamedScope", [...SCOPE_SETS, ...SCOPES], NAMED_SCOPES_TEXT), {
    minItems: 1,
    maxItems: SCOPES.length,
    description:
      "What of its role the token may do. A token gives no scope that it lacks itself. Default: all of the role that may be given without a name.",
  }),
);

/** The scopes of a new token: those of the request, or the default, of which a token gives what it has itself. */
const givenScopes = (
  { scopes: own }: BackOfficeCaller,
  role: Role,
  named: readonly NamedScope[] | undefined,
): readonly Scope[] => namedScopes(role, named).filter((scope) => hasScope(own, scope));

/** Errors in the scopes that a request names, each by its own name. `*` and `*:read` mean what can be given. */
function scopeErrors(caller: BackOfficeCaller, body: unknown): ValidationError[] {
  const role = ROLES.find((each) => each === valueAt(body, "/role"));
  const named = valueAt(body, "/scopes");
  if (role === undefined || !(named === undefined || Array.isArray(named))) return []; // The schema reports it.
  const possible = scopesOfRole(role);
  const allowed = possible.filter((scope) => hasScope(caller.scopes, scope));
  const isOnlySets = named === undefined || (named.length > 0 && named.every(isScopeSet));
  if (isOnlySets && givenScopes(caller, role, named).length === 0)
    return [{ pointer: "/scopes", rule: "scopes_of_caller", allowed }];
  return (named ?? []).flatMap((scope, index): ValidationError[] => {
    const pointer = `/scopes/${index}`;
    if (!isScope(scope) || allowed.includes(scope)) return [];
    return [
      possible.includes(scope)
        ? { pointer, rule: "scopes_of_caller", allowed }
        : { pointer, rule: "scope_of_role", role, allowed },
    ];
  });
}

const isScopeSet = (text: unknown): boolean => SCOPE_SETS.some((set) => set === text);
const isScope = (text: unknown): text is Scope => SCOPES.some((scope) => scope === text);

/** A worker pauses them within a second, so the revocation is a success if this is none. */
async function pauseEndpointsNow(context: Context): Promise<void> {
  try {
    await pauseEndedEndpoints(context);
  } catch (err) {
    context.log.warn({ err }, "endpoints of ended tokens not paused, a worker will retry");
  }
}

export const tokenRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/tokens",
    operationId: "createToken",
    needsRecentAuthentication: true,
    admits: merchantSide,
    tag: "Tokens",
    summary: "Create a token",
    description:
      "A token of a program that uses the back office. Its scopes say what of its role it may do: without `scopes`, it may neither issue credentials nor move money. A caller of a merchant creates tokens for its own merchants and for connections of these only, up to the limit `merchantTokens` of each merchant. The operator is not bound by it, and creates up to 1,000 valid tokens that are for no merchant. Of ended tokens, the newest 100 of a merchant are kept.",
    body: Type.Object(
      {
        name: shortText("Name of the program, as timelines and the audit log show it.", [
          "Nightly stock sync",
        ]),
        ...grantFields,
        scopes: ScopesField,
        expiresAt: Type.Optional(
          dateTime(
            "When the token expires, in the future. Default: never. A token that a token makes ends with that one at the latest.",
          ),
        ),
      },
      { title: "TokenRequest", description: "A new token." },
    ),
    responses: { 201: { description: "The token was created.", schema: NewTokenSchema } },
    problems: ["limit-reached", "validation-failed"],
    bodyErrors: async ({ caller, body }, { context }) => [
      ...(await grantErrors(context, caller, body)),
      ...scopeErrors(caller, body),
      ...expiryErrors(body, context),
    ],
    handle: async ({ caller, body, by }, { context }) => {
      const expiresAt = body.expiresAt === undefined ? null : parseTime(body.expiresAt);
      const grant = await grantOfRequest(context, body);
      const scopes = givenScopes(caller, body.role, body.scopes);
      const fields = { name: body.name, grant, scopes, expiresAt };
      const made = await createToken(
        context,
        fields,
        confinedTo(caller),
        checkOf(context, caller),
        makerOf(context, caller),
        by,
      );
      if (isProblem(made)) return made;
      return { status: 201, body: { ...toWireToken(made.created), token: made.token } };
    },
  }),
  route({
    method: "GET",
    path: "/api/tokens",
    operationId: "listTokens",
    admits: merchantSide,
    tag: "Tokens",
    summary: "List tokens",
    description: "The token of `OPERATOR_TOKEN` is not stored, and is not listed.",
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      role: Type.Optional(describedAs(RoleSchema, "Only tokens with this role.")),
      live: flagField("True: only valid tokens. False: only revoked and expired ones."),
    }),
    responses: {
      200: {
        description: "A page, oldest first, including revoked and expired tokens.",
        schema: pageOf(TokenSchema, "TokenPage"),
      },
    },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const position = pagePosition("tokens", query);
      if (isProblem(position)) return position;
      const { role = null, live = null } = query;
      const filter = { role, live, now: context.clock.now(), withinMerchantIds: confinedTo(caller) };
      const tokens = await listTokens(context.db, filter, position);
      return { status: 200, body: toPage(tokens, position, toWireToken) };
    },
  }),
  route({
    method: "GET",
    path: "/api/tokens/{id}",
    operationId: "getToken",
    admits: merchantSide,
    tag: "Tokens",
    summary: "Get a token",
    params: TokenIdParams,
    responses: { 200: { description: "The token.", schema: TokenSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const token = await findToken(context, caller, params.id);
      return token === null ? missing : { status: 200, body: toWireToken(token) };
    },
  }),
  route({
    method: "POST",
    path: "/api/tokens/{id}/revoke",
    operationId: "revokeToken",
    admits: merchantSide,
    tag: "Tokens",
    summary: "Revoke a token",
    description:
      "The next request with the token is rejected, and with all that it has made: tokens, keys, and the roles that it has given to people. A person who has no other role is disabled. Endpoints whose address or newest secret it has set are paused with the reason `access-ended`, and a resume takes them over. Repeating the request has no further effect.",
    params: TokenIdParams,
    responses: { 200: { description: "The revoked token.", schema: TokenSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params, by }, { context }) => {
      const token = await findToken(context, caller, params.id);
      const revoked = token === null ? null : await revokeToken(context, token.id, by);
      if (revoked === null) return missing;
      await pauseEndpointsNow(context);
      return { status: 200, body: toWireToken(revoked) };
    },
  }),
  route({
    method: "POST",
    path: "/api/tokens/{id}/rotate",
    operationId: "rotateToken",
    needsRecentAuthentication: true,
    admits: merchantSide,
    tag: "Tokens",
    summary: "Rotate a token",
    description:
      "Creates a token with the same name, the same rights and the same scopes. The old one stays valid for the overlap, and never longer than before. What the old one has made belongs to the new one. A token is rotated once: if the response was lost, revoke the new token and create another one. The body may be omitted.",
    params: TokenIdParams,
    body: Type.Object(rotationFields("token"), {
      title: "TokenRotation",
      description: "How to replace a token. Unknown fields are rejected.",
      additionalProperties: false,
    }),
    responses: { 201: { description: "The new token.", schema: RotatedTokenSchema } },
    problems: ["not-found", "token-not-rotatable", "validation-failed"],
    bodyErrors: async ({ body }, { context }) => expiryErrors(body, context),
    handle: async ({ caller, params, body, by }, { context }) => {
      const token = await findToken(context, caller, params.id);
      const lacked = token === null ? null : lackedScope(caller.scopes, token.scopes);
      if (lacked !== null)
        return scopeRequired(lacked, `Your token lacks the scope ${lacked}, which that one has.`);
      const made =
        token === null
          ? null
          : await rotateToken(
              context,
              token.id,
              rotationOf(body),
              checkOf(context, caller),
              makerOf(context, caller),
              by,
            );
      if (made === null) return missing;
      if (isProblem(made)) return made;
      const previousExpiresAt = made.previousExpiresAt.toISOString();
      return { status: 201, body: { ...toWireToken(made.created), token: made.token, previousExpiresAt } };
    },
  }),
];

const MeSchema = Type.Object(
  {
    type: Type.Union([Type.Literal("person"), Type.Literal("token")], {
      description: "A person who has signed in, or a program with a token.",
    }),
    role: describedAs(RoleSchema, "The role with the most rights of the caller's."),
    name: Type.String({ description: "Name that timelines and the audit log show." }),
    personId: nullable(Type.String(), "Id of the person who has signed in. Null for a token."),
    email: nullable(Type.String(), "Mail address of the person, in lower case. Null for a token."),
    tokenId: nullable(
      Type.String(),
      "Id of the token that was sent. Null for a person, `OPERATOR_TOKEN` and the command line.",
    ),
    merchantIds: nullable(
      Type.Array(Type.String()),
      "Merchants that the caller is restricted to. Null: it is not restricted to merchants.",
    ),
    scopes: nullable(
      Type.Array(ScopeSchema),
      "What of its role a token may do. Null: all of it, as for people and `OPERATOR_TOKEN`.",
    ),
    grants: Type.Array(GrantSchema, {
      description:
        "All roles of the caller, and what each is for. The caller may do what any of them allows.",
    }),
  },
  { title: "Me", description: "Who a request of the back office acts as." },
);

export const meRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/me",
    operationId: "getMe",
    admits: everyToken,
    tag: "Tokens",
    summary: "Get who you are",
    description: "What the caller may do. Use it to check a token.",
    responses: { 200: { description: "The caller.", schema: MeSchema } },
    problems: [],
    handle: async ({ caller }) => ({
      status: 200,
      body: {
        type: caller.type,
        role: roleOf(caller),
        name: caller.name,
        personId: caller.type === "person" ? caller.id : null,
        email: caller.session?.email ?? null,
        tokenId: caller.type === "token" ? caller.id : null,
        merchantIds: confinedTo(caller)?.map((id) => toTypeId("mer", id)) ?? null,
        scopes: caller.scopes === undefined ? null : [...caller.scopes],
        grants: caller.grants.map(toWireGrant),
      },
    }),
  }),
];
