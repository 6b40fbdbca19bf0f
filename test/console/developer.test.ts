import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartnerApi } from "../../src/partner-api/app.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import type { Dispatcher } from "../../src/webhooks/delivery/dispatcher.ts";
import { findingsOf, visit } from "../support/browser.ts";
import { placeOrder } from "../support/builders.ts";
import { sendDue, startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import { listen } from "../support/sockets.ts";
import { createEndpoint } from "../support/webhooks.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
let partnerApi: ReturnType<typeof createPartnerApi>;
beforeAll(async () => {
  world = await startWorld();
  const { context } = world.service;
  partnerApi = createPartnerApi(context, createMetrics());
  // The pages show this address, and the copied commands are sent to it.
  Object.assign(context.config, { baseUrl: await listen(partnerApi), webhookAllowPrivateNetworks: true });
});
afterAll(async () => {
  await partnerApi.close();
  await world.close();
});

const pathOf = (request: { url(): string }): string => {
  const { pathname, search } = new URL(request.url());
  return pathname + search;
};

/** A whole task, on a machine that is busy. */
const TASK_MS = 120_000;

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** A request as the service signs it. */
function aRequest(body: string) {
  const id = "evt_01kjpwd6m0f1wav3ps5hw1abes";
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const key = Buffer.from(SECRET.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return {
    headers: `webhook-id: ${id}\nwebhook-timestamp: ${timestamp}\nwebhook-signature: v1,${signature}`,
    body,
  };
}

/** All that a browser keeps of a page. */
const keptBy = (page: Page): Promise<string> =>
  page.evaluate(`JSON.stringify([location.href, history.state, document.cookie, document.title,
    Object.entries(localStorage), Object.entries(sessionStorage)])`);

describe("the signature doctor", () => {
  it("explains what a framework did to the body; nothing pasted leaves the browser", async () => {
    const page = await world.open(world.people.partner);
    await visit(page, "/signature-doctor", "Signature doctor");
    await page.waitForLoadState("networkidle");
    const requests: string[] = [];
    page.on("request", (request) => {
      // The console also loads the code of its other pages, when the browser has nothing else to do.
      const isCode = request.method() === "GET" && /^\/assets\/[\w.-]+$/.test(pathOf(request));
      if (!isCode) requests.push(request.url());
    });
    const logged: string[] = [];
    page.on("console", (message) => logged.push(message.text()));
    const before = await keptBy(page);

    const body = '{"id":"evt_01kjpwd6m0f1wav3ps5hw1abes","type":"order.created"}';
    const request = aRequest(body);
    await page.getByLabel("Headers").fill(request.headers);
    await page.getByLabel("Body").fill(JSON.stringify(JSON.parse(body), null, 2));
    const result = page.getByRole("region", { name: "Result" });
    await result.getByText("Paste the signing secret").waitFor();
    await page.getByLabel("Signing secret").fill(SECRET);
    await result.getByText("The cause is found").waitFor();
    await result.getByText("The body was parsed and written again").waitFor();
    expect(await findingsOf(page)).toEqual([]);
    await page.getByLabel("Body").fill(body);
    await result.getByText("The signature is right").waitFor();
    await page.getByLabel("Signing secret").fill(SECRET.replace("Bw", "CQ"));
    await result.getByText("the secret is another one").waitFor();

    expect(requests, "requests since the page was opened").toEqual([]);
    expect(logged).toEqual([]);
    expect(await keptBy(page), "address, cookies, storage").toBe(before);
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Signature doctor" }).waitFor();
    expect(await page.getByLabel("Signing secret").inputValue(), "nothing is kept").toBe("");
    expect(await page.getByLabel("Headers").inputValue()).toBe("");
  });
});

describe("the sandbox", () => {
  it(
    "takes a test order through its life, shows each event with its signature, and the requests behind it",
    async () => {
      const receiver = await startReceiverForTest();
      const dispatcher = startDispatcher(world.service);
      const { secret } = await createEndpoint(world.partner, { url: receiver.url });
      const page = await world.open(world.people.partner);
      await page.goto("/sandbox"); // The person has one connection, so there is nothing to choose.
      await page.getByRole("heading", { level: 2, name: "Create a test order" }).waitFor();
      await page.getByRole("button", { name: "Create a test order", exact: true }).click();
      await page.getByText("This is needed.").waitFor();
      await page.getByRole("combobox", { name: "Product" }).click();
      await page.getByRole("option").first().click();
      await page.getByLabel("Country code").fill("QQ");
      await page.getByLabel("Your own id of the order").fill("bench-1");
      await page.getByRole("button", { name: "Create a test order", exact: true }).click();
      await page.locator("[aria-invalid=true]").first().waitFor();
      expect(await page.getByLabel("Country code").getAttribute("aria-invalid")).toBe("true");
      await page.getByLabel("Country code").fill("DE");
      await page.getByRole("button", { name: "Create a test order", exact: true }).click();
      await page.getByRole("heading", { level: 1, name: "bench-1" }).waitFor();

      const picture = page.getByRole("region", { name: "Picture of the lifecycle" });
      const press = async (name: string) => {
        // A button does nothing while the transition before has not ended.
        await picture.locator('[aria-busy="true"]').waitFor({ state: "detached" });
        await picture.getByRole("button", { name, exact: true }).press("Enter");
      };
      const now = (state: string) => picture.locator('[aria-current="step"]', { hasText: state }).waitFor();
      await now("New");
      await expectRefused(page, "Complete", "Ship it first.");
      await press("Hold");
      await now("On hold");
      await expectRefused(page, "Ship", "Release the hold first.");
      await press("Release");
      await now("New");
      await page.getByRole("button", { name: "Ship with tracking", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: "Ship with tracking" });
      await dialog.getByLabel("Tracking number").fill("it's #1");
      expect(await findingsOf(page)).toEqual([]);
      await dialog.getByRole("button", { name: "Ship with tracking", exact: true }).click();
      await now("In progress");
      await press("Complete");
      await now("Completed");
      await expectRefused(page, "Cancel", "Only a return can follow.");

      await page.getByLabel(`Signing secret of ${receiver.url}`).fill(secret);
      await sendAll(dispatcher);
      const events = page.getByRole("region", { name: "Events" });
      await events.getByText("The signature is right").nth(4).waitFor();
      expect(await events.getByText("The signature is right").count(), "one for each event").toBe(5);
      expect(receiver.requests.map(({ body }) => JSON.parse(body).type)).toEqual([
        "order.created",
        "order.onHold",
        "order.onHoldReleased",
        "order.shipmentCreated",
        "order.completed",
      ]);
      await events.getByRole("button", { name: "Request" }).first().click();
      await events.getByText("webhook-signature: v1,").first().waitFor();
      expect(await findingsOf(page)).toEqual([]);
      expect(await keptBy(page), "the secret is in the memory of the page alone").not.toContain(secret);

      const shipping = await codeOf(page, "4. Ship");
      expect(shipping).toContain(`"it'\\''s #1"`);
      const created = JSON.parse(await run("sh", ["-c", await codeOf(page, "1. Create a test order")]));
      expect(created, "the same request again").toMatchObject({
        externalOrderId: "bench-1",
        status: "COMPLETED",
      });
      await page.getByText("TypeScript", { exact: true }).click();
      const program = await codeOf(page, "6. Read the order");
      expect(await run(process.execPath, ["--input-type=module-typescript", "--eval", program])).toContain(
        "COMPLETED",
      );

      const faults = page.getByRole("region", { name: "Faults of deliveries" });
      await faults.getByRole("button", { name: "Arm the fault", exact: true }).click();
      await faults.getByText("needs a test endpoint").waitFor();
      await createEndpoint(world.partner, { mode: "test" });
      await faults.getByRole("combobox", { name: "Fault for the next delivery" }).click();
      await page.getByRole("option", { name: "Lost attempts" }).click();
      await faults.getByLabel("Attempts that are not sent").fill("2");
      await faults.getByRole("button", { name: "Arm the fault", exact: true }).click();
      await faults
        .getByRole("row", { name: /Lost attempts · 2 attempts/ })
        .getByText("Waits for an event")
        .waitFor();
      expect(await codeOf(page, "6. Fault: Lost attempts")).toContain('"attempts": 2');
      await press("Return");
      await faults.getByText("Used").waitFor();
      expect(await findingsOf(page)).toEqual([]);
    },
    TASK_MS,
  );

  it("cannot be used by those who may only read, and shows no real order", async () => {
    const { connectionId } = world.partner;
    const order = await placeOrder(world.partner, { testMode: true, externalOrderId: "bench-2" });
    const page = await world.open(world.people.support);
    await visit(page, `/sandbox/${connectionId}`, "Sandbox");
    await page.getByRole("link", { name: "bench-2" }).click();
    await page.getByRole("heading", { level: 1, name: "bench-2" }).waitFor();
    const buttons = page.getByRole("region", { name: "Picture of the lifecycle" }).getByRole("button");
    await buttons.first().waitFor();
    for (const button of await buttons.all()) expect(await button.getAttribute("aria-disabled")).toBe("true");
    const path = `/api/connections/${connectionId}/test-orders/${order.id}/transitions`;
    const headers = { origin: world.url };
    expect((await page.request.post(path, { data: { transition: "accept" }, headers })).status()).toBe(403);
    await page.goto(`/sandbox/${connectionId}/${world.orders.fresh}`);
    await page.getByText("There is nothing at this address").waitFor();
  });
});

/** A button that is not possible can be focused and says why, and pressing it does nothing. */
async function expectRefused(page: Page, name: string, rule: string): Promise<void> {
  const button = page
    .getByRole("region", { name: "Picture of the lifecycle" })
    .getByRole("button", { name, exact: true });
  await expect.poll(() => button.getAttribute("aria-disabled")).toBe("true");
  const sentence = await page
    .locator(`[id="${await button.getAttribute("aria-describedby")}"]`)
    .textContent();
  expect(sentence).toContain(rule);
  const transitions: string[] = [];
  const listen = (request: { method(): string; url(): string }) =>
    void (request.method() === "POST" && transitions.push(request.url()));
  page.on("request", listen);
  await button.click({ force: true });
  page.off("request", listen);
  expect(transitions).toEqual([]);
}

/** Each event of an order waits until the one before has arrived. */
async function sendAll(dispatcher: Dispatcher): Promise<void> {
  for (let events = 0; events < 6; events += 1) await sendDue(dispatcher);
}

/** The code of a step, which is opened. */
async function codeOf(page: Page, step: string): Promise<string> {
  const section = page.getByRole("region", { name: "The same by your program" });
  const details = section.getByRole("listitem").filter({ hasText: step });
  if (!(await details.locator("pre").isVisible())) await details.locator("summary").click();
  return (await details.locator("pre").textContent()) ?? "";
}

/** Runs a copied command or program, with a key where it has the placeholder. */
const run = async (command: string, args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(command, args, { env: { ...process.env, KEY: world.partner.key } })).stdout;
