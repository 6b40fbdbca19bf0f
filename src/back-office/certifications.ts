import { Type } from "typebox";
import { CertificationSchema, toWireCertification } from "../certification/certification.ts";
import { listCertifications } from "../certification/certifications-sql.ts";
import { keyOf } from "../merchants/connection.ts";
import { pagePosition, toPage, UUID_MAX } from "../platform/wire/cursor.ts";
import { isProblem, notFound } from "../platform/wire/problems.ts";
import { cursorField, limitField, pageOf } from "../platform/wire/schemas.ts";
import { andMonitoring, andPartner, type BackOfficeRoute, everyone, route } from "./access.ts";
import { ConnectionIdParams, findConnection } from "./lookups.ts";

/** The runs that a partner has begun, with their reports. See docs/design/certification.md. */
export const certificationRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/connections/{id}/certifications",
    operationId: "listConnectionCertifications",
    admits: andMonitoring(andPartner(everyone)),
    isList: true,
    tag: "Connections",
    summary: "List a connection's certifications",
    description:
      "Runs that examine the receiver of a test endpoint, each with its report. The newest 50 are kept.",
    params: ConnectionIdParams,
    query: Type.Object({ limit: limitField, cursor: cursorField }),
    responses: {
      200: { description: "A page, newest first.", schema: pageOf(CertificationSchema, "CertificationPage") },
    },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query }, { context }) => {
      const position = pagePosition("certifications", query, UUID_MAX);
      if (isProblem(position)) return position;
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const runs = await listCertifications(context.db, keyOf(connection), position);
      return { status: 200, body: toPage(runs, position, toWireCertification) };
    },
  }),
];
