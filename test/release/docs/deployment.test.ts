import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
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
import { freePort } from "../../support/free-port.ts";
import { temporaryFolder } from "../../support/main-process.ts";
import { send, startService } from "../../support/running-service.ts";
import { createDatabase } from "../../support/test-service.ts";

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
    const { postgres, migrate, ...processes } = services;
    expect([postgres, migrate]).toEqual([expect.anything(), expect.anything()]);
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

  it("needs no variable, and has each of those of its example", async () => {
    const text = await read("deploy/compose.yaml");
    const names = (found: Iterable<RegExpExecArray>) =>
      [...new Set([...found].map(([, name]) => name))].sort();
    const used = text.matchAll(/\$\{([A-Z_]+)[^}]*\}/g);
    const example = (await read("deploy/compose.env.example")).matchAll(/^([A-Z_]+)=/gm);
    expect(names(used)).toEqual(names(example));
    expect(text.match(/\$\{[A-Z_]+(?!:-)[^A-Z_]/g)).toBeNull();
  });

  it("makes its secrets, and writes mails to files, when it is started without variables", async () => {
    const { services } = parse(withDefaults(await read("deploy/compose.yaml")), { merge: true }) as {
      services: Record<string, Service & { command?: string[]; volumes: string[]; restart: string }>;
    };
    const { postgres, migrate, ...roles } = services;
    for (const { volumes } of Object.values(roles)) expect(volumes).toContain("data:/data"); // They share their secrets.
    expect(postgres?.volumes, "the database has neither these nor the network").not.toContain("data:/data");
    const { DATABASE_URL = "" } = migrate?.environment ?? {};
    expect(readConfig({ DATABASE_URL }).databaseUrl, "by the socket that both have").toBe(DATABASE_URL);
    expect(DATABASE_URL).toContain("host=/var/run/postgresql");
    for (const service of Object.values(services))
      expect(service.volumes).toContain("socket:/var/run/postgresql");

    // The rest with another database, because a container has the socket.
    const dataDir = join(await temporaryFolder(), "data");
    const variables = { DATABASE_URL: await createDatabase(), DATA_DIR: dataDir };
    const [program, ...args] = migrate?.command ?? [];
    expect([program, migrate?.restart]).toEqual(["node", "no"]);
    const migrated = spawnSync(process.execPath, args, {
      env: { ...migrate?.environment, ...variables, PATH: process.env["PATH"] },
      encoding: "utf8",
    });
    expect([migrated.stderr, migrated.status]).toEqual(["", 0]);
    const backOfficePort = String(await freePort());
    const { main, backOffice } = await startService({
      ...roles["back-office"]?.environment,
      ...variables,
      ROLES: [...readConfig({}).roles].join(","), // All roles are one program, and three starts take long.
      BACK_OFFICE_PORT: backOfficePort,
    });
    const token = (await read(join(dataDir, "operator-token"))).trim();
    expect((await send(`${backOffice}/api/me`, token)).status).toBe(200);
    const invited = await send(`${backOffice}/api/people`, token, {
      email: "ada@example.com",
      name: "Ada",
      grants: [{ role: "operator" }],
    });
    expect(invited.status, invited.text).toBe(201);
    await expect.poll(async () => (await readdir(join(dataDir, "mail")).catch(() => [])).length).toBe(1);
    main.child.kill("SIGTERM");
    expect((await main.exited()).code).toBe(0);
  });
});

/** As compose reads the file where no variable is set. */
const withDefaults = (text: string): string => text.replace(/\$\{[A-Z_]+:-([^}]*)\}/g, '"$1"');

