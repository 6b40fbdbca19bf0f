import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { STATUS_CODES } from "node:http";
import { join, resolve } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { expect, onTestFinished } from "vitest";
import { parse } from "yaml";
import { readConfig } from "../../src/platform/config.ts";
import { clusterSettings, haproxySettings } from "../failover/settings.ts";
import { blockOf, type Data } from "./code-blocks.ts";
import type { Demo } from "./demo.ts";
import { temporaryFolder } from "./main-process.ts";
import { PARTNER } from "./openapi.ts";
import { startReceiver } from "./receivers.ts";

type Check = (code: string, demo: Demo) => void | Promise<void>;

/** Checks a block that is data against what reads it, or what sends it. */
export const CHECKS: Readonly<Record<Data, Check>> = {
  "http request": checkWebhook,
  "http response": checkProblem,
  mermaid: checkFlowchart,
  promql: checkMetrics,
  "text commit": checkCommit,
  "text haproxy": checkHaproxy,
  "yaml patroni": checkPatroni,
  "yaml prometheus": checkPrometheus,
};

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema(PARTNER, "partner");

/** JSON fits the schema of the API that its block names. If it says that it is shortened, members may be missing. */
export function checkJson(code: string, label: string): void {
  const [name = "", shortened] = label.split(", ");
  expect(Object.keys(PARTNER.components.schemas)).toContain(name);
  const validate = ajv.getSchema(`partner#/components/schemas/${name}`);
  validate?.(JSON.parse(code));
  expect(shortened ?? "shortened").toBe("shortened");
  const faults = validate?.errors?.filter(({ keyword }) => keyword !== "required" || shortened === undefined);
  expect(faults ?? []).toEqual([]);
}

/** The first line, and the header fields in the order of the page. */
function headOf(code: string): { first: string; fields: [name: string, value: string][]; body: string } {
  const [head = "", body = ""] = code.split("\n\n");
  const [first = "", ...lines] = head.trim().split("\n");
  return {
    first,
    body,
    fields: lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
  };
}

/** Sends a sample of the event to a server of a partner. Ids, times and signatures are of another form only if they differ in form. */
async function checkWebhook(code: string, { api, testKey }: Demo): Promise<void> {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  const { first, fields, body } = headOf(code);
  const { id, type } = JSON.parse(body.replace(/, …\}\n$/, "}"));
  const post = async (path: string, content: object) => {
    const response = await fetch(`${api}/v1/webhook-endpoints${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${testKey}`, "content-type": "application/json" },
      body: JSON.stringify(content),
    });
    expect(response.ok, await response.clone().text()).toBe(true);
    return (await response.json()) as { id: string }; // As the API describes it.
  };
  const endpoint = await post("", { url: receiver.url, mode: "test" });
  await post(`/${endpoint.id}/ping`, { type });
  const [sent] = await receiver.waitFor(1);
  expect(`${sent?.method} ${sent?.path} HTTP/1.1`).toBe(first);
  const formOf = (value: unknown) => String(value).replace(/[\w+/]{26,}|\d{10}/g, "…");
  const received = fields.map(([name]) => [name, formOf(sent?.headers[name])]);
  expect(received).toEqual(fields.map(([name, value]) => [name, formOf(value)]));
  expect(fields).toContainEqual(["webhook-id", id]);
  expect(formOf(sent?.body.slice(0, body.indexOf(", …")))).toBe(formOf(body.slice(0, body.indexOf(", …"))));
}

