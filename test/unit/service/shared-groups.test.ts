import { expect, it } from "vitest";
import type { Placed, Placement } from "../../../src/orders/creation/place-orders.ts";
import { UnavailableError } from "../../../src/platform/database/database.ts";
import { ProblemError } from "../../../src/platform/wire/problems.ts";
import { type GroupMessage, shareGroups } from "../../../src/service/shared-groups.ts";

// docs/design/performance.md, "One process stores small groups"

const placement = (idempotencyKey: string) => ({ idempotencyKey }) as Placement;
const placed = { outcome: "created", goodsMinor: 790n, order: { createdAt: new Date(0) } } as Placed;

/** Two processes, and what the supervisor does between them. */
function twoProcesses() {
  const asking = shareGroups(false, (message) =>
    storing.receive(message.is === "group" ? { ...message, from: "api-2" } : message),
  );
  const storing = shareGroups(true, (message: GroupMessage) => asking.receive(message));
  return { asking, storing };
}

it("stores the orders of another process, each with its own outcome", async () => {
  const { asking, storing } = twoProcesses();
  expect(asking.send([placement("early")]), "nothing is sent before the other process is ready").toBeNull();
  asking.receive({ is: "storing", state: "ready" });
  storing.serve(async ({ idempotencyKey }) => {
    if (idempotencyKey === "busy") throw new UnavailableError("Too many.");
    if (idempotencyKey === "waits") throw new ProblemError({ code: "rate-limited", detail: "Slower." });
    if (idempotencyKey === "bug") throw new TypeError("A bug.");
    return placed;
  });
  const outcomes = await asking.send(["a", "busy", "waits", "bug", "b"].map(placement));
  expect(outcomes?.[0]).toEqual(placed);
  expect(outcomes?.[1]).toBeInstanceOf(UnavailableError);
  expect(outcomes?.[2]).toBeInstanceOf(ProblemError);
  expect(outcomes?.[3]).toEqual(new Error("A bug."));
  expect(outcomes?.[4]).toEqual(placed);
});

it("sends nothing to a process that leaves, but takes what it still answers; one that is gone fails the rest", async () => {
  const { asking, storing } = twoProcesses();
  asking.receive({ is: "storing", state: "ready" });
  const first = Promise.withResolvers<Placed>();
  storing.serve(({ idempotencyKey }) =>
    idempotencyKey === "first" ? first.promise : new Promise(() => undefined),
  );
  const answered = asking.send([placement("first")]);
  const unanswered = asking.send([placement("second")]);
  storing.leave();
  expect(asking.send([placement("third")])).toBeNull();
  first.resolve(placed);
  expect(await answered).toEqual([placed]);
  asking.receive({ is: "storing", state: "gone" });
  await expect(unanswered).rejects.toThrow("has ended");
});
