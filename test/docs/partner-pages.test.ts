import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../packages/cli/src/program.ts";
import { PartnerOrders } from "../../packages/sdk/src/index.ts";
import { readSteps } from "../../scripts/docs/generated/guided-path.ts";
import { HOLD_REASONS, ORDER_STATUSES } from "../../src/lifecycle/order.ts";
import { EVENT_SCHEMAS } from "../../src/partner-api/events.ts";
import { PROBLEMS } from "../../src/platform/wire/problems.ts";
import { DEFAULT_EVENT_TYPES, EVENT_MEANINGS, EVENT_TYPES, PING } from "../../src/webhooks/events/event.ts";
import { operationsOf, PARTNER } from "../support/openapi.ts";

const read = (name: string): string => readFileSync(`docs/partners/${name}`, "utf8");
const PAGES = readdirSync("docs/partners").map(read);
const STATUSES = read("statuses.md");
const EVENTS = read("events.md");

/** The first cells of the rows of a table, without the code marks. */
const rowsOf = (text: string, heading: string): string[][] => {
  const [, table = ""] = text.split(`${heading} |`);
  const rows = table.split("\n\n")[0]?.split("\n").slice(2) ?? [];
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", "")),
  );
};

describe("the pages for partners", () => {
  it("explains every status and every known reason for a hold", () => {
    expect(rowsOf(STATUSES, "| `status`").map(([status]) => status)).toEqual([...ORDER_STATUSES]);
    expect(
      rowsOf(STATUSES, "| Reason")
        .map(([reason]) => reason)
        .toSorted(),
    ).toEqual([...HOLD_REASONS].toSorted());
  });

  it("shows each request in curl, TypeScript and Python", () => {
    const groups = PAGES.flatMap((text) => [...text.matchAll(/^::: code-group\n(.*?)^:::$/gms)]);
    const forms = groups.map(([, group = ""]) =>
      [...group.matchAll(/^```(\w+ \[.*\])$/gm)].map(([, form]) => form),
    );
    const programs = ["ts [TypeScript]", "python [Python]"];
    for (const form of forms) expect([programs, ["sh [curl]", ...programs]]).toContainEqual(form);
    expect(forms.length).toBeGreaterThan(20);
    for (const text of PAGES) {
      const outside = text
        .replace(/^::: code-group\n.*?^:::$/gms, "")
        .replace(/^<!-- (?:not for partners|not run: .*?) -->\n.*?^(?:<!-- end -->|```)$/gms, "");
      expect([...outside.matchAll(/^```sh\n.*?^```$/gms)].filter(([code]) => code.includes("curl"))).toEqual(
        [],
      );
    }
  });

  it("names only routes that exist", () => {
    const routes = operationsOf(PARTNER).map(([name]) => name);
    const named = PAGES.flatMap((text) =>
      [...text.matchAll(/`((?:GET|POST|PATCH|PUT|DELETE) \/v1\/[^`?]*)/g)].map(([, route]) => route),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((route) => !routes.includes(String(route)))).toEqual([]);
  });
});

describe("the event catalog", () => {
  const rows = rowsOf(EVENTS, "| Type");

  it("has every type, when it is sent, its content, and who receives it", () => {
    const types = [...EVENT_TYPES, PING] as const;
    const expected = types.map((type) => {
      const { properties } = (EVENT_SCHEMAS.get(type) as { properties: { data: { properties: object } } })
        .properties.data;
      const byDefault = (DEFAULT_EVENT_TYPES as readonly string[]).includes(type);
      const received = byDefault ? "by default" : "if named";
      const data = Object.keys(properties).join(", ");
      return [type, EVENT_MEANINGS[type], data, type === PING ? "by request" : received];
    });
    expect(rows).toEqual(expected);
  });

  it("shows an example from the OpenAPI document", () => {
    const [, code = ""] = EVENTS.match(/```json ProductPublishedEvent\n(.*?)```/s) ?? [];
    const described = PARTNER.webhooks?.["product.published"]?.post.requestBody?.content["application/json"];
    expect(JSON.parse(code)).toEqual(described?.example);
  });
});

describe("the pages of errors", () => {
  it("are one for each code, with its title, causes and a remedy", () => {
    const names = readdirSync("docs/errors").map((name) => name.replace(/\.md$/, ""));
    expect(names.toSorted()).toEqual(Object.keys(PROBLEMS).toSorted());
    for (const [code, { title }] of Object.entries(PROBLEMS)) {
      const text = readFileSync(`docs/errors/${code}.md`, "utf8");
      expect(text).toMatch(new RegExp(`^# ${title}\n\n## Causes\n\n- .*\n## Remedy\n\n- `, "s"));
    }
  });
});

describe("the guide to errors", () => {
  it("says what each code of the partner API asks for", () => {
    const text = read("errors.md");
    const codes = Object.values(PARTNER.components.examples ?? {}).map(({ value }) => value["code"]);
    const rows = rowsOf(text, "| Do | Codes");
    const named = rows.flatMap(([, cell = ""]) => cell.split(", "));
    expect(codes.length).toBeGreaterThan(10);
    expect(named.toSorted()).toEqual([...new Set(codes)].toSorted());
  });
});

describe("the guided path", () => {
  it("names methods of the SDK and commands that exist", () => {
    const client = new PartnerOrders({ baseUrl: "https://orders.example", key: "pok_test_0" });
    const isMethod = (call: string): boolean =>
      typeof call
        .replace(/\(\)$/, "")
        .split(".")
        .slice(1)
        .reduce<unknown>((object, name) => (object as Record<string, unknown>)[name], client) === "function";
    const isCommand = (line: string): boolean => {
      const [, first, second] = line.split(" ");
      const group = createProgram().commands.find((command) => command.name() === first);
      const isGroup = (group?.commands.length ?? 0) > 0;
      return group !== undefined && (!isGroup || group.commands.some((command) => command.name() === second));
    };
    const calls = readSteps().flatMap(({ "x-sdk": sdk }) => sdk ?? []);
    const lines = readSteps().flatMap(({ "x-cli": cli }) => cli ?? []);
    expect(calls.length).toBeGreaterThan(10);
    expect(calls.filter((call) => !isMethod(call))).toEqual([]);
    expect(lines.length).toBeGreaterThan(8);
    expect(lines.filter((line) => !isCommand(line))).toEqual([]);
  });
});
