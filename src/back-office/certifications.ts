import { Type } from "typebox";
import {
  CertificationIdParams,
  CertificationRequestSchema,
  CertificationSchema,
  certificationKey,
  toWireCertification,
} from "../certification/certification.ts";
import { listCertifications } from "../certification/certifications-sql.ts";
import { cancelCertification, startCertification } from "../certification/runs.ts";
import { keyOf } from "../merchants/connection.ts";
import { fromTypeId } from "../platform/ids.ts";
import { pagePosition, toPage, UUID_MAX } from "../platform/wire/cursor.ts";
import { isProblem, notFound } from "../platform/wire/problems.ts";
import { cursorField, limitField, pageOf } from "../platform/wire/schemas.ts";
import { andMonitoring, andPartner, type BackOfficeRoute, everyone, merchantSide, route } from "./access.ts";
import { ConnectionIdParams, findConnection } from "./lookups.ts";

const path = "/api/connections/{id}/certifications";
const tag = "Connections";
/** A run makes test orders, so it has their roles and their scope. */
const rehearsal = { admits: andPartner(merchantSide), scope: "test-orders:write", tag } as const;

/** The runs of a connection, with their reports. See docs/design/certification.md. */
export const certificationRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path,
    operationId: "listConnectionCertifications",
    admits: andMonitoring(andPartner(everyone)),
    isList: true,
    tag,
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
  route({
    ...rehearsal,
    method: "POST",
    path,
    operationId: "createCertification",
    summary: "Examine the receiver of a test endpoint",
    description:
      "As `POST /v1/test/certifications` does, with the same rules. List the certifications for its report. During the run, the partner's program creates the test order that `lostCreation` names.",
    params: ConnectionIdParams,
    body: CertificationRequestSchema,
    responses: { 201: { description: "The run has begun.", schema: CertificationSchema } },
    problems: ["not-found", "endpoint-paused", "certification-not-possible", "validation-failed"],
    handle: async ({ caller, params, body, by }, { context }) => {
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const id = fromTypeId("whe", body.endpointId);
      if (id === null) return notFound("webhook endpoint");
      const run = await startCertification(context, { ...keyOf(connection), id }, by);
      return isProblem(run) ? run : { status: 201, body: toWireCertification(run) };
    },
  }),
  route({
    ...rehearsal,
    method: "POST",
    path: `${path}/{certificationId}/cancel`,
    operationId: "cancelCertification",
    summary: "End a certification before its time",
    description: "A run that has ended stays as it is. A body is ignored.",
    params: Type.Object({ ...ConnectionIdParams.properties, ...CertificationIdParams.properties }),
    responses: { 200: { description: "The run, which has ended.", schema: CertificationSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params, by }, { context }) => {
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const key = certificationKey(keyOf(connection), params);
      const run = key === null ? null : await cancelCertification(context, key, by);
      return run === null ? notFound("certification") : { status: 200, body: toWireCertification(run) };
    },
  }),
];
