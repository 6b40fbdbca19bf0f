import { areEqual, hmac } from "./bytes.ts";
import type { Finding, Reading } from "./finding.ts";

export type Parts = {
  readonly ids: readonly Reading<string>[];
  readonly timestamps: readonly Reading<string>[];
  readonly bodies: readonly Reading<string>[];
};

export type Match = {
  /** What was signed. */
  readonly id: string;
  readonly timestamp: string;
  readonly body: string;
  /** Which of the signatures fits, from 0. */
  readonly position: number;
  readonly findings: readonly Finding[];
};

/** The combination with the fewest faults that was signed with this key. */
export async function findMatch(
  key: Uint8Array,
  signatures: readonly Uint8Array[],
  { ids, timestamps, bodies }: Parts,
): Promise<Match | null> {
  const combinations = ids
    .flatMap((id) => timestamps.flatMap((timestamp) => bodies.map((body) => [id, timestamp, body] as const)))
    .map(([id, timestamp, body]) => ({
      id: id.value,
      timestamp: timestamp.value,
      body: body.value,
      findings: [id, timestamp, body].flatMap(({ finding }) => (finding === null ? [] : [finding])),
    }))
    .toSorted((a, b) => a.findings.length - b.findings.length);
  for (const combination of combinations) {
    const { id, timestamp, body } = combination;
    const expected = await hmac(key, `${id}.${timestamp}.${body}`);
    const position = signatures.findIndex((signature) => areEqual(signature, expected));
    if (position >= 0) return { ...combination, position };
  }
  return null;
}
