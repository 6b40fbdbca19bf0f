import { readFile } from "node:fs/promises";
import { readXlsx } from "hucre/xlsx";
import type { Page } from "playwright-core";
import decodeQR from "qr/decode.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findingsOf } from "../support/browser.ts";
import { totp } from "../support/one-time-codes.ts";
import { createPerson, createPersonWithPassword, PASSWORD, signIn } from "../support/people.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

/** What a phone reads from the QR code of a page: its modules, four pixels each. */
async function scanned(page: Page): Promise<string> {
  const picture = page.getByRole("img", { name: "QR code" });
  const modules = Number((await picture.getAttribute("viewBox"))?.split(" ")[2]);
  const drawn = (await picture.locator("path").getAttribute("d")) ?? "";
  const width = 4 * modules;
  const data = new Uint8ClampedArray(4 * width * width).fill(255);
  for (const [, x, y] of drawn.matchAll(/M(\d+) (\d+)h1v1h-1z/g))
    for (let at = 0; at < 16; at += 1) {
      const pixel = (4 * Number(y) + Math.floor(at / 4)) * width + 4 * Number(x) + (at % 4);
      data.set([0, 0, 0], 4 * pixel);
    }
  return decodeQR({ width, height: width, data });
}

describe("one-time codes", () => {
  it("are set up with a scanned picture, shown backup codes once, and are required from then on", async () => {
    const { person } = await createPersonWithPassword(world.service);
    const page = await world.open(person);
    await page.goto("/account");
    await page.getByRole("button", { name: "Set up one-time codes" }).click();
    const ask = page.getByRole("dialog", { name: "Set up one-time codes" });
    await ask.getByLabel("Password", { exact: true }).fill("not the password");
    await ask.getByRole("button", { name: "Continue" }).click();
    await ask.getByText("The password is not right.").waitFor();
    await ask.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await ask.getByRole("button", { name: "Continue" }).click();
    const uri = await scanned(page);
    expect(uri).toMatch(/^otpauth:\/\/totp\/.*secret=/);
    expect(await findingsOf(page)).toEqual([]);
    const device = page.getByRole("dialog", { name: "Set up one-time codes" });
    await device.getByRole("textbox", { name: "One-time code" }).fill("000 000");
    await device.getByRole("button", { name: "Turn on" }).click();
    await device.getByText("The code is not right").waitFor();
    await device.getByRole("textbox", { name: "One-time code" }).fill(totp(world.service, uri));
    await device.getByRole("button", { name: "Turn on" }).click();
    const codes = page.getByRole("dialog", { name: "Backup codes" });
    const [backupCode = ""] = ((await codes.locator("pre").textContent()) ?? "").split("\n");
    await codes.getByRole("button", { name: "I have stored it" }).click();
    await page.getByRole("button", { name: "New backup codes" }).waitFor();
    expect(await page.getByText(backupCode).count()).toBe(0);

    const other = await world.open(null);
    await other.goto("/sign-in");
    await other.getByLabel("Mail address").fill(person.email);
    await other.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await other.getByRole("button", { name: "Sign in", exact: true }).click();
    await other.getByLabel("One-time code").fill(backupCode);
    await other.getByLabel("This is a backup code").check();
    await other.getByRole("button", { name: "Sign in", exact: true }).click();
    await other.getByRole("button", { name: person.name }).waitFor();
  });
});

describe("recent authentication", () => {
  it("is requested over the dialog, keeps what was typed, and lets a wrong password be corrected", async () => {
    const { person } = await createPersonWithPassword(world.service);
    const page = await world.open(person);
    world.service.clock.advance({ minutes: 15 });
    await page.goto("/tokens");
    await page.getByRole("button", { name: "Create token" }).click();
    const create = page.getByRole("dialog", { name: "Create token" });
    await create.getByLabel("Program").fill("Watcher");
    await create.getByRole("button", { name: "Create token" }).click();
    const confirm = page.getByRole("dialog", { name: "Confirm that it is you" });
    await confirm.getByLabel("Password", { exact: true }).fill("not the password");
    await confirm.getByRole("button", { name: "Confirm" }).click();
    await confirm.getByText("The password is not right.").waitFor();
    await confirm.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await confirm.getByRole("button", { name: "Confirm" }).click();
    await page.getByRole("dialog", { name: "New token" }).waitFor();
    const { data } = (await world.service.backOffice.get("/api/tokens")).body;
    expect(data).toMatchObject([{ name: "Watcher", role: "monitoring" }]);
  });

  it("is requested before the browser downloads a file that needs it", async () => {
    const { person } = await createPersonWithPassword(world.service);
    const page = await world.open(person);
    world.service.clock.advance({ minutes: 15 });
    await page.goto("/audit-log");
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download XLSX" }).click();
    const confirm = page.getByRole("dialog", { name: "Confirm that it is you" });
    await confirm.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await confirm.getByRole("button", { name: "Confirm" }).click();
    const { sheets } = await readXlsx(await readFile(await (await download).path()));
    expect(sheets[0]?.rows[0]).toContain("action");
  });

  it("takes a backup code of a person who has no password", async () => {
    const person = await createPerson(world.service);
    const browser = await signIn(world.service, person);
    const { uri, backupCodes } = (await browser.post("/auth/second-factor", {})).body;
    expect(
      (await browser.post("/auth/second-factor/verify", { code: totp(world.service, uri) })).status,
    ).toBe(204);
    const page = await world.open(person);
    world.service.clock.advance({ minutes: 15 });
    await page.goto("/tokens");
    await page.getByRole("button", { name: "Create token" }).click();
    const create = page.getByRole("dialog", { name: "Create token" });
    await create.getByLabel("Program").fill("Backup");
    await create.getByRole("button", { name: "Create token" }).click();
    const confirm = page.getByRole("dialog", { name: "Confirm that it is you" });
    await confirm.getByText("sign in again in another tab").waitFor();
    await confirm.getByLabel("One-time code").fill(backupCodes[0]);
    await confirm.getByLabel("This is a backup code").check();
    expect(await findingsOf(page)).toEqual([]);
    await confirm.getByRole("button", { name: "Confirm" }).click();
    await page.getByRole("dialog", { name: "New token" }).waitFor();
  });

  it("that a person gives up leaves everything as it was", async () => {
    const page = await world.open(world.people.operator);
    world.service.clock.advance({ minutes: 15 });
    await page.goto("/people/mia@example.com");
    await page.getByRole("button", { name: "Change access" }).click();
    await page.getByLabel("Support").check();
    const change = page.getByRole("dialog", { name: "Change access" });
    await change.getByRole("button", { name: "Change access" }).click();
    const confirm = page.getByRole("dialog", { name: "Confirm that it is you" });
    await confirm.getByText("sign in again in another tab").waitFor();
    await confirm.getByRole("button", { name: "Close" }).click();
    expect(await change.getByLabel("Support").isChecked()).toBe(true);
    const { grants } = (await world.service.backOffice.get("/api/people/mia@example.com")).body;
    expect(grants).toMatchObject([{ role: "merchant" }]);
  });
});
