import { describe, expect, it } from "vitest";
import { type EndpointSecrets, signingSecretsAt } from "../../../src/webhooks/endpoints/secrets.ts";

const HOUR = 3_600_000;
const STALE = 120_000;
const at = (hours: number, ms = 0) => new Date(Date.UTC(2026, 2, 1) + hours * HOUR + ms);

/** Secrets by name, with the hours of their creation and of their end; the endpoint was created at hour 0. */
const stored = (...secrets: [name: string, created: number, expires?: number][]): EndpointSecrets => ({
  endpointCreatedAt: at(0),
  secrets: secrets.map(([sealed, created, expires]) => ({
    ...{ sealed, createdAt: at(created) },
    expiresAt: expires === undefined ? null : at(expires),
  })),
});
const namesAt = (secrets: EndpointSecrets, moment: Date) =>
  signingSecretsAt(secrets, moment, STALE)?.map(({ sealed }) => sealed) ?? null;

/** See docs/design/signing.md, "The request of an attempt". */
describe("the secrets that signed an attempt", () => {
  const first = stored(["A", 0]);
  const rotated = stored(["B", 10], ["A", 0, 34]);

  it.each<[string, EndpointSecrets, Date, string[] | null]>([
    ["the only secret, from the creation of the endpoint on", first, at(0), ["A"]],
    ["none before the creation", first, at(0, -1), null],
    ["none of a deleted endpoint", stored(), at(5), null],
    ["the older one before a rotation", rotated, at(10, -1), ["A"]],
    ["unknown just after a rotation", rotated, at(10), null],
    ["unknown until every worker knows it", rotated, at(10, STALE - 1), null],
    ["both during the overlap, newest first", rotated, at(10, STALE), ["B", "A"]],
    ["both until the overlap ends", rotated, at(34, -1), ["B", "A"]],
    ["unknown just after it has ended", rotated, at(34), null],
    ["the new one after that", rotated, at(34, STALE), ["B"]],
    ["unknown if the older one is deleted", stored(["B", 10]), at(11), null],
    ["unknown before the longest overlap has passed", stored(["B", 10]), at(178, STALE - 1), null],
    ["certain after it", stored(["B", 10]), at(178, STALE), ["B"]],
    ["unknown before the oldest that is stored", stored(["B", 10]), at(9), null],
    [
      "three, of which there are never more",
      stored(["D", 3], ["C", 2, 50], ["B", 1, 50]),
      at(4),
      ["D", "C", "B"],
    ],
    ["unknown with two of perhaps three", stored(["D", 3], ["C", 2, 50]), at(4), null],
    ["unknown if the only ones have ended", stored(["A", 0, 5]), at(5, STALE), null],
  ])("%s", (_, secrets, moment, names) => {
    expect(namesAt(secrets, moment)).toEqual(names);
  });
});
