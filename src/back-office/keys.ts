import { type Static, Type } from "typebox";
import { KeyModeSchema, type ShownKey } from "../merchants/api-key.ts";
import { keyOf } from "../merchants/connection.ts";
import { issueKey, revokeKey, rotateKey } from "../merchants/keys.ts";
import { listKeys, readKey } from "../merchants/keys-sql.ts";
import { makerOf } from "../people/tokens.ts";
import type { Context } from "../platform/context.ts";
import { fromTypeId, toTypeId } from "../platform/ids.ts";
import { parseTime } from "../platform/time.ts";
import { pagePosition, toPage } from "../platform/wire/cursor.ts";
import { isProblem, notFound, type Problem } from "../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  describedAs,
  flagField,
  idField,
  limitField,
  nullable,
  nullableTime,
  pageOf,
  shortText,
} from "../platform/wire/schemas.ts";
import {
  andPartner,
  type BackOfficeCaller,
  type BackOfficeRoute,
  maySeeConnection,
  merchantSide,
  route,
  seesAsPartner,
} from "./access.ts";
import { ConnectionIdParams, expiryErrors, findConnection } from "./lookups.ts";
import { rotationFields, rotationOf } from "./rotation.ts";

const keyFields = {
  id: idField("key", "Id of the key, set by the service. It is not the key itself."),
  connectionId: idField("con", "Id of the connection that the key belongs to."),
  name: nullable(Type.String(), "Name by which people recognize the key. Null if it has none."),
  mode: describedAs(KeyModeSchema, "What the key can do, set when it is issued."),
  prefix: Type.String({
    description: "First characters of the key, by which people recognize it. They show its mode.",
  }),
  createdAt: dateTime("When the key was issued."),
  expiresAt: nullableTime("When the key expires. Null if it does not expire."),
  revokedAt: nullableTime("When the key was revoked. Null if it was not."),
  lastUsedAt: nullableTime(
    "When the key was last used, to within five minutes. Null if it never was. The service sets it.",
  ),
  replacedBy: nullable(
    Type.String({ examples: ["key_01m7y7np16fe68bxp4h91tdmdn"] }),
    "Id of the key that a rotation has put in its place. Null if it was not rotated.",
  ),
};
const KeySchema = Type.Object(keyFields, {
  title: "Key",
  description: "A key of a connection, without the key itself.",
});
const NewKeySchema = Type.Object(
  {
    ...keyFields,
    key: Type.String({ description: "The key itself. It is shown only in this response." }),
  },
  { title: "IssuedKey", description: "A new key of a connection." },
);

const KeyIdParams = Type.Object({ id: Type.String({ description: "Id of the key." }) });

/** A live key places real orders, which the merchant pays for (docs/design/people.md, "Partners' developers"). */
const LIVE_KEYS_ARE_THE_MERCHANTS: Problem = {
  code: "forbidden",
  detail: "Your role allows test keys only. Ask the merchant to issue, rotate or revoke a live key.",
};

/** Null for a missing key, and for one that the caller may not see. */
async function findKey({ db }: Context, caller: BackOfficeCaller, text: string): Promise<ShownKey | null> {
  const id = fromTypeId("key", text);
  const key = id === null ? null : await readKey(db, id);
  return key !== null && maySeeConnection(caller, key) ? key : null;
}

const toWireKey = (key: ShownKey): Static<typeof KeySchema> => ({
  id: toTypeId("key", key.id),
  connectionId: toTypeId("con", key.connectionId),
  name: key.name,
  mode: key.mode,
  prefix: key.prefix,
  createdAt: key.createdAt.toISOString(),
  expiresAt: key.expiresAt?.toISOString() ?? null,
  revokedAt: key.revokedAt?.toISOString() ?? null,
  lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  replacedBy: key.replacedById === null ? null : toTypeId("key", key.replacedById),
});

