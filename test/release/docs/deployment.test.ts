import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { Ajv } from "ajv";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { packageFolder } from "../../../scripts/install-packages.ts";
import { readConfig } from "../../../src/platform/config.ts";
import { POOLS } from "../../../src/service/open-service.ts";
import { runIn } from "../../support/block-runs.ts";
import { PAGES } from "../../support/code-blocks.ts";
import { startDemo } from "../../support/demo.ts";
import { temporaryFolder } from "../../support/main-process.ts";

const read = (path: string): Promise<string> => readFile(path, "utf8");

/** The variables of the service, and one of Node. */
const known = new Set([...(await read(".env.example")).matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name));
known.add("NODE_ENV");

describe("the compose file", () => {
  type Service = { environment: Record<string, string>; ports?: string[]; read_only?: boolean };

  it("runs each role in a process of its own, with variables that exist", async () => {
    const { services } = parse(await read("deploy/compose.yaml"), { merge: true }) as {
      services: Record<string, Service>;
    };
    const { postgres, ...processes } = services;
    expect(postgres).toBeDefined();
    expect(Object.keys(processes).sort()).toEqual([...readConfig({}).roles].sort());
    for (const [name, { environment, ports = [], read_only }] of Object.entries(processes)) {
      expect(environment["ROLES"]).toBe(name);
      expect(Object.keys(environment).filter((variable) => !known.has(variable))).toEqual([]);
      expect(read_only).toBe(true);
      for (const port of ports) expect(port, "only for this machine").toMatch(/^127\.0\.0\.1:/);
    }
  });

  it("is valid by the schema of the Compose Specification", async () => {
    // The linter brings the schema of the specification, as its authors publish it.
    const linter = String(packageFolder("test/release", "dclint"));
    const { $schema, ...schema } = JSON.parse(await read(join(linter, "schemas/compose.schema.json")));
    expect($schema).toContain("draft-07");
    // Its formats, such as a duration of "12s", are the specification's own.
    const isValid = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
    const file = parse(await read("deploy/compose.yaml"), { merge: true });
    isValid(file);
    expect(isValid.errors).toBeNull();
    expect(isValid({ ...file, services: { ...file.services, api: { imagge: "partner-orders" } } })).toBe(
      false,
    );
  });

  it("needs exactly the variables of its example", async () => {
    const needed = [...(await read("deploy/compose.yaml")).matchAll(/\$\{([A-Z_]+):\?\}/g)];
    const example = [...(await read("deploy/compose.env.example")).matchAll(/^([A-Z_]+)=/gm)];
    const names = (found: RegExpExecArray[]) => [...new Set(found.map(([, name]) => name))].sort();
    expect(names(needed)).toEqual(names(example));
  });
});

