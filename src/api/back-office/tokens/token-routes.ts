import { Type } from "typebox";
import { isWithin } from "../../../access/grant.ts";
import { checkGiving } from "../../../people/manage/giver.ts";
import type { Context } from "../../../platform/context.ts";
import { fromTypeId } from "../../../platform/ids.ts";
import { parseTime } from "../../../platform/time.ts";
import { pagePosition, toPage } from "../../../platform/wire/cursor.ts";
import { isProblem, notFound } from "../../../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  describedAs,
  flagField,
  limitField,
  pageOf,
  shortText,
} from "../../../platform/wire/schemas.ts";
import { createToken, type GrantCheck } from "../../../tokens/create-token.ts";
import { revokeToken } from "../../../tokens/revoke-token.ts";
import { rotateToken } from "../../../tokens/rotate-token.ts";
import type { Token } from "../../../tokens/token.ts";
import { listTokens, readToken } from "../../../tokens/tokens-sql.ts";
import { type BackOfficeCaller, type BackOfficeRoute, confinedTo, merchantSide, route } from "../access.ts";
import { expiryErrors } from "../expiry.ts";
import { grantErrors, grantFields, toGrant } from "../grants/grant-request.ts";
import { RoleSchema } from "../grants/grant-wire.ts";
import { rotationFields, rotationOf } from "./rotation.ts";
import { NewTokenSchema, RotatedTokenSchema, TokenSchema, toWireToken } from "./token-wire.ts";

const TokenIdParams = Type.Object({ id: Type.String({ description: "Id of the token." }) });
const missing = notFound("token");

/** The token that a path names. Null if it is missing, or allows more than the caller may do (decision 0077). */
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
      "A token of a program that uses the back office. A caller of a merchant creates tokens for its own merchants and for connections of these only, as long as fewer than 100 valid ones share a merchant with the new one. Up to 1,000 tokens are stored; beyond them the one that ended first is deleted, and the limit is reached if all are valid.",
    body: Type.Object(
      {
        name: shortText("Name of the program, as timelines and the audit log show it.", [
          "Nightly stock sync",
        ]),
        ...grantFields,
        expiresAt: Type.Optional(dateTime("When the token expires, in the future. Default: never.")),
      },
      { title: "TokenRequest", description: "A new token." },
    ),
    responses: { 201: { description: "The token was created.", schema: NewTokenSchema } },
    problems: ["limit-reached", "validation-failed"],
    bodyErrors: async ({ caller, body }, { context }) => [
      ...(await grantErrors(context, caller, body)),
      ...expiryErrors(body, context),
    ],
    handle: async ({ caller, body, by }, { context }) => {
      const expiresAt = body.expiresAt === undefined ? null : parseTime(body.expiresAt);
      const fields = { name: body.name, grant: await toGrant(context, body), expiresAt };
      const made = await createToken(context, fields, confinedTo(caller), checkOf(context, caller), by);
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
    description: "The next request with the token is rejected. Repeating the request has no further effect.",
    params: TokenIdParams,
    responses: { 200: { description: "The revoked token.", schema: TokenSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params, by }, { context }) => {
      const token = await findToken(context, caller, params.id);
      const revoked = token === null ? null : await revokeToken(context, token.id, by);
      return revoked === null ? missing : { status: 200, body: toWireToken(revoked) };
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
      "Creates a token with the same name and the same rights. The old one stays valid for the overlap, and never longer than before. A token is rotated once: if the response was lost, revoke the new token and create another one. The body may be omitted.",
    params: TokenIdParams,
    body: Type.Object(rotationFields("token"), {
      title: "TokenRotation",
      description: "How to replace a token.",
    }),
    responses: { 201: { description: "The new token.", schema: RotatedTokenSchema } },
    problems: ["not-found", "token-not-rotatable", "limit-reached", "validation-failed"],
    bodyErrors: async ({ body }, { context }) => expiryErrors(body, context),
    handle: async ({ caller, params, body, by }, { context }) => {
      const token = await findToken(context, caller, params.id);
      const made =
        token === null
          ? null
          : await rotateToken(context, token.id, rotationOf(body), checkOf(context, caller), by);
      if (made === null) return missing;
      if (isProblem(made)) return made;
      const previousExpiresAt = made.previousExpiresAt.toISOString();
      return { status: 201, body: { ...toWireToken(made.created), token: made.token, previousExpiresAt } };
    },
  }),
];
