import { type Static, Type } from "typebox";
import { toTypeId } from "../../../platform/ids.ts";
import { dateTime, describedAs, idField, nullable, nullableTime } from "../../../platform/wire/schemas.ts";
import type { Token } from "../../../tokens/token.ts";
import { ActorSchema, toWireActor } from "../actor-schema.ts";
import { grantWireFields, toWireGrant } from "../grants/grant-wire.ts";

const tokenFields = {
  id: idField("tok", "Id of the token, set by the service. It is not the token itself."),
  name: Type.String({ description: "Name of the program, as timelines and the audit log show it." }),
  ...grantWireFields,
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

export const TokenSchema = Type.Object(tokenFields, {
  title: "Token",
  description: "A token of the back office, without the token itself.",
});

const tokenText = Type.String({ description: "The token itself. It is returned only in this response." });

export const NewTokenSchema = Type.Object(
  { ...tokenFields, token: tokenText },
  { title: "CreatedToken", description: "A new token of the back office." },
);

export const RotatedTokenSchema = Type.Object(
  {
    ...tokenFields,
    token: tokenText,
    previousExpiresAt: dateTime("When the replaced token expires."),
  },
  { title: "RotatedToken", description: "The token that replaces another one." },
);

const tokenId = (id: string | null): string | null => (id === null ? null : toTypeId("tok", id));

export const toWireToken = (token: Token): Static<typeof TokenSchema> => ({
  id: toTypeId("tok", token.id),
  name: token.name,
  ...toWireGrant(token.grant),
  prefix: token.prefix,
  createdBy: toWireActor(token.createdBy),
  createdAt: token.createdAt.toISOString(),
  expiresAt: token.expiresAt?.toISOString() ?? null,
  revokedAt: token.revokedAt?.toISOString() ?? null,
  lastUsedAt: token.lastUsedAt?.toISOString() ?? null,
  replaces: tokenId(token.replacesId),
  replacedBy: tokenId(token.replacedById),
});
