import { eventIdOf, readingsOf, suspicionsOf } from "./body.ts";
import { computedFindings } from "./computed.ts";
import { asGiven, FINDINGS, type Finding, type Reading } from "./finding.ts";
import { readHeaders } from "./headers.ts";
import { findMatch, type Match } from "./match.ts";
import { readSecret } from "./secret.ts";
import { readSignatures } from "./signatures.ts";
import { clockFindings, formOf, timestampsOf } from "./times.ts";

/** The request, as it was pasted. */
export type Evidence = {
  readonly headers: string;
  readonly body: string;
  readonly secret: string;
  /** The signature that one's own program has computed. Empty if it is not known. */
  readonly computed: string;
  /** When the request arrived, by the receiver's clock. Empty if it is not known. */
  readonly arrival: string;
};

export type Verdict =
  /** The signature fits what was pasted. */
  | "genuine"
  /** It fits once the faults that were found are undone. */
  | "explained"
  /** It does not fit. */
  | "different"
  /** There is too little to check. */
  | "incomplete";

export type Diagnosis = { readonly verdict: Verdict; readonly findings: readonly Finding[] };

/** Far more than a request of the service has. */
const CHARACTERS_MAX = 2_000_000;

/**
 * Finds out why a signature is rejected. Each part of the request is read in several ways: as it was given, and as it
 * would be without one of the usual faults. If a combination was signed, its faults are the cause.
 */
export async function diagnose(evidence: Evidence, now: Date): Promise<Diagnosis> {
  if (Object.values(evidence).some((text) => text.length > CHARACTERS_MAX))
    return { verdict: "incomplete", findings: [{ code: "input_too_long" }] };
  const read = readHeaders(evidence.headers);
  const {
    "webhook-id": id = "",
    "webhook-timestamp": timestamp = "",
    "webhook-signature": sent = "",
  } = read.headers;
  const secret = readSecret(evidence.secret);
  const { signatures, findings: signatureFindings } = readSignatures(sent);
  const always = [
    ...read.findings,
    ...(evidence.body === "" ? [{ code: "body_absent" } as const] : []),
    ...signatureFindings,
    ...secret.findings,
    ...(timestamp === "" ? [] : clockFindings(timestamp, evidence.arrival, now)),
  ];
  const isComplete = id !== "" && timestamp !== "" && signatures.length > 0 && evidence.body !== "";
  if (!isComplete || secret.key === null)
    return { verdict: "incomplete", findings: distinct([...always, ...formFindings(id, timestamp)]) };
  const parts = {
    ids: idsOf(id, evidence.body),
    timestamps: timestampsOf(timestamp),
    bodies: readingsOf(evidence.body),
  };
  const match = await findMatch(secret.key, signatures, parts);
  const computed = await computedFindings(evidence.computed, {
    key: secret.key,
    secret: secret.text,
    parts,
    match,
  });
  if (match === null) {
    const causes = [
      ...formFindings(id, timestamp),
      ...idFinding(id, evidence.body),
      ...suspicionsOf(evidence.body),
    ];
    const cause = causes.length === 0 ? [{ code: "secret_differs" } as const] : causes;
    return { verdict: "different", findings: distinct([...always, ...cause, ...computed]) };
  }
  const older =
    match.position > 0 ? [{ code: "secret_older", values: positionOf(match, signatures) } as const] : [];
  const findings = distinct([...always, ...match.findings, ...older, ...computed]);
  const hasFault = [...signatureFindings, ...secret.findings, ...match.findings].some(
    ({ code }) => FINDINGS[code] === "fault",
  );
  return { verdict: hasFault ? "explained" : "genuine", findings };
}

const EVENT_ID = /^evt_[0-9a-z]{26}$/;

/** The id may have been replaced by another one, such as that of the delivery: the body has the right one. */
function idsOf(id: string, body: string): readonly Reading<string>[] {
  const [finding] = idFinding(id, body);
  const eventId = eventIdOf(body);
  return finding === undefined || eventId === null
    ? [asGiven(id)]
    : [asGiven(id), { value: eventId, finding }];
}

function idFinding(id: string, body: string): readonly Finding[] {
  const eventId = eventIdOf(body);
  return eventId === null || eventId === id ? [] : [{ code: "id_differs", values: { id, eventId } }];
}

const formFindings = (id: string, timestamp: string): readonly Finding[] => [
  ...(id === "" || EVENT_ID.test(id) ? [] : [{ code: "id_form", values: { id } } as const]),
  ...(timestamp === "" ? [] : formOf(timestamp)),
];

const positionOf = ({ position }: Match, signatures: readonly unknown[]) => ({
  position: position + 1,
  count: signatures.length,
});

/** A later finding of the same kind about the same thing says nothing new. */
const distinct = (findings: readonly Finding[]): readonly Finding[] => {
  const keyOf = ({ code, values }: Finding) => `${code} ${values?.["name"] ?? ""}`;
  return [...new Map(findings.map((finding) => [keyOf(finding), finding])).values()];
};
