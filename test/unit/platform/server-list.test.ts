import { describe, expect, it } from "vitest";
import { isUnprotected, serverOf, serverUrls } from "../../../src/platform/database/servers.ts";

describe("the address of a database", () => {
  it.each([
    ["postgres://one/orders", ["postgres://one/orders"]],
    [
      "postgres://one:5433,two/orders?a=1,2",
      ["postgres://one:5433/orders?a=1,2", "postgres://two/orders?a=1,2"],
    ],
    ["postgres://u:p,w@x@one,two:1/o", ["postgres://u:p,w@x@one/o", "postgres://u:p,w@x@two:1/o"]],
    ["postgresql://u@[::1]:5,[::2]", ["postgresql://u@[::1]:5", "postgresql://u@[::2]"]],
    ["postgres:///orders?host=/tmp,1", ["postgres:///orders?host=/tmp,1"]],
  ])("%s has an address for each server", (address, urls) => {
    expect(serverUrls(address)).toEqual(urls);
  });

  it.each([
    ["postgres://u@one:5433/orders", { host: "one", port: 5433 }],
    ["postgres://one/orders", { host: "one", port: 5432 }],
    ["postgres://[::1]:6000/orders", { host: "::1", port: 6000 }],
  ])("%s names a host and a port", (url, server) => {
    expect(serverOf(url)).toEqual(server);
  });

  it("is unprotected if one of its servers is on another host and TLS is not required", () => {
    expect(isUnprotected("postgres://localhost,db.example/orders")).toBe(true);
    expect(isUnprotected("postgres://localhost,127.0.0.1:5433/orders")).toBe(false);
    expect(isUnprotected("postgres://db.example,other.example/orders?sslmode=verify-full")).toBe(false);
  });
});
