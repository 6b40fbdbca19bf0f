import { describe, expect, it } from "vitest";
import type { Actor, TimelineEntry } from "../../../src/lifecycle/applied-transition.ts";
import {
  type Hold,
  holdsOf,
  mayRelease,
  reasonsToRelease,
  releasableReasons,
} from "../../../src/lifecycle/possible-transitions.ts";

type Kind = Actor["kind"];

/** An entry by this kind of actor, after which the order has these reasons. */
const entry = (second: number, kind: Kind, ...holdReasons: string[]): TimelineEntry => ({
  id: String(second),
  operation: "hold",
  actor: { kind, name: null },
  requestId: null,
  detail: null,
  shipmentId: null,
  status: "NEW",
  holdReasons,
  createdAt: new Date(second * 1_000),
});
const updatedAt = new Date(99_000);
const placedBy = (timeline: TimelineEntry[], ...holdReasons: string[]) =>
  holdsOf({ holdReasons, updatedAt }, timeline).map((hold) => [
    hold.reason,
    hold.placedBy.kind,
    hold.since.getTime() / 1_000,
  ]);

describe("the holds of an order", () => {
  it("remember who placed each reason, and since when", () => {
    const timeline = [
      entry(1, "service"),
      entry(2, "warehouse", "a"),
      entry(3, "merchant", "a", "b"),
      entry(4, "warehouse", "a", "b"),
    ];
    expect(placedBy(timeline, "a", "b")).toEqual([
      ["a", "warehouse", 2],
      ["b", "merchant", 3],
    ]);
    expect(placedBy(timeline.slice(1), "a")).toEqual([["a", "warehouse", 2]]);
  });

  it("begin again with a reason that was released and placed again", () => {
    const timeline = [entry(1, "warehouse", "a"), entry(2, "operator"), entry(3, "merchant", "a")];
    expect(placedBy(timeline, "a")).toEqual([["a", "merchant", 3]]);
  });

  it("are the service's if no entry shows who placed them", () => {
    expect(placedBy([], "a")).toEqual([["a", "service", 99]]);
    expect(placedBy([entry(1, "warehouse", "a"), entry(2, "warehouse")], "a")).toEqual([
      ["a", "service", 99],
    ]);
  });
});

const hold = (reason: string, kind: Kind): Hold => ({
  reason,
  since: updatedAt,
  placedBy: { kind, name: null },
});

describe("the right to release a reason", () => {
  it.each<[reason: string, placedBy: Kind, allowed: Kind[]]>([
    ["payment_failed", "service", ["operator"]],
    ["payment_failed", "warehouse", ["operator"]],
    ["out_of_stock", "service", ["operator"]],
    ["out_of_stock", "warehouse", ["operator", "warehouse"]],
    ["address_unserviceable", "operator", ["operator"]],
    ["fraud_check", "operator", ["operator"]],
    ["damaged", "warehouse", ["operator", "warehouse"]],
    ["merchant_request", "merchant", ["operator", "merchant"]],
    ["merchant_request", "operator", ["operator", "merchant"]],
    ["merchant_request", "warehouse", ["operator", "warehouse", "merchant"]],
  ])("of %s, placed by the %s, have %j", (reason, by, allowed) => {
    const kinds: Kind[] = ["operator", "warehouse", "merchant"];
    expect(kinds.filter((kind) => mayRelease(hold(reason, by), kind))).toEqual(allowed);
  });
});

describe("the reasons that a request releases", () => {
  const holds = [
    hold("payment_failed", "service"),
    hold("a", "warehouse"),
    hold("merchant_request", "merchant"),
  ];

  it.each<[kind: Kind, released: string[]]>([
    ["operator", ["a", "merchant_request"]],
    ["warehouse", ["a"]],
    ["merchant", ["merchant_request"]],
  ])("without names, by the %s: %j", (kind, released) => {
    expect(reasonsToRelease(holds, undefined, kind)).toEqual({ released, forbidden: [] });
    const toName = kind === "operator" ? ["payment_failed"] : [];
    expect(releasableReasons(holds, kind)).toEqual({ released, toName });
  });

  it.each<[kind: Kind, named: string[], released: string[], forbidden: string[]]>([
    ["operator", ["payment_failed", "unknown"], ["payment_failed"], []],
    ["warehouse", ["a", "merchant_request"], ["a", "merchant_request"], ["merchant_request"]],
    ["merchant", ["unknown"], [], []],
  ])("by the %s, of the named %j: %j, but not %j", (kind, named, released, forbidden) => {
    expect(reasonsToRelease(holds, named, kind)).toEqual({ released, forbidden });
  });
});
