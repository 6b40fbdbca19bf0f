import { expect, it } from "vitest";
import { InFlight } from "../../../../src/webhooks/delivery/exchange.ts";

/** Adds all of these, and removes some in their order. Returns the others, sorted. */
function leftAfter(added: string, removed: string): string {
  const inFlight = new InFlight<{ name: string; position: number }>();
  const things = new Map([...added].map((name) => [name, { name, position: 0 }]));
  for (const thing of things.values()) inFlight.add(thing);
  for (const name of removed) inFlight.remove(things.get(name) ?? { name, position: 0 });
  expect(inFlight.isEmpty).toBe(added.length === removed.length);
  const left = inFlight.all().map(({ name }) => name);
  return left.toSorted().join("");
}

it.each([
  ["abcd", "", "abcd"],
  ["abcd", "d", "abc"],
  ["abcd", "a", "bcd"],
  ["abcd", "ad", "bc"],
  ["abcd", "bac", "d"],
  ["abcd", "dcba", ""],
  ["a", "a", ""],
])("of %o in flight, after %o ended, %o are left", (added, removed, left) => {
  expect(leftAfter(added, removed)).toBe(left);
});
