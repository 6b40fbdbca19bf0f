import { type Static, Type } from "typebox";
import type { ConnectionKey } from "../platform/connection-key.ts";
import { fromTypeId, toTypeId } from "../platform/ids.ts";
import { after } from "../platform/time.ts";
import { dateTime, enumeration, idField, nullable, nullableTime } from "../platform/wire/schemas.ts";
import { CHECK_TEXTS, CHECKS, type CheckResult } from "./checks.ts";
import { CREATION_MS, PHASES, type Progress } from "./script.ts";

const STATUSES = ["running", "passed", "failed", "canceled"] as const;

/** A run that examines the receiver of a test endpoint. */
export type Certification = ConnectionKey & {
  readonly id: string;
  readonly endpointId: string;
  readonly endpointUpdatedAt: Date;
  readonly productId: string;
  readonly status: (typeof STATUSES)[number];
  readonly reason: string | null;
  readonly progress: Progress;
  readonly results: readonly CheckResult[];
  readonly lostAt: Date | null;
  readonly repeatedAt: Date | null;
  readonly otherwise: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
};

export type CertificationKey = Pick<Certification, "merchantId" | "connectionId" | "id">;

export const wireCertificationId = ({ id }: Pick<Certification, "id">): string => toTypeId("crt", id);

export const CertificationIdParams = Type.Object({
  certificationId: Type.String({ description: "Id of the certification." }),
});

/** Null if the text is not the id of a certification. */
export function certificationKey(
  { merchantId, connectionId }: ConnectionKey,
  { certificationId }: Static<typeof CertificationIdParams>,
): CertificationKey | null {
  const id = fromTypeId("crt", certificationId);
  return id === null ? null : { merchantId, connectionId, id };
}

export const CertificationRequestSchema = Type.Object(
  { endpointId: Type.String({ maxLength: 200, description: "Id of a test endpoint." }) },
  { title: "CertificationRequest", description: "What to examine.", additionalProperties: false },
);

/** The external ids of its test orders begin with the id of the run, so that partners recognize them. */
export const externalIdOf = (run: Pick<Certification, "id">, name: string): string =>
  `${wireCertificationId(run)}-${name}`;

const CheckSchema = Type.Object(
  {
    check: enumeration(
      "CertificationCheckName",
      CHECKS,
      "What is examined. More values may be added. `challenge`: a proof that the receiver has the signing secret. `valid`: valid events. `wrong-signature` and `stale-timestamp`: requests that it must reject. `duplicate`, `two-at-once`, `reordered`, `unknown-type`, `unknown-field`, `largest-body`, `cut-body` and `outage`: what it must get along with. `state`: what it has stored afterwards. `throughput`: 20 events a second, which is advice alone. `lost-creation`: a creation whose response is lost.",
    ),
    result: enumeration(
      "CertificationResult",
      ["pending", "passed", "failed", "advice", "skipped"],
      "`pending`: not decided yet. `passed` and `failed`: it did, or did not, what is examined. `advice`: it could do better, which fails no run. `skipped`: not examined; `seen` says why.",
    ),
    examines: Type.String({ description: "What is examined, in words." }),
    seen: nullable(Type.String(), "What was seen, in sentences. Null while it is pending."),
    why: Type.String({ description: "Why it matters." }),
    remedy: Type.String({ description: "How to pass." }),
  },
  { title: "CertificationCheck", description: "One check of a certification." },
);

export const CertificationSchema = Type.Object(
  {
    id: idField("crt", "Id of the certification, set by the service."),
    endpointId: idField("whe", "Id of the test endpoint."),
    status: enumeration(
      "CertificationStatus",
      STATUSES,
      "`running`: not all checks are decided. `passed`: no check has failed. `failed`: at least one has, or the run ended before the last one. `canceled`: ended by request.",
    ),
    phase: nullable(
      enumeration(
        "CertificationPhase",
        PHASES,
        "What the run does. `challenge`: it waits for the proof. `deliveries`: it sends test events with faults. `state`: it asks what the receiver has stored. `throughput`: it sends 20 events a second. `lost-creation`: it waits for the test order whose creation is lost.",
      ),
      "What the run does. Null when it has ended.",
    ),
    reason: nullable(Type.String(), "Why the run ended before its last check. Null if it did not."),
    lostCreation: Type.Object(
      {
        externalOrderId: Type.String({
          description:
            "Create a test order with this `externalOrderId` and the header `Test-Fault: lost-response`, at any time while the run is open.",
          examples: ["crt_01m7y7np16fe68bxp4h91tdmdn-lost-creation"],
        }),
        until: dateTime("Until when the creation and its repetition must have arrived."),
      },
      { title: "LostCreation", description: "The test order that your program creates for the run." },
    ),
    checks: Type.Array(CheckSchema, { description: "The report: every check, in its order." }),
    createdAt: dateTime("When the run began."),
    finishedAt: nullableTime("When the run ended. Null while it is open."),
  },
  {
    title: "Certification",
    description:
      "A run that examines the receiver of a test endpoint with test orders and faults, and its report.",
  },
);

export function toWireCertification(run: Certification): Static<typeof CertificationSchema> {
  const results = new Map(run.results.map((result) => [result.check, result]));
  return {
    id: wireCertificationId(run),
    endpointId: toTypeId("whe", run.endpointId),
    status: run.status,
    phase: run.finishedAt === null ? run.progress.phase : null,
    reason: run.reason,
    lostCreation: {
      externalOrderId: externalIdOf(run, "lost-creation"),
      until: after(run.createdAt, CREATION_MS).toISOString(),
    },
    checks: CHECKS.map((check) => {
      const decided = results.get(check);
      return {
        check,
        result: decided?.result ?? (run.finishedAt === null ? "pending" : "skipped"),
        examines: CHECK_TEXTS[check].examines,
        seen: decided?.seen ?? (run.finishedAt === null ? null : "The run ended before."),
        why: CHECK_TEXTS[check].why,
        remedy: CHECK_TEXTS[check].remedy,
      };
    }),
    createdAt: run.createdAt.toISOString(),
    finishedAt: run.finishedAt?.toISOString() ?? null,
  };
}
