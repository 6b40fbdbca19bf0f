import { Type } from "typebox";
import { type PartnerRoute, route } from "./partner-route.ts";

const OpenApiSchema = Type.Object(
  {
    openapi: Type.String({ description: "Version of the OpenAPI specification.", examples: ["3.1.0"] }),
    info: Type.Object(
      {
        title: Type.String({ description: "Name of the API.", examples: ["Partner Orders"] }),
        version: Type.String({ description: "Version of the service.", examples: ["0.1.0"] }),
      },
      { title: "OpenApiInfo", description: "Name and version. It has further members." },
    ),
  },
  { title: "OpenApiDocument", description: "An OpenAPI document. It has further members." },
);

/** Decision 0079. */
export const referenceRoutes: readonly PartnerRoute[] = [
  route({
    method: "GET",
    path: "/v1/openapi.json",
    operationId: "getOpenApi",
    tag: "Reference",
    summary: "Get this document",
    description:
      "Every route of the partner API, every event, and their fields, as an OpenAPI 3.1 document with the address of this deployment.",
    responses: { 200: { description: "The document.", schema: OpenApiSchema } },
    problems: [],
    handle: async (_input, { description }) => ({ status: 200, json: description() }),
  }),
];
