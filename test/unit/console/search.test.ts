import { describe, expect, it } from "vitest";
import {
  flag,
  oneOf,
  parseSearch,
  searchParams,
  stringifySearch,
  text,
} from "../../../web/src/routing/search.ts";

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
    expect(read({ q: "", onHold: "maybe", status: "GONE", other: "x" })).toEqual({});
  });
});