export const keyRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/connections/{id}/keys",
    operationId: "createKey",
    needsRecentAuthentication: true,
    admits: andPartner(merchantSide),
    tag: "Keys",
    summary: "Issue a key",
    description:
      "A connection may have several live keys, so that a key can be replaced without an interruption. A test key creates and changes test orders and test endpoints only. The role `partner` issues test keys only. If the connection requires a certification, a live key needs one that has passed.",
    params: ConnectionIdParams,
    body: Type.Object(
      {
        name: Type.Optional(shortText("Name by which people recognize the key.")),
        mode: Type.Optional(
          describedAs(KeyModeSchema, "What the key can do. It cannot be changed. Default: `live`."),
        ),
        expiresAt: Type.Optional(
          dateTime(
            "When the key expires, in the future. Default: never. A key that a token issues ends with the token at the latest, and with its revocation.",
          ),
        ),
      },
      { title: "KeyRequest", description: "A new key." },
    ),
    responses: { 201: { description: "The key was issued.", schema: NewKeySchema } },
    problems: ["forbidden", "not-found", "certification-required", "limit-reached", "validation-failed"],
    bodyErrors: async ({ body }, { context }) => expiryErrors(body, context),
    handle: async ({ caller, params, body, by }, { context }) => {
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const expiresAt = body.expiresAt === undefined ? null : parseTime(body.expiresAt);
      const { name = null, mode = "live" } = body;
      if (mode === "live" && seesAsPartner(caller, keyOf(connection))) return LIVE_KEYS_ARE_THE_MERCHANTS;
      const made = await issueKey(
        context,
        { ...keyOf(connection), name, mode, expiresAt },
        makerOf(context, caller),
        by,
      );
      return isProblem(made) ? made : { status: 201, body: { ...toWireKey(made.issued), key: made.key } };
    },
  }),
  route({
    method: "GET",
    path: "/api/connections/{id}/keys",
    operationId: "listKeys",
    admits: andPartner(merchantSide),
    tag: "Keys",
    summary: "List a connection's keys",
    params: ConnectionIdParams,
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      live: flagField("True: only valid keys. False: only revoked and expired ones."),
    }),
    responses: {
      200: {
        description: "A page, oldest first, including revoked and expired keys.",
        schema: pageOf(KeySchema, "KeyPage"),
      },
    },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query }, { context }) => {
      const position = pagePosition("keys", query);
      if (isProblem(position)) return position;
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const filter = { live: query.live ?? null, now: context.clock.now() };
      const keys = await listKeys(context.db, keyOf(connection), filter, position);
      return { status: 200, body: toPage(keys, position, toWireKey) };
    },
  }),
  route({
    method: "GET",
    path: "/api/keys/{id}",
    operationId: "getKey",
    admits: andPartner(merchantSide),
    tag: "Keys",
    summary: "Get a key",
    description: "Without the key itself, which is shown only when it is issued.",
    params: KeyIdParams,
    responses: { 200: { description: "The key.", schema: KeySchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const key = await findKey(context, caller, params.id);
      return key === null ? notFound("key") : { status: 200, body: toWireKey(key) };
    },
  }),
  route({
    method: "POST",
    path: "/api/keys/{id}/revoke",
    operationId: "revokeKey",
    admits: andPartner(merchantSide),
    tag: "Keys",
    summary: "Revoke a key",
    description:
      "The next request with the key is rejected. Repeating the request has no further effect. The role `partner` revokes test keys only.",
    params: KeyIdParams,
    responses: { 200: { description: "The revoked key.", schema: KeySchema } },
    problems: ["forbidden", "not-found"],
    handle: async ({ caller, params, by }, { context }) => {
      const key = await findKey(context, caller, params.id);
      if (key === null) return notFound("key");
      if (key.mode === "live" && seesAsPartner(caller, key)) return LIVE_KEYS_ARE_THE_MERCHANTS;
      const revoked = await revokeKey(context, key.id, by);
      return revoked === null ? notFound("key") : { status: 200, body: toWireKey(revoked) };
    },
  }),
];

const RotatedKeySchema = Type.Object(
  {
    ...NewKeySchema.properties,
    previousExpiresAt: dateTime("When the replaced key ends, or has ended."),
  },
  { title: "RotatedKey", description: "A new key of a connection, and the end of the one that it replaces." },
);

/** Keys are replaced without an interruption. See docs/design/isolation-and-limits.md, "Keys". */
export const keyRotationRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/keys/{id}/rotate",
    operationId: "rotateKey",
    admits: andPartner(merchantSide),
    tag: "Keys",
    needsRecentAuthentication: true,
    summary: "Rotate a key",
    description:
      "Issues a key with the same name and mode. The old one stays valid for the overlap, and never longer than before. A key is rotated once: if the response was lost, revoke the new key and issue another one. The body may be omitted. The role `partner` rotates test keys only. If the connection requires a certification, a live key is replaced at any time by one that does not end later.",
    params: KeyIdParams,
    body: Type.Object(rotationFields("key"), {
      title: "KeyRotation",
      description: "How to replace a key. Unknown fields are rejected.",
      additionalProperties: false,
    }),
    responses: { 201: { description: "The new key.", schema: RotatedKeySchema } },
    problems: ["forbidden", "not-found", "certification-required", "key-not-rotatable", "validation-failed"],
    bodyErrors: async ({ body }, { context }) => expiryErrors(body, context),
    handle: async ({ caller, params, body, by }, { context }) => {
      const key = await findKey(context, caller, params.id);
      if (key === null) return notFound("key");
      if (key.mode === "live" && seesAsPartner(caller, key)) return LIVE_KEYS_ARE_THE_MERCHANTS;
      const made = await rotateKey(context, key.id, key, rotationOf(body), makerOf(context, caller), by);
      if (isProblem(made)) return made;
      const previousExpiresAt = made.previousExpiresAt.toISOString();
      return { status: 201, body: { ...toWireKey(made.issued), key: made.key, previousExpiresAt } };
    },
  }),
];
