import { expect, it } from "vitest";
import { recordChanges } from "../../src/changes/record-changes.ts";
import { inTransaction } from "../../src/platform/context.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { personOf } from "../support/back-office-resources.ts";
import { countRows, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { type ChangeItem, endOfChanges, followChanges } from "../support/changes.ts";
import { type Client, startServiceForTest, type TestService } from "../support/test-service.ts";

const uuidOf = (merchantId: string): string => fromTypeId("mer", merchantId) ?? "";

/** A transaction that has recorded a change of a product, and ends later. */
async function open({ context }: TestService, partner: Partner, productId: string) {
  const [recorded, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const done = inTransaction(context, async (tx) => {
    recordChanges(tx, context.clock.now(), [
      { merchantId: uuidOf(partner.merchantId), kind: "product", objectId: productId },
    ]);
    for (const step of tx.beforeCommit?.values() ?? []) await step();
    tx.beforeCommit?.clear();
    recorded.resolve();
    await ended.promise;
  });
  await recorded.promise;
  return {
    end: async () => {
      ended.resolve();
      await done;
    },
    fail: async () => {
      ended.reject(new Error("the process dies"));
      await expect(done).rejects.toThrow("the process dies");
    },
  };
}

it("a change that commits late comes after what was read, whatever its id says", async () => {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  const cursor = await endOfChanges(test.backOffice);
  const late = await open(test, partner, partner.productIds[0]);
  test.clock.advance({ ms: 10 });
  const { id } = await placeOrder(partner);
  const first = await followChanges(test.backOffice, cursor);
  expect(first.changes.map(({ objectId }) => objectId)).toContain(id);
  expect(first.changes.map(({ kind }) => kind)).not.toContain("product");
  await late.end();
  const second = await followChanges(test.backOffice, first.cursor);
  expect(second.changes).toMatchObject([{ kind: "product", objectId: partner.productIds[0] }]);
});

it("a transaction that does not commit leaves no change", async () => {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  const { cursor } = await followChanges(test.backOffice);
  const stored = await countRows(test, "changes");
  await (await open(test, partner, partner.productIds[0])).fail();
  expect(await countRows(test, "changes")).toBe(stored);
  expect((await followChanges(test.backOffice, cursor)).changes).toEqual([]);
});

it("readers of one and of all merchants beside many writers miss nothing and agree", async () => {
  const test = await startServiceForTest();
  const partners = await Promise.all([1, 2, 3].map(() => createPartner(test)));
  const cursor = await endOfChanges(test.backOffice);
  let isWriting = true;
  const readers: [Client, string | null][] = [
    [test.backOffice, null],
    [test.backOffice, null],
    ...partners.map(({ merchantId }): [Client, string] => [personOf(test, merchantId), merchantId]),
  ];
  const reading = readers.map(async ([client]) => {
    const read: ChangeItem[] = [];
    let at: string | null = cursor;
    for (let isLast = false; ; ) {
      const next = await followChanges(client, at, { limit: 3 });
      read.push(...next.changes);
      at = next.cursor;
      if (isLast) return read;
      isLast = !isWriting; // Once more after the last write.
    }
  });
  await Promise.all(
    partners.flatMap((partner) =>
      Array.from({ length: 12 }, async () => {
        const { id } = await placeOrder(partner);
        await test.backOffice.post(`/api/orders/${id}/notes`, { text: "Call first" });
      }),
    ),
  );
  isWriting = false;
  const [all = [], also, ...own] = await Promise.all(reading);
  expect(all.filter(({ kind }) => kind === "order")).toHaveLength(3 * 12 * 2);
  expect(also).toEqual(all);
  for (const [index, read] of own.entries())
    expect(read).toEqual(all.filter(({ merchantId }) => merchantId === partners[index]?.merchantId));
  expect((await followChanges(test.backOffice, cursor)).changes).toEqual(all);
});

it("changes that were never read are numbered by and by", async () => {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  const cursor = await endOfChanges(test.backOffice);
  await inTransaction(test.context, async (tx) => {
    const merchantId = uuidOf(partner.merchantId);
    for (let count = 0; count < 2_500; count += 1)
      recordChanges(tx, test.clock.now(), [
        { merchantId, kind: "product", objectId: test.context.newId(), events: ["test"] },
      ]);
  });
  const { changes } = await followChanges(personOf(test, partner.merchantId), cursor);
  expect(new Set(changes.map(({ objectId }) => objectId)).size).toBe(2_500);
});
