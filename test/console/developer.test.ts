import { createHmac } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findingsOf, visit } from "../support/browser.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

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
    page.on("request", (request) => requests.push(request.url()));
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
