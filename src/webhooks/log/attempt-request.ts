import { type Static, Type } from "typebox";
import { after, MINUTE_MS } from "../../platform/time.ts";
import { nullable } from "../../platform/wire/schemas.ts";
import { COMMON_HEADERS, signedHeaders } from "../dispatch/send/request-headers.ts";
import { type EndpointSecrets, signingKey } from "../secrets/signing-secret.ts";
import { signingSecretsAt } from "../secrets/signing-secrets-at.ts";
import type { LoggedAttempt } from "./delivery.ts";

const header = (description: string) => Type.String({ description });

export const AttemptRequestSchema = Type.Object(
  {
    headers: Type.Object(
      {
        "content-type": header("Always `application/json`."),
        "user-agent": header("The program. Its version is the present one."),
        "webhook-id": header("Id of the event."),
        "webhook-timestamp": header("When the attempt started, in seconds since 1970."),
        "webhook-signature": nullable(
          Type.String(),
          "The signatures, separated by spaces. Null if they are not known any more: the body is not, or a secret that signed has ended or was replaced about that time.",
        ),
      },
      {
        title: "DeliveryRequestHeaders",
        description:
          "Header fields of the request, beside those that every HTTP request has. The service sets them.",
      },
    ),
    body: nullable(
      Type.String(),
      "The whole body. Personal data that was erased since is erased here too. Null if the event is not kept any more: events are kept for 30 days.",
    ),
  },
  {
    title: "DeliveryRequest",
    description:
      "The request of an attempt, as it was sent, or would have been if the attempt failed earlier.",
  },
);
type AttemptRequest = Static<typeof AttemptRequestSchema>;

/** Characters of the bodies that the attempts of a delivery show together. The newest attempt always shows its body. */
const BODIES_MAX = 1_048_576;
/** A rotation or an erasure may commit so long after the time that it stores. */
const COMMIT_MAX_MS = MINUTE_MS;

/** What the requests of a delivery's attempts are made of again. Nothing of them is stored with the attempt. */
export type RequestParts = {
  /** The id of the event, as receivers know it. */
  readonly eventId: string;
  /** The body as it is stored now. Null if the event is not kept any more. */
  readonly body: string | null;
  /** When the personal data in the body was erased. Null if it is as it was. */
  readonly erasedAt: Date | null;
  readonly secrets: EndpointSecrets;
  /** Decrypts a signing secret. Null if it cannot be decrypted. */
  readonly open: (sealed: string) => string | null;
  /** How long a worker works with what it has read. */
  readonly leaseMs: number;
};

/** The requests of attempts that are given oldest first, in the same order. Null where it is not shown or not known. */
export function attemptRequests(
  attempts: readonly LoggedAttempt[],
  parts: RequestParts,
): (AttemptRequest | null)[] {
  const shown = Math.max(1, Math.floor(BODIES_MAX / Math.max(1, parts.body?.length ?? 0)));
  return attempts.map((attempt, index) =>
    index < attempts.length - shown || attempt.durationMs === null ? null : requestOf(attempt, parts),
  );
}

function requestOf({ startedAt }: LoggedAttempt, parts: RequestParts): AttemptRequest {
  const { eventId: id, body } = parts;
  const secrets = body === null || isChangedSince(startedAt, parts) ? null : openedSecrets(startedAt, parts);
  const keys = (secrets ?? []).map(signingKey);
  const signed = signedHeaders({ id, timestamp: startedAt, body: body ?? "", keys });
  return {
    headers: {
      ...COMMON_HEADERS,
      ...signed,
      "webhook-signature": keys.length === 0 ? null : signed["webhook-signature"],
    },
    body,
  };
}

/** Whether the attempt may have sent the body as it was before an erasure. */
const isChangedSince = (startedAt: Date, { erasedAt, leaseMs }: RequestParts): boolean =>
  erasedAt !== null && startedAt < after(erasedAt, leaseMs + COMMIT_MAX_MS);

function openedSecrets(at: Date, { secrets, open, leaseMs }: RequestParts): string[] | null {
  const opened = signingSecretsAt(secrets, at, leaseMs + COMMIT_MAX_MS)?.map(({ sealed }) => open(sealed));
  const known = opened?.filter((secret) => secret !== null);
  return known !== undefined && known.length === opened?.length ? known : null;
}