describe("the file for Kubernetes", () => {
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

  it("has only what the types of Kubernetes have, without another member", async () => {
    const folder = await temporaryFolder();
    const { items } = parse(await read(FILE), { merge: true }) as {
      items: { apiVersion: string; kind: string }[];
    };
    const program = items.map(({ apiVersion, kind, ...members }, index) => {
      const group = apiVersion === "networking.k8s.io/v1" ? apiVersion : apiVersion.replace(/\.k8s\.io/, "");
      // A literal must not have members that its type has not.
      const literal = JSON.stringify({ apiVersion, kind, ...members });
      return `import type { I${kind} as T${index} } from "kubernetes-models/${group}/${kind}";\nexport const item${index}: T${index} = ${literal};`;
    });
    const check = async (text: string) => {
      await writeFile(join(folder, "items.ts"), text);
      await writeFile(
        join(folder, "tsconfig.json"),
        JSON.stringify({
          compilerOptions: {
            module: "esnext",
            moduleResolution: "bundler",
            target: "es2024",
            strict: true,
            noEmit: true,
            skipLibCheck: true,
            types: [],
            paths: {
              "kubernetes-models/*": [join(String(packageFolder("test/release", "kubernetes-models")), "*")],
            },
          },
          include: ["items.ts"],
        }),
      );
      return spawnSync(process.execPath, [resolve("node_modules/typescript/bin/tsc"), "-p", folder], {
        encoding: "utf8",
      }).stdout;
    };
    expect(items.length).toBeGreaterThan(10);
    expect(await check(program.join("\n"))).toBe("");
    expect(await check(program.join("\n").replaceAll("readinessProbe", "readinesProbe"))).toContain(
      "readinesProbe",
    );
  });

  it("exposes the partners' listener on their name, and on the console's neither health nor metrics", async () => {
    type Path = { path: string; pathType: string; backend: { service: { name: string } } };
    type Rule = { host: string; http: { paths: Path[] } };
    const { items } = parse(await read(FILE), { merge: true }) as {
      items: { kind: string; spec: { rules: Rule[] } }[];
    };
    const rules = items.filter(({ kind }) => kind === "Ingress").flatMap(({ spec }) => spec.rules);
    const exposed = rules.map(({ host, http }) => [
      host,
      Object.fromEntries(http.paths.map(({ path, backend }) => [path, backend.service.name])),
    ]);
    const [api, backOffice] = ["partner-orders-api", "partner-orders-back-office"];
    expect(Object.fromEntries(exposed)).toEqual({
      "orders.example.com": { "/": api },
      "back-office.example.com": { "/": backOffice, "/livez": api, "/readyz": api, "/metrics": api },
    });
  });

  it("needs the secret that the page creates", async () => {
    const page = await read("docs/deployment.md");
    const [, command = ""] = /kubectl create secret generic partner-orders([\s\S]*?)```/.exec(page) ?? [];
    const made = [...command.matchAll(/--from-literal=([A-Z_]+)=/g)].map(([, name = ""]) => name);
    expect(made.toSorted()).toEqual(["DATABASE_URL", "OPERATOR_TOKEN", "SMTP_URL", "WEBHOOK_SECRET_KEYS"]);
    expect(made.filter((name) => !known.has(name))).toEqual([]);
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
    for (const line of [
      "DynamicUser=yes",
      "NoNewPrivileges=yes",
      "ProtectSystem=strict",
      "TimeoutStopSec=12",
    ])
      expect(unit).toContain(`\n${line}\n`);
  });

  it.each([
    ["api", "api"],
    ["api-2", "api"],
    ["back-office", "back-office"],
    ["back-office-12", "back-office"],
    ["worker-3", "worker"],
  ])("runs the instance %s with the role %s", async (instance, role) => {
    const unit = await read(UNIT);
    const [, command = ""] = /^ExecStart=\/bin\/sh -c '(.*)'$/m.exec(unit) ?? [];
    expect(unit).toMatch(/^Environment=INSTANCE=%i /m);
    // As systemd reads it. The program is one that prints its role.
    const shell = command
      .replaceAll("$$", "$")
      .replaceAll("%%", "%")
      .replace("node bin/partner-orders.js", 'sh -c "echo \\$ROLES"');
    const { stdout } = spawnSync("sh", ["-c", shell], {
      encoding: "utf8",
      env: { INSTANCE: instance, PATH: process.env["PATH"] },
    });
    expect(stdout.trim()).toBe(role);
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
