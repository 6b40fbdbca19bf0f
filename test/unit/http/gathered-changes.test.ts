import { describe, expect, it } from "vitest";
import type { BackOfficeCaller, Grant } from "../../../src/audit/grant.ts";
import { GatheredChanges } from "../../../src/back-office/updates/hub.ts";
import { UpdateStream } from "../../../src/back-office/updates/stream.ts";
import { NEW_EVENTS_MAX, NEW_EVENTS_OF_MERCHANT_MAX } from "../../../src/webhooks/events/number-events.ts";

const id = (number: number) => `01900000-0000-7000-8000-${String(number).padStart(12, "0")}`;
const [OWN, OTHER] = [id(1), id(2)];
const orderOf = (merchantId: string, number: number) => ({
  id: id(number),
  merchantId,
  connectionId: merchantId,
  testMode: false,
});
const eventOf = (merchantId: string, number: number) => ({
  ...orderOf(merchantId, number),
  orderId: id(number),
});

/** The message that a caller gets of what was gathered. */
function messageFor(gathered: GatheredChanges, ...grants: Grant[]): string {
  const caller: BackOfficeCaller = { type: "token", id: null, name: "Test", grants };
  const stream = new UpdateStream(caller);
  stream.body.read();
  stream.note(gathered.take(), new Map());
  stream.write();
  return String(stream.body.read() ?? "");
}

const merchant = (merchantId: string): Grant => ({ role: "merchant", merchantIds: [merchantId] });
const partner = (merchantId: string): Grant => ({
  role: "partner",
  connections: [{ merchantId, connectionId: id(9) }],
});

describe("more changes than a message names", () => {
  it.each<[string, (gathered: GatheredChanges) => void]>([
    ["another process has signaled", (gathered) => gathered.addOrders({ merchantIds: [OTHER] })],
    [
      "this process has signaled",
      (gathered) => gathered.addOrders({ orders: Array.from({ length: 501 }, (_, n) => orderOf(OTHER, n)) }),
    ],
    [
      "were read",
      (gathered) => {
        gathered.addEvents([]);
        gathered.addEvents(Array.from({ length: NEW_EVENTS_OF_MERCHANT_MAX }, (_, n) => eventOf(OTHER, n)));
      },
    ],
  ])("are a reload for callers of that merchant alone: %s", (_what, change) => {
    const reloadFor = (grant: Grant): boolean => {
      const gathered = new GatheredChanges();
      change(gathered);
      return messageFor(gathered, grant).includes("event: reload");
    };
    expect([merchant(OTHER), partner(OTHER), { role: "operator" as const }].map(reloadFor)).toEqual([
      true,
      true,
      true,
    ]);
    expect([merchant(OWN), partner(OWN)].map(reloadFor)).toEqual([false, false]);
  });

  it("still name the orders of others", () => {
    const gathered = new GatheredChanges();
    gathered.addOrders({ merchantIds: [OTHER] });
    gathered.addOrders({ orders: [orderOf(OWN, 7)] });
    expect(messageFor(gathered, merchant(OWN))).toMatch(/^event: changed\n/);
  });

  it.each<[string, (gathered: GatheredChanges) => void]>([
    ["of unknown merchants", (gathered) => gathered.addOrders({ merchantIds: null })],
    [
      "of more merchants than are kept",
      (gathered) => gathered.addOrders({ merchantIds: Array.from({ length: 501 }, (_, n) => id(n + 10)) }),
    ],
    [
      "if a reading was full",
      (gathered) => {
        gathered.addEvents([]);
        gathered.addEvents(
          Array.from({ length: NEW_EVENTS_MAX }, (_, n) => eventOf(id(1_000 + (n % 20)), n)),
        );
      },
    ],
  ])("are a reload for all %s", (_what, change) => {
    const gathered = new GatheredChanges();
    change(gathered);
    expect(messageFor(gathered, merchant(OWN))).toContain("event: reload");
  });

  it("are forgotten with the round", () => {
    const gathered = new GatheredChanges();
    gathered.addOrders({ merchantIds: null });
    gathered.take();
    expect(messageFor(gathered, merchant(OWN))).toBe("");
  });
});
