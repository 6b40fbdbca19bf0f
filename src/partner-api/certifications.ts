import { Type } from "typebox";
import {
  CertificationIdParams,
  CertificationRequestSchema,
  CertificationSchema,
  certificationKey,
  toWireCertification,
} from "../certification/certification.ts";
import { listCertifications, readCertification } from "../certification/certifications-sql.ts";
import { cancelCertification, startCertification } from "../certification/runs.ts";
import { fromTypeId } from "../platform/ids.ts";
import { pagePosition, toPage, UUID_MAX } from "../platform/wire/cursor.ts";
import { isProblem, notFound } from "../platform/wire/problems.ts";
import { cursorField, limitField, pageOf } from "../platform/wire/schemas.ts";
import { type PartnerRoute, route } from "./partner-route.ts";
import { missingEndpoint } from "./webhook-endpoints.ts";

const missing = notFound("certification");

const tag = "Certification";
const path = "/v1/test/certifications";

/** Runs that examine the receiver of a test endpoint. See docs/design/certification.md. */
export const certificationRoutes: readonly PartnerRoute[] = [
  route({
    method: "POST",
    path,
    operationId: "createCertification",
    tag,
    summary: "Examine the receiver of a test endpoint",
    description:
      "Begins a run of some minutes: the receiver answers a challenge, and then gets test orders with faults. Read the certification for its report. During the run, create the test order that `lostCreation` names. A connection has one open run at a time, and an endpoint a pause of a minute between two. The test orders of a run count as those of the connection; other endpoints that receive the events of test orders receive them, too.",
    body: CertificationRequestSchema,
    responses: {
      201: {
        description: "The run has begun.",
        schema: CertificationSchema,
        headers: { Location: "Path of the certification." },
      },
    },
    problems: ["not-found", "endpoint-paused", "certification-not-possible", "validation-failed"],
    handle: async ({ caller: { merchantId, connectionId }, body }, { context }) => {
      const id = fromTypeId("whe", body.endpointId);
      if (id === null) return missingEndpoint;
      const run = await startCertification(context, { merchantId, connectionId, id });
      if (isProblem(run)) return run;
      const shown = toWireCertification(run);
      return { status: 201, headers: { location: `${path}/${shown.id}` }, body: shown };
    },
  }),
  route({
    method: "GET",
    path,
    operationId: "listCertifications",
    isList: true,
    tag,
    summary: "List certifications",
    description: "The newest 50 runs of a connection are kept.",
    query: Type.Object({ limit: limitField, cursor: cursorField }),
    responses: {
      200: { description: "A page, newest first.", schema: pageOf(CertificationSchema, "CertificationPage") },
    },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const position = pagePosition("certifications", query, UUID_MAX);
      if (isProblem(position)) return position;
      const runs = await listCertifications(context.db, caller, position);
      return { status: 200, body: toPage(runs, position, toWireCertification) };
    },
  }),
  route({
    method: "GET",
    path: `${path}/{certificationId}`,
    operationId: "getCertification",
    tag,
    summary: "Get a certification",
    params: CertificationIdParams,
    responses: { 200: { description: "The run, with its report.", schema: CertificationSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const key = certificationKey(caller, params);
      const run = key === null ? null : await readCertification(context.db, key);
      return run === null ? missing : { status: 200, body: toWireCertification(run) };
    },
  }),
  route({
    method: "POST",
    path: `${path}/{certificationId}/cancel`,
    operationId: "cancelCertification",
    retry: "repeat",
    tag,
    summary: "End a certification before its time",
    description: "A run that has ended stays as it is. A body is ignored.",
    params: CertificationIdParams,
    responses: { 200: { description: "The run, which has ended.", schema: CertificationSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const key = certificationKey(caller, params);
      const run = key === null ? null : await cancelCertification(context, key);
      return run === null ? missing : { status: 200, body: toWireCertification(run) };
    },
  }),
];
