import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { cp, mkdir, symlink } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { packageFolder } from "../../../scripts/install-packages.ts";
import { freePort } from "../../support/free-port.ts";
import { HOSTILE, type Signed } from "../../support/hostile-signatures.ts";
import { temporaryFolder } from "../../support/main-process.ts";

const EXAMPLES = "docs/examples";
const SECRET = `whsec_${randomBytes(32).toString("base64")}`;
const EVENT = {
  id: "evt_01kjpwd6m0f1wav3ps5hw1abes",
  type: "order.created",
  sequence: 1,
  data: { city: "Kraków" },
};
const BODY = JSON.stringify(EVENT);

const succeeds = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;
const PYTHON = "python3";
const hasFlask = succeeds(PYTHON, "-c", "import flask");
const hasDjango = succeeds(PYTHON, "-c", "import django");
const hasPhp = succeeds("php", "--version");
const hasJava = succeeds("java", "--version");
const hasGo = succeeds("go", "version");

/** How each receiver is started with its port, and whether its language or framework is installed. */
type Start = readonly [command: string, args: (port: string) => readonly string[]];
const node = (name: string): Start => [process.execPath, () => [name]];
const RECEIVERS: readonly [name: string, isInstalled: boolean, start: Start][] = [
  ["receiver.mjs", true, node("receiver.mjs")],
  ["express.mjs", true, node("express.mjs")],
  ["fastify.mjs", true, node("fastify.mjs")],
  ["hono.mjs", true, node("hono.mjs")],
  ["flask_receiver.py", hasFlask, [PYTHON, () => ["flask_receiver.py"]]],
  [
    "django_receiver.py",
    hasDjango,
    [
      PYTHON,
      (port) => [
        "-c",
        `
import sys
from django.conf import settings
settings.configure(ROOT_URLCONF=__name__, SECRET_KEY="x", ALLOWED_HOSTS=["*"])
import django; django.setup()
from django.urls import path
from django_receiver import receive
urlpatterns = [path("webhooks", receive)]
from wsgiref.simple_server import make_server
from django.core.wsgi import get_wsgi_application
make_server("127.0.0.1", ${port}, get_wsgi_application()).serve_forever()`,
      ],
    ],
  ],
  ["receiver.php", hasPhp, ["php", (port) => ["-S", `127.0.0.1:${port}`, "receiver.php"]]],
  ["Receiver.java", hasJava, ["java", () => ["Receiver.java"]]],
  ["receiver.go", hasGo, ["go", () => ["run", "receiver.go"]]],
];

/** A folder with the samples, as a reader has it, and with the packages of frameworks. */
async function sampleFolder(): Promise<string> {
  const folder = await temporaryFolder();
  await cp(EXAMPLES, folder, { recursive: true });
  await mkdir(join(folder, "node_modules/@hono"), { recursive: true });
  for (const name of ["express", "hono", "@hono/node-server", "fastify"])
    await symlink(resolve(String(packageFolder("test/release", name))), join(folder, "node_modules", name));
  return folder;
}

/** The headers of a request that the service sends now. */
function signed(body: string): Signed {
  const seconds = String(Math.floor(Date.now() / 1_000));
  const key = Buffer.from(SECRET.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`${EVENT.id}.${seconds}.${body}`).digest("base64");
  return { "webhook-id": EVENT.id, "webhook-timestamp": seconds, "webhook-signature": `v1,${signature}` };
}

type Sent = Readonly<Record<string, string | string[]>>;

/** The status of the response. As the service sends, but for the headers. */
async function post(port: number, headers: Sent, body: string): Promise<number> {
  const bytes = Buffer.from(body);
  const sending = request({
    port,
    host: "127.0.0.1",
    path: "/webhooks",
    method: "POST",
    agent: false,
    headers: { "content-type": "application/json", "content-length": bytes.length, ...headers },
  });
  sending.end(bytes);
  const [response] = await once(sending, "response");
  response.resume();
  return response.statusCode;
}

/** Starts a receiver, and waits until it accepts connections. It ends with its test, with all that it has started. */
async function startReceiver([command, args]: Start): Promise<{ port: number; wrote(): string }> {
  const port = await freePort();
  const child: ChildProcess = spawn(command, args(String(port)), {
    cwd: await sampleFolder(),
    detached: true,
    env: { ...process.env, WEBHOOK_SECRET: SECRET, PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let written = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text) => (written += text));
  const closed = once(child, "close");
  onTestFinished(async () => {
    process.kill(-Number(child.pid), "SIGKILL");
    await closed;
  });
  await expect
    .poll(
      async () => {
        if (child.exitCode !== null) throw new Error(`It ended: ${written}`);
        const socket = connect(port, "127.0.0.1");
        return Promise.race([once(socket, "connect"), once(socket, "error")])
          .then(
            () => true,
            () => false,
          )
          .finally(() => socket.destroy());
      },
      { timeout: 60_000 },
    )
    .toBe(true);
  return { port, wrote: () => written };
}

describe.each(RECEIVERS)("%s", (_name, isInstalled, start) => {
  it.skipIf(!isInstalled)(
    "accepts what the service sends, as often as it arrives, and nothing that a stranger can send",
    async () => {
      const { port, wrote } = await startReceiver(start);
      expect(await post(port, signed(BODY), BODY)).toBe(204);
      expect(await post(port, signed(BODY), BODY)).toBe(204);
      expect(await post(port, signed(BODY), BODY.replace("Krak", "Crac"))).toBe(401);
      expect(await post(port, signed(BODY), `${BODY} `)).toBe(401);
      expect(await post(port, signed(BODY), "")).toBe(401);
      for (const [name, forge] of HOSTILE)
        expect(await post(port, forge(signed(BODY)), BODY), name).toBe(401);
      expect(wrote()).not.toMatch(/traceback|exception|fatal|panic|\bat .*\(/i);
      expect(await post(port, signed(BODY), BODY)).toBe(204);
    },
  );
});

it("next-route.mjs accepts what the service sends, and nothing that a stranger can send", async () => {
  const folder = await sampleFolder();
  const run = `
    const { POST } = await import(${JSON.stringify(pathToFileURL(join(folder, "next-route.mjs")).href)});
    const statuses = [];
    for (const [headers, body] of JSON.parse(process.env.REQUESTS)) {
      const sent = new Headers();
      for (const [name, value] of Object.entries(headers)) for (const one of [value].flat()) sent.append(name, one);
      statuses.push((await POST(new Request("http://127.0.0.1/webhooks", { method: "POST", headers: sent, body }))).status);
    }
    process.stdout.write(JSON.stringify(statuses));`;
  const requests: [Sent, string][] = [
    [signed(BODY), BODY],
    [signed(BODY), BODY],
    [signed(BODY), `${BODY} `],
    ...HOSTILE.map(([, forge]): [Sent, string] => [forge(signed(BODY)), BODY]),
  ];
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", run], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, WEBHOOK_SECRET: SECRET, REQUESTS: JSON.stringify(requests) },
  });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual([204, 204, 401, ...HOSTILE.map(() => 401)]);
});

it.skipIf(!succeeds(PYTHON, "--version"))(
  "the samples in Python are valid, also without their frameworks",
  () => {
    const check = "import ast, sys; [ast.parse(open(name).read()) for name in sys.argv[1:]]";
    const names = ["flask_receiver.py", "django_receiver.py", "inbox.py", "verify_webhook.py"];
    expect(
      spawnSync(PYTHON, ["-c", check, ...names.map((name) => join(EXAMPLES, name))]).stderr.toString(),
    ).toBe("");
  },
);
