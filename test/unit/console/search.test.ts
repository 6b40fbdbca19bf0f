import { describe, expect, it } from "vitest";
import {
  flag,
  oneOf,
  parseSearch,
  searchParams,
  stringifySearch,
  text,
} from "../../../web/src/routing/search.ts";
import { day, time } from "../../../web/src/text/format.ts";

describe("the search part of an address", () => {
  it("is read as flat texts, and written so, without what is empty", () => {
    expect(parseSearch("?q=a%20b&onHold=true")).toEqual({ q: "a b", onHold: "true" });
    expect(stringifySearch({ q: "a b", onHold: true, cursor: undefined, status: "" })).toBe(
      "?q=a+b&onHold=true",
    );
    expect(stringifySearch({ cursor: undefined })).toBe("");
  });

  it("is typed by the route, which leaves out what it cannot read", () => {
    const read = searchParams({ q: text, onHold: flag, status: oneOf(["NEW", "CANCELED"]) });
    expect(read({ q: "a", onHold: "false", status: "NEW" })).toEqual({
      q: "a",
      onHold: false,
      status: "NEW",
    });
    expect(read({ q: "", onHold: "maybe", status: "GONE" })).toEqual({});
    expect(read({})).toStrictEqual({});
  });

  it("loses what was left out: the router adds what is returned to what was given", () => {
    const read = searchParams({ q: text, status: oneOf(["NEW"]) });
    const given = { status: "GONE", limit: "2", constructor: "x" };
    expect(stringifySearch({ ...given, ...read(given) })).toBe("");
  });
});

describe("a day and a time of an address", () => {
  it.each(["2026-02-28", "2024-02-29", "0001-01-01"])("is read: %s", (given) =>
    expect(day(given)).toBe(given),
  );

  it.each(["2026-02-30", "2025-02-29", "2026-13-45", "2026-1-1", "abc", "", "2026-02-28T00:00:00Z"])(
    "is no day: %j",
    (given) => expect(day(given)).toBeUndefined(),
  );

  it.each(["2026-02-28T23:59:59.999Z", "2026-02-28T00:00:00+02:00"])("is read: %s", (given) =>
    expect(time(given)).toBe(given),
  );

  it.each(["2026-02-30T00:00:00Z", "2026-02-28T25:00:00Z", "2026-02-28", "1", "yesterday"])(
    "is no time: %j",
    (given) => expect(time(given)).toBeUndefined(),
  );
});
