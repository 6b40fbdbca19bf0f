import { type Config, readVersion } from "../platform/config.ts";
import { backOfficeRoutes } from "./back-office/routes.ts";
import { describeApi } from "./http/openapi.ts";
import type { Json } from "./http/openapi-components.ts";
import { partnerRoutes } from "./partner/routes.ts";

type Addresses = Pick<Config, "baseUrl" | "backOfficePort" | "errorsBaseUrl">;

/** The OpenAPI document of the partner API, without the back office. */
export const describePartnerApi = ({ baseUrl, errorsBaseUrl }: Addresses): Json =>
  describeApi({
    title: "Partner Orders",
    description:
      "Partners list the products that merchants have exposed to them, place and cancel orders, rehearse the lifecycle with test orders, and receive every change as a signed webhook. Errors are problem documents (RFC 9457).",
    version: readVersion(),
    serverUrl: baseUrl,
    routes: partnerRoutes,
    tags: {
      Orders: "Place, read and cancel orders.",
      "Test orders": "Rehearse the lifecycle of an order. Test orders are never charged or shipped.",
      Products: "The products that are exposed to the connection.",
      Connection: "The connection that the key belongs to.",
      "Webhook endpoints": "Webhook endpoints: the addresses that receive events.",
      Deliveries: "The delivery log of the endpoints, with each attempt.",
      Events: "The event feed, for polling and reconciliation.",
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
    problems: ["rate-limited"],
    errorsBaseUrl,
  });

/** The OpenAPI document of the back office API. */
export const describeBackOffice = ({ backOfficePort, errorsBaseUrl }: Addresses): Json =>
  describeApi({
    title: "Partner Orders back office",
    description:
      "Merchants, their connections to partners, products, orders and money, and the facilities that ship them. For the operator, the merchants and the warehouse. Errors are problem documents (RFC 9457).",
    version: readVersion(),
    serverUrl: `http://localhost:${backOfficePort}`,
    routes: backOfficeRoutes,
    tags: {
      Merchants: "Companies whose products partners order.",
      Money: "Merchants' accounts and payment methods.",
      Connections: "Connections of merchants to partners.",
      Keys: "The API keys of connections.",
      Products: "Merchants' products, and which connections they are exposed to.",
      Deliveries: "The delivery log of a connection's webhook endpoints.",
      Orders: "Orders from review to return, with charges and timeline.",
      "Audit log": "Who changed what, and who read the addresses of buyers.",
      Facilities: "Facilities that ship orders, with stock and shipping rates.",
    },
    securitySchemes: {
      operatorToken: { type: "http", scheme: "bearer", description: "The operator's token." },
    },
    problems: ["forbidden"],
    errorsBaseUrl,
  });
