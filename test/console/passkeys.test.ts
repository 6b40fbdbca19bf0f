import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Person } from "../../src/people/person.ts";
import { createPerson } from "../support/people.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

/** A device with passkeys, which the browser plays. It consents unless it does not know the person. */
async function addDevice(page: Page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    refuse: () =>
      devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false }).then(() => {}),
  };
}

const dialogOf = (page: Page) => page.getByRole("dialog", { name: "Add a passkey" });

async function add(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await dialogOf(page).getByLabel("Name").fill(name);
  await dialogOf(page).getByRole("button", { name: "Add a passkey" }).click();
}

/** A page of a person's account, with a device that has a passkey. */
async function openWithPasskey(person: Person): Promise<Page> {
  const page = await world.open(person);
  await addDevice(page);
  await page.goto("/account");
  await add(page, "Laptop");
  await page.getByRole("cell", { name: "Laptop" }).waitFor();
  return page;
}

const signIn = (page: Page) => page.getByRole("button", { name: "Sign in with a passkey" }).click();

describe("a passkey", () => {
  it("is added by the person, and signs in without a password", async () => {
    const page = await openWithPasskey(await createPerson(world.service));
    await page.context().clearCookies();
    await page.goto("/sign-in");
    await signIn(page);
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  });

  it("that the device has already is not added again, and the dialog says why", async () => {
    const page = await openWithPasskey(await createPerson(world.service));
    await add(page, "Laptop again");
    await dialogOf(page).getByText("Your device has a passkey for you already.").waitFor();
  });

  it("that the person refuses to make is no error, and the dialog stays", async () => {
    const page = await world.open(await createPerson(world.service));
    const device = await addDevice(page);
    await device.refuse();
    await page.goto("/account");
    await add(page, "Laptop");
    const button = dialogOf(page).getByRole("button", { name: "Add a passkey" });
    await expect.poll(() => button.isEnabled()).toBe(true);
    expect(await dialogOf(page).getByRole("alert").count()).toBe(0);
    expect(await page.getByText("The passkey is added.").count()).toBe(0);
  });

  it("that was removed from the account is reported as a passkey, not as a password", async () => {
    const page = await openWithPasskey(await createPerson(world.service));
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("The passkey is removed.").waitFor();
    await page.context().clearCookies();
    await page.goto("/sign-in");
    await signIn(page);
    await page.getByText("This passkey is not known here, or it took too long.").waitFor();
  });

  it("does not work at another address of the console, and the page says so", async () => {
    const elsewhere = world.url.replace("localhost", "127.0.0.1");
    const page = await world.open(null, { provider: elsewhere });
    await addDevice(page);
    await page.goto(`${elsewhere}/sign-in`);
    await signIn(page);
    await page.getByText("Passkeys do not work at this address.").waitFor();
  });

  it("that the browser cannot use leaves another tab to confirm who it is", async () => {
    const person = await createPerson(world.service);
    await openWithPasskey(person);
    const page = await world.open(person);
    await page.addInitScript("delete window.PublicKeyCredential");
    world.service.clock.advance({ minutes: 15 });
    await page.goto("/account");
    await page.getByLabel("New password").fill("four words of another kind");
    await page.getByRole("button", { name: "Set the password" }).click();
    const confirm = page.getByRole("dialog", { name: "Confirm that it is you" });
    await confirm.getByText("sign in again in another tab").waitFor();
    await confirm.getByRole("button", { name: "Continue" }).waitFor();
  });
});
