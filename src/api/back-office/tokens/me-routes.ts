import { Type } from "typebox";
import { toTypeId } from "../../../platform/ids.ts";
import { describedAs, nullable } from "../../../platform/wire/schemas.ts";
import { type BackOfficeRoute, confinedTo, everyToken, roleOf, route } from "../access.ts";
import { GrantSchema, RoleSchema, toWireGrant } from "../grants/grant-wire.ts";

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
        grants: caller.grants.map(toWireGrant),
      },
    }),
  }),
];
