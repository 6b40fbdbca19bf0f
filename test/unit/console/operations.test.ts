import { expect, it } from "vitest";
import { ORDER_CHART } from "../../../src/lifecycle/lifecycle.ts";
import { OPERATIONS } from "../../../web/src/text/words.ts";

it("each transition of an order has a text in its timeline, and so has a note", () => {
  // A timeline calls the cancel of a partner by the name of all cancels.
  const transitions = Object.keys(ORDER_CHART).filter((name) => name !== "cancelByPartner");
  expect(OPERATIONS).toEqual(expect.arrayContaining([...transitions, "create", "route", "note"]));
});
