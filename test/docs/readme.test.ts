import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { createPartner, placeTestOrder } from "../support/builders.ts";
import { applied, transition } from "../support/sandbox.ts";
import { startTestService } from "../support/test-service.ts";

it("README.md shows the problem that its rehearsal meets, word for word", async () => {
  const [, shown = ""] =
    /```json TransitionRefusedProblem\n(.*?)```/s.exec(await readFile("README.md", "utf8")) ?? [];
  const test = await startTestService();
  const partner = await createPartner(test);
  await placeTestOrder(partner, { externalOrderId: "rehearsal-1" });
  await applied(partner, "rehearsal-1", "accept");
  const { status, body } = await transition(partner, "rehearsal-1", "complete");
  await test.close();
  expect(status).toBe(409);
  expect(JSON.parse(shown)).toEqual(body);
});
