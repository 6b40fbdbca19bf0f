import type { Person } from "../../src/people/person.ts";
import { type Device, madePasskey, newDevice } from "./made-passkey.ts";
import { passCodes, totp } from "./one-time-codes.ts";
import { type Browser, createPersonWithPassword, PASSWORD } from "./people.ts";
import type { TestService } from "./test-service.ts";

/** A person with a password, a passkey and one-time codes, and a browser on which it has signed in. */
export type PersonWithAllWays = {
  readonly person: Person;
  readonly browser: Browser;
  readonly device: Device;
  readonly uri: string;
  readonly backupCodes: readonly string[];
};

export async function createPersonWithAllWays(service: TestService): Promise<PersonWithAllWays> {
  const { person, browser } = await createPersonWithPassword(service);
  const device = await addPasskey(browser);
  const { uri, backupCodes } = (await browser.post("/auth/second-factor", { password: PASSWORD })).body;
  const { status } = await browser.post("/auth/second-factor/verify", { code: totp(service, uri) });
  if (status !== 204) throw new Error(`codes not set up: ${status}`);
  await passCodes(service);
  return { person, browser, device, uri, backupCodes };
}

/** Adds a passkey to the person of a browser. Returns the device that has it. */
export async function addPasskey(browser: Browser): Promise<Device> {
  const device = newDevice();
  const { status } = await (await preparePasskey(browser, device))();
  if (status !== 204) throw new Error(`passkey not added: ${status}`);
  return device;
}

/** Makes a passkey. The request that adds it is sent later. */
export async function preparePasskey(
  browser: Browser,
  device = newDevice(),
): Promise<() => ReturnType<Browser["post"]>> {
  const { challenge } = (await browser.post("/auth/passkeys/options")).body.options;
  const response = madePasskey({ challenge, isVerified: true, device });
  return () => browser.post("/auth/passkeys", { name: "Laptop", response });
}
