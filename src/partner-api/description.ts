import type { Json } from "../http/openapi/components.ts";
import { describeApi } from "../http/openapi/document.ts";
import { PARTNER_EXAMPLES } from "../http/openapi/examples.ts";
import { RATE_LIMIT_FIELDS } from "../http/rate-limiter.ts";
import { SANDBOX_TRANSITIONS } from "../lifecycle/possible-transitions.ts";
import { PARTNER_LIMIT_DESCRIPTIONS } from "../merchants/limits.ts";
import { ruleSchema, SANDBOX_RULES } from "../orders/changes/transition-order.ts";
import { SANDBOX_TRANSITIONS_TEXT } from "../orders/changes/transition-test-order.ts";
import { type Config, readVersion } from "../platform/config.ts";
import { enumeration } from "../platform/wire/schemas.ts";
import { describedWebhooks } from "./events.ts";
import { RETRIES, retryOf } from "./retries.ts";
import { partnerRoutes } from "./routes.ts";
import { testKeyRoutes } from "./test-keys.ts";

/**
 * The OpenAPI document of the partner API, without the back office.
 * @param server the address of the listener, if it is not the configured one
 */
export const describePartnerApi = (
  { baseUrl, errorsBaseUrl }: Pick<Config, "baseUrl" | "errorsBaseUrl">,
  server: Json = { url: baseUrl },
): Json =>
  describeApi({
    title: "Partner Orders",
    description:
      "Partners list the products that merchants have exposed to them, place and cancel orders, rehearse the lifecycle with test orders, and receive every change as a signed webhook. Errors are problem documents (RFC 9457).",
    version: readVersion(),
    server,
    routes: [...partnerRoutes, ...testKeyRoutes.map((row) => ({ ...row, isOpen: "to-all" as const }))],
    tags: {
      Orders: "Place, read and cancel orders.",
      "Test orders": "Rehearse the lifecycle of an order. Test orders are never charged or shipped.",
      Products: "The products that are exposed to the connection.",
      Connection: "The connection that the key belongs to.",
      "Test keys": "A first key without a person, on a deployment that offers it.",
      "Webhook endpoints": "Webhook endpoints: the addresses that receive events.",
      Certification: "Runs that examine the receiver of a test endpoint, and their reports.",
      Deliveries: "The delivery log of the endpoints, with each attempt.",
      Agents: "The Model Context Protocol, for coding agents.",
      Events: "The event feed, for polling and reconciliation.",
      Reference: "The lifecycle as data, and this document.",
    },
    securitySchemes: {
      connectionKey: { type: "http", scheme: "bearer", description: "A key of the connection." },
      connectionKeyHeader: {
        type: "apiKey",
        in: "header",
        name: "x-api-key",
        description: "The same key in its own header field.",
      },
    },
    problems: {
      codes: ["rate-limited"],
      transition: enumeration(
        "RefusedTransition",
        [...SANDBOX_TRANSITIONS, "updateShipment"],
        `The requested transition. ${SANDBOX_TRANSITIONS_TEXT} \`updateShipment\` changes the tracking of a shipment.`,
      ),
      rule: ruleSchema(SANDBOX_RULES),
      limits: PARTNER_LIMIT_DESCRIPTIONS,
    },
    rejectedHeaders: {},
    headers: RATE_LIMIT_FIELDS,
    examples: PARTNER_EXAMPLES,
    retries: { classes: RETRIES, of: retryOf },
    webhooks: describedWebhooks,
    errorsBaseUrl,
  });
