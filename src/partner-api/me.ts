import { Type } from "typebox";
import { readConnection } from "../connections/connections-sql.ts";
import type { Queryable } from "../database/database.ts";
import type { Answer } from "../http/route.ts";
import { dateTime, nullable } from "../http/schemas.ts";
import { toTypeId } from "../ids.ts";
import type { PartnerCaller } from "./authentication.ts";

/** Decision 0019. */
export const MeSchema = Type.Object(
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
export async function readMe(db: Queryable, { connectionId, key }: PartnerCaller): Promise<Answer> {
  const connection = await readConnection(db, connectionId);
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