describe("the example for Kubernetes", () => {
  const FILE = "deploy/kubernetes/partner-orders.yaml";
  type Probe = { httpGet: { path: string; port: string } };
  type Container = Record<"startupProbe" | "livenessProbe" | "readinessProbe", Probe> & {
    env: { name: string; value: string }[];
    ports: { name: string; containerPort: number }[];
    securityContext: { readOnlyRootFilesystem: boolean };
    volumeMounts: { mountPath: string }[];
  };
  type Item = { kind: string; data: object; spec: { template: { spec: { containers: [Container] } } } };

  it("runs each role with probes that the service answers, and variables that exist", async () => {
    const { items } = parse(await read(FILE), { merge: true }) as { items: Item[] };
    const containers = items
      .filter(({ kind }) => kind === "Deployment")
      .map(({ spec }) => spec.template.spec.containers[0]);
    const roles = containers.map(({ env }) => env.find(({ name }) => name === "ROLES")?.value);
    expect(roles.toSorted()).toEqual([...readConfig({}).roles].toSorted());
    for (const { startupProbe, livenessProbe, readinessProbe, ports, ...container } of containers) {
      const probes = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet);
      expect(probes.map(({ path }) => path)).toEqual(["/livez", "/livez", "/readyz"]);
      for (const probe of probes)
        expect(ports.find(({ name }) => name === probe.port)?.containerPort).toBe(
          readConfig({}).backOfficePort,
        );
      expect(container.securityContext.readOnlyRootFilesystem).toBe(true);
      expect(container.volumeMounts).toMatchObject([{ mountPath: "/data" }]); // For imports.
    }
    const variables = items.flatMap(({ data = {} }) => Object.keys(data));
    expect(variables.filter((name) => !known.has(name))).toEqual([]);
  });

  const kubectl = spawnSync("kubectl", ["version", "--client"]).error === undefined;
  it.skipIf(!kubectl)("is accepted by kubectl (skipped where it is not installed)", () => {
    const args = ["label", "--local", "-o", "name", "-f", FILE, "checked=yes"];
    const { status, stderr } = spawnSync("kubectl", args, { encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
});

describe("the image", () => {
  it("contains what exists, has a health check, and does not run as root", async () => {
    const lines = (await read("deploy/Dockerfile")).split("\n");
    const copied = lines.filter((line) => line.startsWith("COPY ") && !line.includes("--from"));
    const sources = copied.flatMap((line) => line.split(" ").slice(1, -1));
    expect(sources).toEqual(expect.arrayContaining(["src", "functions", "migrations", "package.json"]));
    for (const source of sources) expect(existsSync(source), source).toBe(true);
    expect(lines.findLast((line) => line.startsWith("USER "))).toBe("USER node");
    expect(lines.some((line) => line.startsWith("HEALTHCHECK "))).toBe(true);
    const [environment = ""] = lines.filter((line) => line.startsWith("ENV "));
    const set = [...environment.matchAll(/([A-Z_]+)=/g)].map(([, name]) => name);
    expect(set.filter((name) => !known.has(name))).toEqual([]);
  });
});

describe("the systemd unit", () => {
  const UNIT = "deploy/systemd/partner-orders@.service";
  const { blocks = [] } = PAGES.find(({ path }) => path === "docs/deployment.md") ?? {};
  const codeWith = (text: string) => blocks.find(({ code }) => code.includes(text))?.code ?? "";
  /** The commands of root, in a folder of the test, with the sources of this checkout. */
  const below = (root: string, code: string) =>
    code.replaceAll("/etc/", `${root}/etc/`).replaceAll("/opt/partner-orders", process.cwd());
  async function install(root: string): Promise<void> {
    await mkdir(join(root, "etc/systemd/system"), { recursive: true });
    await runIn(".", below(root, codeWith("> /etc/partner-orders/common.env")));
  }

  it("runs one role with rights of its own, and is given the time to stop", async () => {
    const unit = await read(UNIT);
    expect(unit).toMatch(/^Environment=ROLES=%i /m);
    for (const line of [
      "DynamicUser=yes",
      "NoNewPrivileges=yes",
      "ProtectSystem=strict",
      "TimeoutStopSec=12",
    ])
      expect(unit).toContain(`\n${line}\n`);
  });

  it("is installed by the steps that make the image, so that the console and the documentation are built", async () => {
    const page = await read("docs/deployment.md");
    const [, steps = ""] = /## systemd[\s\S]*?```sh\n([\s\S]*?)```/.exec(page) ?? [];
    const commands = (text: string) =>
      [...text.matchAll(/npm (?:ci|run)[^#&\n]*/g)].map(([command]) =>
        command.replace(/--no-(audit|fund)/g, "").trim(),
      );
    const inImage = commands((await read("deploy/Dockerfile")).replace(/^#.*$/gm, ""));
    expect(commands(steps).toSorted()).toEqual(inImage.toSorted());
    expect(commands(steps).at(-1), "removes the packages of the build").toContain("--omit=dev");
  });

  it("finds its settings where the page writes them, and the service accepts them for each role", async () => {
    const root = await temporaryFolder();
    await install(root);
    const [common = "", own = ""] = [...(await read(UNIT)).matchAll(/^EnvironmentFile=-?(.+)$/gm)].map(
      ([, path = ""]) => join(root, path),
    );
    expect((await stat(common)).mode & 0o777).toBe(0o640);
    expect(await read(join(root, "etc/systemd/system/partner-orders@.service"))).toBe(await read(UNIT));
    const roles = [...readConfig({}).roles];
    const variables = await Promise.all(
      roles.map(async (role) => ({
        ...parseEnv(await read(common)),
        ...parseEnv(await read(own.replace("%i", role)).catch(() => "")),
        ROLES: role,
      })),
    );
    expect(variables.flatMap(Object.keys).filter((name) => !known.has(name))).toEqual([]);
    const configs = variables.map(readConfig);
    expect(new Set(configs.map(({ backOfficePort }) => backOfficePort)).size).toBe(roles.length);
    expect(configs.map(({ webhookSecretKeys }) => webhookSecretKeys?.length)).toEqual(roles.map(() => 1));
    const started = codeWith("systemctl enable").match(/(?<=partner-orders@)[a-z-]+/g);
    expect(started?.toSorted()).toEqual([...roles].toSorted());
  });

  it("has a command line that works with the settings of the page", async () => {
    const root = await temporaryFolder();
    await install(root);
    const settings = join(root, "etc/partner-orders/common.env");
    const demo = await startDemo();
    onTestFinished(demo.close);
    const withDatabase = (await read(settings)).replace(/^(DATABASE_URL)=.*$/m, `$1=${demo.databaseUrl}`);
    await writeFile(settings, withDatabase);
    const printed = await runIn(root, below(root, codeWith("admin doctor")));
    expect(printed).toMatch(/^configuration +ok /m);
    expect(printed).toMatch(/^migrations +ok /m);
    expect(printed).toContain("https://back-office.example.com/sign-in#token=");
  });

  const analyze = spawnSync("systemd-analyze", ["--version"]).error === undefined;
  it.skipIf(!analyze)("is accepted by systemd-analyze (skipped where it is not installed)", async () => {
    const file = join(await temporaryFolder(), "partner-orders@api.service");
    await copyFile(UNIT, file);
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
    // It also reports other units of the machine.
    expect(stderr.split("\n").filter((line) => line.includes("partner-orders"))).toEqual([]);
    expect(status).toBe(0);
  });
});

describe("the documented database connections", () => {
  it("are those of the pools, with their sums by role", async () => {
    const page = await read("docs/operation.md");
    const rows = [...page.matchAll(/^\| `([a-z-]+)` \| [^|]+ \| (\d+) \| [^|]+ \| ([^|]+) \|$/gm)];
    const documented = Object.fromEntries(rows.map(([, pool, max]) => [pool, Number(max)]));
    const pools = Object.entries(POOLS).map(([name, { connectionsMax }]) => [name, connectionsMax]);
    expect(documented).toEqual(Object.fromEntries(pools));
    const sumOf = (role: string) =>
      rows
        .filter(([, , , roles = ""]) => roles === "all" || roles.includes(`\`${role}\``))
        .reduce((sum, [, , max]) => sum + Number(max), 0);
    const all = rows.reduce((sum, [, , max]) => sum + Number(max), 0);
    const text = page.replace(/\s+/g, " ");
    expect(text).toContain(
      `at most ${sumOf("api")} (\`api\`), ${sumOf("back-office")} (\`back-office\`) or ${sumOf("worker")} (\`worker\`) connections, and a process with all roles ${all}.`,
    );
    const four = 2 * sumOf("api") + sumOf("back-office") + sumOf("worker");
    expect(text).toContain(
      `Two \`api\`, one \`back-office\` and one \`worker\` process have at most ${four}`,
    );
  });
});
