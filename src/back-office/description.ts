import { Type } from "typebox";
import type { Json } from "../http/openapi/components.ts";
import { describeApi } from "../http/openapi/document.ts";
import { BACK_OFFICE_EXAMPLES } from "../http/openapi/examples.ts";
import { RATE_LIMIT_FIELDS } from "../http/rate-limiter.ts";
import { FIXED_LIMITS, LIMIT_DESCRIPTIONS } from "../merchants/limits.ts";
import { ruleSchema, TRANSITION_RULES } from "../orders/changes/transition-order.ts";
import { sessionCookieName } from "../people/cookies.ts";
import { type Config, readVersion } from "../platform/config.ts";
import { nullable } from "../platform/wire/schemas.ts";
import { rolesOf } from "./access.ts";
import { describedWebhooks } from "./event-schemas.ts";
import { openRoutes } from "./people/sign-in.ts";
import { backOfficeRoutes } from "./routes.ts";

/** The OpenAPI document of the back office API. */
export const describeBackOffice = (
  { backOfficePort, errorsBaseUrl }: Pick<Config, "backOfficePort" | "errorsBaseUrl">,
  server: Json = { url: `http://localhost:${backOfficePort}` },
): Json =>
  describeApi({
    title: "Partner Orders back office",
    description:
      "Merchants, their connections to partners, products, orders and money, and the facilities that ship them. For the operator, the merchants and the warehouse. `x-roles` of an operation are the roles that may use it, and `x-scope` is the scope that a token needs (`every-token`: none). Errors are problem documents (RFC 9457).",
    version: readVersion(),
    server,
    routes: [
      ...backOfficeRoutes.map((row) => ({
        ...row,
        roles: rolesOf(row),
        problems: [...row.problems, "rate-limited" as const],
      })),
      ...openRoutes.map((row) => ({ ...row, isOpen: "sign-in" as const })),
    ],
    tags: {
      Merchants: "Companies whose products partners order.",
      Money: "Merchants' accounts and payment methods.",
      Connections: "Connections of merchants to partners.",
      Keys: "The API keys of connections.",
      Products: "Merchants' products, and which connections they are exposed to.",
      "Webhook endpoints":
        "The webhook endpoints of partners, their health, and what operators do with them.",
      Deliveries: "The delivery log of a connection's webhook endpoints.",
      Events: "What was published to a connection.",
      "Test orders": "The sandbox of a connection, for people: its test orders and their transitions.",
      Orders: "Orders from review to return, with charges and timeline.",
      "Sign-in": "How people sign in and out, on the pages of the console.",
      People: "People who sign in to the back office, and what they may do.",
      "Own account": "What people do with their own sign-in.",
      Tokens: "Tokens of programs that use the back office.",
      "Audit log": "Who changed what, and who read the addresses of buyers.",
      Facilities: "Facilities that ship orders, with stock and shipping rates.",
      System: "How the service is doing, and what it is configured with.",
      Overview: "Figures of orders and deliveries, and what needs attention.",
      Updates: "Says what has changed, while a page is open.",
      Changes: "What has changed, for programs that keep a copy.",
      Views: "Lists with filters that a person or a program has saved.",
      Search: "Finds what the caller sees, by its beginning.",
      "Work list": "Orders to pick and ship, and who has taken them.",
    },
    securitySchemes: {
      operatorToken: {
        type: "http",
        scheme: "bearer",
        description: "`OPERATOR_TOKEN`, or a token of `/api/tokens`.",
      },
      personSession: {
        type: "apiKey",
        in: "cookie",
        name: sessionCookieName(false),
        description:
          "The session of a person, on a page of the console. With https its name begins with `__Host-`. The header `X-Person-Id` names the person that the page shows: if another person has signed in on the browser, the response is 409 `person-changed`. Without the header, nothing is compared.",
      },
    },
    problems: {
      codes: ["forbidden", "scope-required", "person-changed"],
      transition: Type.String({ description: "The requested transition." }),
      rule: ruleSchema(TRANSITION_RULES),
      refusedBy: {
        orderId: Type.String({
          description: "Of `tracking_number_repeated`: the order of the other parcel.",
        }),
        shipmentId: nullable(
          Type.String(),
          "Of `tracking_number_repeated`: the other shipment. Null only for one that a dry run would create.",
        ),
      },
      limits: { ...LIMIT_DESCRIPTIONS, ...FIXED_LIMITS },
    },
    headers: RATE_LIMIT_FIELDS,
    rejectedHeaders: {
      "Retry-After":
        "Seconds to wait if too many wrong tokens came from the address. Absent otherwise: a wait does not help.",
    },
    examples: BACK_OFFICE_EXAMPLES,
    webhooks: describedWebhooks,
    errorsBaseUrl,
  });
