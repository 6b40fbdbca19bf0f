import { Type } from "typebox";
import { readConnection } from "../../merchants/connections-sql.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { toTypeId } from "../../platform/ids.ts";
import { dateTime, nullable } from "../../platform/wire/schemas.ts";
import type { Answer } from "../http/route.ts";
import type { PartnerCaller } from "./authentication.ts";
import { type PartnerRoute, route } from "./partner-route.ts";

/** Decision 0019. */
const MeSchema = Type.Object(
  {
    id: Type.String({ examples: ["con_01m7y7np16fe68bxp4h91tdmdn"] }),
    name: Type.String(),
    merchant: Type.Object({ id: Type.String(), name: Type.String() }),
    key: Type.Object({
      id: Type.String(),
      prefix: Type.String({ description: "First characters of the key in use." }),
      createdAt: dateTime(),
      expiresAt: nullable(dateTime(), "Null when the key does not expire."),
    }),
    createdAt: dateTime(),
  },
  { title: "Me" },
);

/** GET /v1/me. Specification, part 4. */
async function readMe(db: Queryable, caller: PartnerCaller): Promise<Answer> {
  const connection = await readConnection(db, caller);
  const { key } = caller;
  if (connection === null) throw new Error("A key's connection is missing.");
  return {
    status: 200,
    body: {
      id: toTypeId("con", connection.id),
      name: connection.name,
      merchant: { id: toTypeId("mer", connection.merchantId), name: connection.merchantName },
      key: {
        id: toTypeId("key", key.id),
        prefix: key.prefix,
        createdAt: key.createdAt.toISOString(),
        expiresAt: key.expiresAt?.toISOString() ?? null,
      },
      createdAt: connection.createdAt.toISOString(),
    },
  };
}

export const meRoutes: readonly PartnerRoute[] = [
  route({
    method: "GET",
    path: "/v1/me",
    operationId: "getMe",
    tag: "Connection",
    summary: "Get the connection of the key",
    answers: { 200: { description: "The connection.", schema: MeSchema } },
    problems: [],
    handle: ({ caller }, { context }) => readMe(context.db, caller),
  }),
];
