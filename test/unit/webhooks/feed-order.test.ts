import fc from "fast-check";
import { expect, it } from "vitest";
import { inFeedOrder } from "../../../src/webhooks/events/number-events.ts";

const event = (id: string, order_id: string | null = null, sequence: number | null = null) => ({
  id,
  order_id,
  sequence,
});

it("is by age if no order has two events", () => {
  expect(inFeedOrder([event("c"), event("a", "o1", 3), event("b", "o2", 1)])).toEqual(["a", "b", "c"]);
});

it("gives the events of an order the places that they have by age, in sequence", () => {
  expect(inFeedOrder([event("a", "o", 3), event("b"), event("c", "o", 1), event("d", "o", 2)])).toEqual([
    "c",
    "b",
    "d",
    "a",
  ]);
});

it("leaves events with the same sequence by age: what only some endpoints receive does not count", () => {
  expect(inFeedOrder([event("b", "o", 1), event("a", "o", 1), event("c", "o", 2)])).toEqual(["a", "b", "c"]);
});

it("contains each event once, and each order in sequence, whatever the clocks were", () => {
  const anyEvents = fc.uniqueArray(
    fc.record({ id: fc.uuid(), order_id: fc.constantFrom(null, "o1", "o2"), sequence: fc.nat(9) }),
    { selector: ({ id }) => id },
  );
  fc.assert(
    fc.property(anyEvents, (generated) => {
      const events = generated.map((each) => (each.order_id === null ? { ...each, sequence: null } : each));
      const ids = inFeedOrder(events);
      expect(ids.toSorted()).toEqual(events.map(({ id }) => id).sort());
      const byId = new Map(events.map((each) => [each.id, each]));
      for (const order of ["o1", "o2"]) {
        const sequences = ids.map((id) => byId.get(id)).filter((each) => each?.order_id === order);
        expect(sequences.map((each) => each?.sequence)).toEqual(
          sequences.map((each) => each?.sequence ?? 0).sort((one, two) => one - two),
        );
      }
    }),
  );
});
