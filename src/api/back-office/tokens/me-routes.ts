import { Type } from "typebox";
import { toTypeId } from "../../../platform/ids.ts";
import { describedAs, nullable } from "../../../platform/wire/schemas.ts";
import { type BackOfficeRoute, confinedTo, everyToken, roleOf, route } from "../access.ts";
import { TokenRoleSchema } from "./token-wire.ts";

const MeSchema = Type.Object(
  {
    role: describedAs(TokenRoleSchema, "What the caller may do."),
    name: Type.String({ description: "Name that timelines and the audit log show." }),
    tokenId: nullable(
      Type.String(),
      "Id of the token that was sent. Null for `OPERATOR_TOKEN` and the command line.",
    ),
    merchantIds: nullable(
      Type.Array(Type.String()),
      "Merchants that the caller is restricted to. Null: it is not restricted to merchants.",
    ),
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
    description: "The role of the token that was sent. Use it to check a token.",
    responses: { 200: { description: "The caller.", schema: MeSchema } },
    problems: [],
    handle: async ({ caller }) => ({
      status: 200,
      body: {
        role: roleOf(caller),
        name: caller.name,
        tokenId: caller.id ?? null,
        merchantIds: confinedTo(caller)?.map((id) => toTypeId("mer", id)) ?? null,
      },
    }),
  }),
];
