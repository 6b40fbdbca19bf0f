import { expect, it, onTestFinished } from "vitest";
import type { Database } from "../../src/platform/database/database.ts";
import { pagePosition } from "../../src/platform/wire/cursor.ts";
import { isProblem } from "../../src/platform/wire/problems.ts";
import { productLister } from "../../src/products/list-products.ts";
import { createPartner } from "../support/builders.ts";
import { connectionKey } from "../support/orders.ts";
import { startTestService } from "../support/test-service.ts";

it("a connection that requests many pages at once leaves connections to the database for others", async () => {
  const test = await startTestService();
  onTestFinished(test.close);
  let [inUse, mostInUse] = [0, 0];
  const watched: Database = {
    ...test.db,
    query: async (statement) => {
      inUse += 1;
      mostInUse = Math.max(mostInUse, inUse);
      try {
        return await test.db.query(statement);
      } finally {
        inUse -= 1;
      }
    },
  };
  const listProducts = productLister(watched);
  const key = connectionKey(await createPartner(test));
  const pages = Array.from({ length: 50 }, (_, index) => {
    const position = pagePosition("products", { limit: index + 1 });
    if (isProblem(position)) throw new Error(position.detail);
    return listProducts({ ...position, ...key, sku: null });
  });
  const counts = (await Promise.all(pages)).map((page) => JSON.parse(page.toString()).data.length);
  expect(counts).toEqual([1, ...Array.from({ length: 49 }, () => 2)]); // The partner has two products.
  // Two thirds of three groups, docs/design/isolation-and-limits.md, "Pools and fair shares".
  expect(mostInUse).toBeLessThanOrEqual(2);
});
