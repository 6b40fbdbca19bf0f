import { expect, it } from "vitest";
import { EndpointQueues } from "../../../../src/webhooks/delivery/endpoint-queue.ts";
import { aConnection, anEndpoint } from "../../../support/claims.ts";

it("an endpoint has one queue, and gets a new one after its removal", () => {
  const queues = new EndpointQueues();
  const queue = queues.open(anEndpoint());
  expect(queues.open(anEndpoint())).toBe(queue);
  queues.remove(queue);
  expect(queues.open(anEndpoint())).not.toBe(queue);
});

it("queues are listed by connection", () => {
  const queues = new EndpointQueues();
  const one = queues.open(anEndpoint({ connectionId: "a", id: "1" }));
  const two = queues.open(anEndpoint({ connectionId: "a", id: "2" }));
  const other = queues.open(anEndpoint({ connectionId: "b", id: "3" }));
  expect(queues.of(aConnection("a"))).toEqual([one, two]);
  expect(queues.of(aConnection("b"))).toEqual([other]);
  expect(queues.of(aConnection("c"))).toEqual([]);
  expect(queues.all()).toEqual([one, two, other]);
});

it("there are none after the last one was removed", () => {
  const queues = new EndpointQueues();
  expect(queues.isEmpty).toBe(true);
  const [one, two] = [queues.open(anEndpoint({ id: "1" })), queues.open(anEndpoint({ id: "2" }))];
  queues.remove(one);
  expect([queues.isEmpty, queues.of(aConnection("connection"))]).toEqual([false, [two]]);
  queues.remove(two);
  expect([queues.isEmpty, queues.of(aConnection("connection"))]).toEqual([true, []]);
});
