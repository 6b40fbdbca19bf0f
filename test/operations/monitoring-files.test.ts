import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { addBacklogMetrics } from "../../src/operations/metrics.ts";
import { DatabaseUsage, openDatabase } from "../../src/platform/database/database.ts";
import { createLog } from "../../src/platform/log.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { systemClock } from "../../src/platform/time.ts";
import { addPoolMetrics, createPools } from "../../src/service/open-service.ts";
import { addProcessMetrics } from "../../src/service/supervise.ts";

const RULES = "deploy/prometheus/alerts.yaml";
const DASHBOARD = "deploy/grafana/dashboard.json";

type Rule = {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: Record<string, string>;
};
type Panel = { id: number; type: string; title: string; description?: string; targets?: { expr: string }[] };

/** Every metric of the service and of Node, also with the suffixes of a histogram's series. */
const known = new Set<string>();
const own: string[] = [];
beforeAll(async () => {
  const { registry } = createMetrics();
  const open = () =>
    openDatabase({ url: "postgres://127.0.0.1:1/none", connectionsMax: 1, onIdleError: () => undefined });
  const db = open(); // Nothing is read: a registry names its metrics without a scrape.
  addBacklogMetrics(registry, { db, clock: systemClock, log: createLog("silent") });
  addProcessMetrics(registry, []);
  addPoolMetrics(registry, createPools(open), new DatabaseUsage());
  for (const metric of registry.getMetricsAsArray()) {
    known.add(metric.name);
    for (const suffix of ["bucket", "count", "sum"]) known.add(`${metric.name}_${suffix}`);
    if (/^(partner_orders_|http_)/.test(metric.name)) own.push(metric.name);
  }
  await db.close();
});

/** The names of metrics in an expression: what is no label, function, keyword or text. */
const namesIn = (expr: string): string[] => [
  ...new Set(
    [
      ...expr
        .replace(/"[^"]*"/g, "")
        .replace(/\b(by|without|on|ignoring)\s*\([^)]*\)/g, "")
        .replace(/\{[^}]*\}/g, "")
        .matchAll(/(?<![\w$])(?:[a-z]\w*_\w+|up)\b(?!\s*\()/g),
    ].map(([name]) => name),
  ),
];
const isKnown = (name: string): boolean => name === "up" || known.has(name);
const unknownIn = (expr: string): string[] => namesIn(expr).filter((name) => !isKnown(name));

describe("the documented metrics", () => {
  it("are exactly those that a process reports", async () => {
    const page = await readFile("docs/operation.md", "utf8");
    const section = page.slice(
      page.indexOf("## Metrics"),
      page.indexOf("## ", page.indexOf("## Metrics") + 5),
    );
    const documented = [...section.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name]) => name);
    expect(documented.toSorted()).toEqual(own.toSorted());
  });
});

describe("the alert rules", () => {
  const rules = async (): Promise<Rule[]> =>
    (parse(await readFile(RULES, "utf8")) as { groups: { rules: Rule[] }[] }).groups.flatMap(
      (group) => group.rules,
    );

  it("use metrics that exist, and each describes what to do", async () => {
    const all = await rules();
    expect(all.length).toBeGreaterThan(10);
    expect(new Set(all.map(({ alert }) => alert)).size).toBe(all.length);
    for (const { alert, expr, labels, annotations } of all) {
      expect(unknownIn(expr), alert).toEqual([]);
      expect(namesIn(expr), alert).not.toEqual([]);
      expect(labels.severity, alert).toMatch(/^(critical|warning)$/);
      expect(annotations["summary"], alert).toMatch(/\.$/);
      expect(annotations["description"], alert).toMatch(/\S/);
    }
  });

  it("watch each age of waiting work", async () => {
    const used = (await rules()).flatMap(({ expr }) => namesIn(expr));
    for (const name of own.filter((metric) => metric.endsWith("_age_seconds"))) expect(used).toContain(name);
  });

  const promtool = spawnSync("promtool", ["--version"]).error === undefined;
  it.skipIf(!promtool)("are accepted by promtool (skipped where it is not installed)", () => {
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "rules", RULES], { encoding: "utf8" });
    expect(status, stdout + stderr).toBe(0);
  });
});

describe("the dashboard", () => {
  it("uses metrics that exist, and describes each panel", async () => {
    const { panels, uid } = JSON.parse(await readFile(DASHBOARD, "utf8")) as { panels: Panel[]; uid: string };
    expect(uid).toBe("partner-orders");
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { type, title, description, targets = [] } of panels) {
      if (type === "row") continue;
      expect(description, title).toMatch(/\.$/);
      expect(targets.length, title).toBeGreaterThan(0);
      for (const { expr } of targets) {
        expect(unknownIn(expr), title).toEqual([]);
        expect(namesIn(expr), title).not.toEqual([]);
      }
    }
  });

  it("shows every metric of the service", async () => {
    const text = await readFile(DASHBOARD, "utf8");
    for (const name of own) expect(text, name).toContain(name);
  });
});