/** The page shows the header fields of a response, and below them its body. */
async function checkProblem(code: string, { api, testKey }: Demo): Promise<void> {
  const response = await fetch(`${api}/v1/orders`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${testKey}`,
      "content-type": "application/json",
      "idempotency-key": "one",
    },
    body: JSON.stringify({ testMode: true, lines: [{ productId: "mug", quantity: 1 }] }),
  });
  const { type: _address, ...members } = JSON.parse(
    blockOf("docs/problems.md", "json ValidationFailedProblem"),
  );
  expect(await response.json()).toEqual({ type: expect.stringMatching(/\/validation-failed$/), ...members });
  const { first, fields } = headOf(code);
  expect(`HTTP/1.1 ${response.status} ${STATUS_CODES[response.status]}`).toBe(first);
  const formOf = (value: string | null) => value?.replace(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/, "…");
  const received = fields.map(([name]) => [name, formOf(response.headers.get(name))]);
  expect(received).toEqual(fields.map(([name, value]) => [name, formOf(value)]));
}

const NODE = /(\w+)(?:\(\[.+?\]\)|\["(.+?)"\]|\[\((.+?)\)\])?/;
const EDGE = new RegExp(`^${NODE.source}(?: -- ".+?")? (?:-- ".+" )?--> ${NODE.source}$`);

/** Each line is of a form of Mermaid's flowcharts, edges lead to nodes, and the roles and ports are those of the service. */
function checkFlowchart(code: string): void {
  const [first, ...lines] = code
    .trim()
    .split("\n")
    .map((line) => line.trim());
  expect(first).toBe("flowchart LR");
  const { roles, port, backOfficePort } = readConfig({});
  for (const role of roles) expect(code, role).toContain(`["${role}<br/>`);
  for (const number of [port, backOfficePort]) expect(code).toMatch(new RegExp(`PORT ${number}\\b`));
  const forms = [/^subgraph \w+\[".+"\]$/, /^end$/, new RegExp(`^${NODE.source}$`), EDGE];
  expect(lines.filter((line) => !forms.some((form) => form.test(line)))).toEqual([]);
  expect(lines.filter((line) => line.startsWith("subgraph")).length).toBe(
    lines.filter((line) => line === "end").length,
  );
  const described = [...code.matchAll(/(\w+)(?:\(\[|\[)/g)].map(([, name]) => name);
  const named = lines.flatMap((line) => EDGE.exec(line)?.filter((_, at) => at === 1 || at === 4) ?? []);
  expect(named.length).toBeGreaterThan(6);
  expect(named.filter((name) => !described.includes(name))).toEqual([]);
}

/** The metrics of an expression are reported by the service. */
async function checkMetrics(code: string, { backOffice }: Demo): Promise<void> {
  const reported = await (await fetch(`${backOffice}/metrics`)).text();
  const named = code.match(/[a-z]\w*_\w+/g) ?? [];
  expect(named.length).toBeGreaterThan(0);
  for (const name of named) expect(reported).toContain(`# TYPE ${name} `);
  expect(code).toMatch(/^\w+\([\w[\]]+\) [<>=]=? \d+\n$/);
}

function checkCommit(code: string): void {
  const [subject = "", empty, ...lines] = code.trim().split("\n");
  expect(subject).toMatch(/^[a-z ]+: [A-Z].{1,70}[^.]$/);
  expect(subject.length).toBeLessThan(72);
  expect([empty, lines.length > 0]).toEqual(["", true]);
}

/** The rehearsal of failover runs with it (test/failover). HAProxy reads it where it is installed. */
async function checkHaproxy(code: string): Promise<void> {
  const written = haproxySettings(5432, [{ name: "one", port: 5433, apiPort: 8008 }]);
  const isOwn = (line: string) => !/^ {2}(?:bind|server) /.test(line);
  expect(written.split("\n").filter(isOwn)).toEqual(code.split("\n").filter(isOwn));
  expect(written).toContain("  bind 127.0.0.1:5432\n");
  const servers = code.split("\n").filter((line) => line.startsWith("  server "));
  for (const line of servers) expect(line).toMatch(/^ {2}server \w+ [\w.]+:\d+ check port \d+$/);
  expect(servers.length).toBeGreaterThan(1);
  if (spawnSync("haproxy", ["-v"]).error !== undefined) return;
  const file = join(await temporaryFolder(), "haproxy.cfg");
  await writeFile(file, written);
  const { status, stderr } = spawnSync("haproxy", ["-c", "-f", file], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
}

/** The rehearsal of failover runs with it. Patroni rejects lower values, or corrects them. */
function checkPatroni(code: string): void {
  const settings = clusterSettings();
  expect(parse(code)).toEqual({ bootstrap: { dcs: settings } });
  expect(settings.ttl).toBeGreaterThanOrEqual(Math.max(20, settings.loop_wait + 2 * settings.retry_timeout));
  expect(settings.loop_wait).toBeGreaterThanOrEqual(1);
  expect(settings.retry_timeout).toBeGreaterThanOrEqual(3);
}

/** Prometheus reads it where promtool is installed, with the rules of the project. */
async function checkPrometheus(code: string): Promise<void> {
  const folder = "deploy/prometheus";
  const { rule_files, scrape_configs } = parse(code);
  for (const file of rule_files) expect(existsSync(join(folder, file)), file).toBe(true);
  const targets = scrape_configs.flatMap((job: { static_configs: { targets: string[] }[] }) =>
    job.static_configs.flatMap((one) => one.targets),
  );
  const { backOfficePort } = readConfig({});
  for (const target of targets) expect(target).toMatch(new RegExp(`^[\\d.]+:${backOfficePort}$`));
  const rules = readFileSync(join(folder, rule_files[0]), "utf8");
  const [, job] = /up\{job="([^"]+)"\}/.exec(rules) ?? [];
  expect(scrape_configs.map((config: { job_name: string }) => config.job_name)).toEqual([job]);
  if (spawnSync("promtool", ["--version"]).error !== undefined) return;
  const file = join(await temporaryFolder(), "prometheus.yaml");
  await writeFile(file, code.replace(rule_files[0], resolve(folder, rule_files[0])));
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "config", file], { encoding: "utf8" });
  expect(status, stdout + stderr).toBe(0);
}
