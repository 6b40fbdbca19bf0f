import { recordAudit } from "../../audit/record-audit.ts";
import { before } from "../../platform/time.ts";
import { countAttempts } from "../attempts/attempts-sql.ts";
import { WINDOW_MS } from "../attempts/limit-sign-ins.ts";
import type { PersonSession } from "../sessions/session.ts";
import { byPerson } from "./finish-sign-in.ts";
import type { People } from "./people.ts";
import type { Visitor } from "./visitor.ts";

/** Entries about wrong passwords of a person within WINDOW_MS. */
const FAILURES_RECORDED_MAX = 5;

/** Records that a password of a person was wrong, but not without end. */
export async function recordFailure(
  people: People,
  person: PersonSession["person"],
  visitor: Visitor,
  action: "signInFailed" | "confirmFailed",
): Promise<void> {
  const now = people.clock.now();
  const [counted] = await countAttempts(people.db, [`failures ${person.id}`], now, before(now, WINDOW_MS));
  if (counted === undefined || counted.count > FAILURES_RECORDED_MAX) return;
  await recordAudit(people.db, people, byPerson({ person }, visitor, action), {
    merchantId: null,
    subject: "per",
    ids: [person.id],
    details: { method: "password", ipAddress: visitor.ipAddress },
  });
}
