import { describe, expect, it } from "vitest";
import { parseSource } from "../../scripts/architecture/source-files.ts";
import {
  findCycles,
  findForeignSql,
  findHttpImports,
  findImportsAcrossWalls,
  findImpureImports,
  findSharedTables,
  findUnknownFolders,
  findUpwardImports,
} from "./rules.ts";

/** Sources by path, as if they were the project. */
const project = (sources: Record<string, string>) =>
  Object.entries(sources).map(([path, source]) => parseSource(path, source));

describe("imports", () => {
  it("are found in statements, in exports, in calls and in types; comments and texts hold none", () => {
    const { imports } = parseSource(
      "src/orders/orders.ts",
      `import type { A } from "./a.ts"; import { type B, b } from "../b.ts"; import "./c.ts";
       export { d } from "./d.ts"; export type { E } from "./e.ts"; export * from "./f.ts";
       const g = await import("./g.ts"); type H = import("./h.ts").H; import { type I } from "./i.ts";
       import pg from "pg"; // import "./j.ts"
       const k = 'import "./k.ts"';`,
    );
    expect(imports.map(({ file, isTypeOnly }) => `${file} ${isTypeOnly ? "type" : "value"}`)).toEqual([
      "src/orders/a.ts type",
      "src/b.ts value",
      "src/orders/c.ts value",
      "src/orders/d.ts value",
      "src/orders/e.ts type",
      "src/orders/f.ts value",
      "src/orders/g.ts value",
      "src/orders/h.ts type",
      "src/orders/i.ts type",
      "null value",
    ]);
  });
});

describe("each rule reports what breaks it", () => {
  it("a folder without a layer", () =>
    expect(findUnknownFolders(project({ "src/utils/text.ts": "", "src/orders/order.ts": "" }))).toEqual([
      "src/utils has no layer: add it to scripts/architecture/layers.ts",
    ]));

  it("an import of a higher layer, or of a folder that shares the layer; types are no exception", () =>
    expect(
      findUpwardImports(
        project({
          "src/orders/a.ts": `import type { Route } from "../http/route.ts"; import "../ledger/ledger.ts"; import "./b.ts";`,
          "src/ledger/ledger.ts": `import "../stock/stock.ts";`,
        }),
      ),
    ).toEqual([
      "src/orders/a.ts imports src/http/route.ts, which is not in a lower layer",
      "src/ledger/ledger.ts imports src/stock/stock.ts, which is not in a lower layer",
    ]));

  it("a cycle, once", () =>
    expect(
      findCycles(
        project({
          "src/a.ts": `import "./b.ts";`,
          "src/b.ts": `import "./c.ts";`,
          "src/c.ts": `import type { B } from "./b.ts"; import "./d.ts";`,
          "src/d.ts": "",
        }),
      ),
    ).toEqual(["src/b.ts -> src/c.ts -> src/b.ts"]));

  it("a lifecycle that runs something of others", () =>
    expect(
      findImpureImports(
        project({
          "src/lifecycle/lifecycle.ts": `import { chart } from "./chart.ts"; import type { NewId } from "../platform/ids.ts"; import { newId } from "../platform/ids.ts"; import "node:crypto";`,
        }),
      ),
    ).toEqual([
      "src/lifecycle/lifecycle.ts imports ../platform/ids.ts; src/lifecycle may import types only",
      "src/lifecycle/lifecycle.ts imports node:crypto; src/lifecycle may import types only",
    ]));

  it("HTTP outside of the listeners", () =>
    expect(
      findHttpImports(
        project({
          "src/partner-api/app.ts": `import fastify from "fastify"; import "../http/listener.ts";`,
          "src/service/start.ts": `import type { FastifyInstance } from "fastify"; import "../http/listener.ts"; import "../partner-api/app.ts";`,
          "src/orders/order.ts": `import { createServer } from "node:http"; import cookie from "@fastify/cookie";`,
        }),
      ),
    ).toEqual([
      "src/service/start.ts imports fastify; only the listeners know HTTP",
      "src/service/start.ts imports ../http/listener.ts; only the listeners know HTTP",
      "src/orders/order.ts imports node:http; only the listeners know HTTP",
      "src/orders/order.ts imports @fastify/cookie; only the listeners know HTTP",
    ]));

  it("SQL of another slice, unless it is listed; and a list that is too long", () =>
    expect(
      findForeignSql(
        project({
          "src/orders/a.ts": `import "../ledger/ledger-sql.ts"; import "../stock/stock-sql.ts"; import "./orders-sql.ts"; import type { Row } from "../mail/mails-sql.ts";`,
        }),
        { "it is a book": ["src/stock/stock-sql.ts", "src/mail/mails-sql.ts"] },
      ),
    ).toEqual([
      "src/orders/a.ts imports src/ledger/ledger-sql.ts: call an operation of src/ledger, or list the file",
      "src/mail/mails-sql.ts is listed as open to other slices, but none imports it: remove it from the list",
    ]));

  it("a table that two slices write, unless it is listed; and a list that is too long", () =>
    expect(
      findSharedTables(
        project({
          "src/orders/a-sql.ts":
            'const a = `with gone as (delete\n from orders) insert into events select 1`; const b = "update mails set x = 1";',
          "src/stock/b-sql.ts": "const text = `update orders o set x = 1`; // insert into mails",
          "src/mail/c-sql.ts":
            "const text = `select 1 from stock for update of stock`; const help = `update mails and orders`;",
        }),
        ["orders", "events", "mails", "stock"],
        { events: { orders: "creation", webhooks: "publishing" } },
      ),
    ).toEqual([
      "orders is written by orders and stock; one slice writes a table",
      "events is written by orders; listed are orders and webhooks",
    ]));

  it("imports between src, packages and web", () =>
    expect(
      findImportsAcrossWalls(
        project({
          "packages/sdk/src/index.ts": `import "../../../src/platform/ids.ts"; import "./client.ts";`,
          "web/src/page.ts": `import type { Order } from "../../src/lifecycle/order.ts";`,
          "src/http/console.ts": `import "../../web/src/page.ts";`,
          "src/partner-api/mcp.ts": `import "../../packages/mcp/server.ts";`,
          "packages/dev/src/service-process.ts": `import "../../../src/service/start.ts";`,
          "src/service/start.ts": `import "../../packages/dev/src/clock-listener.ts";`,
        }),
      ),
    ).toEqual([
      "packages/sdk/src/index.ts imports src/platform/ids.ts; packages and web know only the HTTP API",
      "web/src/page.ts imports src/lifecycle/order.ts; packages and web know only the HTTP API",
      "src/http/console.ts imports web/src/page.ts; packages and web know only the HTTP API",
      "src/service/start.ts imports packages/dev/src/clock-listener.ts; packages and web know only the HTTP API",
    ]));
});
