import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { drawOrderStates, ORDER_STATES_FILE } from "../../docs/draw-order-states.ts";

it("the picture of an order's states is the one that the chart draws; `npm run draw` makes it anew", async () => {
  expect(await readFile(ORDER_STATES_FILE, "utf8")).toBe(await drawOrderStates());
});
