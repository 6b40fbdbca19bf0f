import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { createLog } from "../../../../src/platform/log.ts";
import type { Metrics } from "../../../../src/platform/metrics.ts";
import { type Completion, releasedClaim } from "../../../../src/webhooks/delivery/claimed-delivery.ts";
import { attemptLog } from "../../../../src/webhooks/delivery/dispatcher.ts";
import { noteMade } from "../../../../src/webhooks/pull/record-pulled.ts";
import { aClaim, NOW } from "../../../support/claims.ts";

/** The log lines that a completion leaves: of a dispatcher, or of a lease of a pull endpoint. */
function linesOf(
  completion: Completion,
  level: "info" | "warn" = "info",
  attemptMade?: Metrics["attemptMade"],
): Record<string, unknown>[] {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  if (attemptMade !== undefined) noteMade({ log: createLog(level, destination), attemptMade }, [completion]);
  else {
    const log = attemptLog(createLog(level, destination));
    log.write(completion);
    log.close();
  }
  return lines.map((line) => JSON.parse(line));
}

const attempt = {
  startedAt: NOW,
  durationMs: 12,
  responseStatus: 503,
  responseBody: "secret of the receiver",
  error: "HTTP 503",
  fault: null,
};
const retry: Completion = {
  delivery: aClaim({ attemptCount: 2 }),
  attempt,
  outcome: { is: "retry", at: NOW },
};

describe("the log line of an attempt", () => {
  it("has the ids, the attempt's number, trigger, status, outcome and duration, and nothing of the body", () => {
    const [line, ...others] = linesOf(retry);
    expect(others).toEqual([]);
    const { time, version, pid, hostname, ...fields } = line ?? {};
    expect(fields).toEqual({
      level: "info",
      service: "partner-orders",
      delivery: { id: "delivery" },
      event: { id: "event" },
      order: { id: "order" },
      endpoint: { id: "endpoint" },
      connection: { id: "connection" },
      attempt: 3,
      trigger: "schedule",
      status: 503,
      outcome: "retry",
      error: "HTTP 503",
      durationMs: 12,
      nextAttemptAt: NOW.toISOString(),
      msg: "delivery attempted",
    });
  });

  it("has neither error nor next attempt after a success", () => {
    const success = { ...attempt, responseStatus: 200, error: null };
    const [line] = linesOf({ ...retry, attempt: success, outcome: { is: "succeeded" } });
    expect(line).toMatchObject({ status: 200, outcome: "succeeded" });
    expect(line).not.toHaveProperty("error");
    expect(line).not.toHaveProperty("nextAttemptAt");
  });

  it("has no order when the event is not about one", () => {
    const delivery = aClaim({ streamId: "event", ownStreamId: "event" });
    const [line] = linesOf({ ...retry, delivery });
    expect(line).not.toHaveProperty("order");
  });

  it("is not written when nothing was sent", () => expect(linesOf(releasedClaim(aClaim()))).toEqual([]));

  it("is not written at a higher level", () => expect(linesOf(retry, "warn")).toEqual([]));

  it("is the same for a pull endpoint, and counts; a rehearsed fault and a returned lease do not count", () => {
    const counted: string[] = [];
    const noted = (completion: Completion) =>
      linesOf(completion, "info", (outcome, delayMs) => counted.push(`${outcome} ${delayMs}`));
    const [{ time: _, ...ofPull } = {}] = noted(retry);
    const [{ time: __, ...ofPush } = {}] = linesOf(retry);
    expect(ofPull).toEqual(ofPush);
    expect(noted({ ...retry, attempt: { ...attempt, fault: "duplicate" } })).toHaveLength(1);
    expect(noted(releasedClaim(aClaim()))).toEqual([]);
    expect(counted).toEqual(["failed null"]);
  });
});
