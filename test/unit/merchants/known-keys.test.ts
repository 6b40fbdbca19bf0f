import { expect, it } from "vitest";
import type { ApiKey } from "../../../src/merchants/api-key.ts";
import { KnownKeys } from "../../../src/merchants/keys.ts";

const keyNamed = (name: string): ApiKey => ({
  id: `id of ${name}`,
  merchantId: "merchant",
  connectionId: "connection",
  name,
  mode: "live",
  prefix: "pok_live_abcdefg",
  createdAt: new Date(0),
  expiresAt: null,
  revokedAt: null,
  isRequested: false,
});

function startKnowing() {
  const clock = { ms: 5_000 };
  const keys = new KnownKeys(() => clock.ms);
  const read = (...hashes: string[]) =>
    keys.beginRead()(new Map(hashes.map((hash) => [hash, keyNamed(hash)])));
  return { clock, keys, read };
}

it("knows a key that was read, and no other", () => {
  const { keys, read } = startKnowing();
  read("a");
  expect(keys.get("a")).toEqual(keyNamed("a"));
  expect(keys.get("b")).toBeUndefined();
});

it("knows a key for a second from the beginning of the read", () => {
  const { clock, keys } = startKnowing();
  const keep = keys.beginRead();
  clock.ms += 400;
  keep(new Map([["a", keyNamed("a")]]));
  clock.ms += 599;
  expect(keys.get("a")).toBeDefined();
  clock.ms += 1;
  expect(keys.get("a")).toBeUndefined();
});

it("forgets every key when one may have changed", () => {
  const { keys, read } = startKnowing();
  read("a", "b");
  keys.forget();
  expect([keys.get("a"), keys.get("b")]).toEqual([undefined, undefined]);
});

it("does not keep a key whose read began before a change, because it may be from before", () => {
  const { keys, read } = startKnowing();
  const keep = keys.beginRead();
  keys.forget();
  keep(new Map([["a", keyNamed("a")]]));
  expect(keys.get("a")).toBeUndefined();
  read("a");
  expect(keys.get("a")).toBeDefined();
});

it("knows at most 10 000 keys", () => {
  const { keys, read } = startKnowing();
  read(...Array.from({ length: 10_000 }, (_, index) => `key ${index}`));
  expect(keys.get("key 0")).toBeDefined();
  read("one more");
  expect(keys.get("key 0")).toBeUndefined();
  expect(keys.get("one more")).toBeDefined();
});
