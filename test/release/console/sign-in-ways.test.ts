import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendDueMails } from "../../../src/mail/send-mails.ts";
import { type Console, startConsole } from "../../support/browser.ts";
import { type IdentityProvider, startIdentityProvider } from "../../support/identity-provider.ts";
import { startMailServer } from "../../support/mail-server.ts";
import { passCodes, totp } from "../../support/one-time-codes.ts";
import { createPerson, createPersonWithPassword, openBrowser, PASSWORD } from "../../support/people.ts";

const NEW_PASSWORD = "four words that are new";

let world: Console;
let provider: IdentityProvider;
beforeAll(async () => {
  provider = await startIdentityProvider();
  world = await startConsole({ config: provider.config });
});
afterAll(async () => {
  await world.close();
  await provider.close();
});

async function enterPassword(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel("Mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

const isIn = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).waitFor();

async function openSignIn(next = ""): Promise<Page> {
  const page = await world.open(null, { provider: provider.issuer });
  await page.goto(`/sign-in${next}`);
  return page;
}

/** What the test reads of an element in the browser. */
type ButtonLabel = Readonly<
  Record<"scrollWidth" | "clientWidth" | "scrollHeight" | "clientHeight", number> & { textContent: string }
>;

describe("a one-time code", () => {
  /** A person with a password and codes, and what its device shows. */
  async function createPersonWithCodes() {
    const { person, browser } = await createPersonWithPassword(world.service);
    const { uri, backupCodes } = (await browser.post("/auth/second-factor", { password: PASSWORD })).body;
    expect(
      (await browser.post("/auth/second-factor/verify", { code: totp(world.service, uri) })).status,
    ).toBe(204);
    await passCodes(world.service);
    return { person, uri: String(uri), backupCode: String(backupCodes[0]) };
  }

  it("is requested after the password; a wrong one is rejected with a message, and the right one signs in", async () => {
    const { person, uri } = await createPersonWithCodes();
    const page = await openSignIn("?next=/account");
    await enterPassword(page, person.email, PASSWORD);
    await page.getByLabel("One-time code").fill("000000");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("The code is not right, or it has expired.").waitFor();
    expect((await page.request.get("/api/me")).status(), "the password alone opens nothing").toBe(401);
    await page.getByLabel("One-time code").fill(totp(world.service, uri));
    await page.getByRole("button", { name: "Sign in" }).click();
    await isIn(page, person.name);
    expect(page.url()).toBe(`${world.url}/account`);
  });

  it("is replaced by a backup code, once", async () => {
    const { person, backupCode } = await createPersonWithCodes();
    const enter = async () => {
      const page = await openSignIn("?next=/account");
      await enterPassword(page, person.email, PASSWORD);
      await page.getByLabel("One-time code").fill(backupCode);
      await page.getByLabel("This is a backup code").check();
      await page.getByRole("button", { name: "Sign in" }).click();
      return page;
    };
    await isIn(await enter(), person.name);
    await (await enter()).getByText("The code is not right, or it has expired.").waitFor();
  });

  it("that was wrong five times leads back to the password, and what was typed there is asked for again", async () => {
    const { person, backupCode } = await createPersonWithCodes();
    const page = await openSignIn("?next=/account");
    await enterPassword(page, person.email, PASSWORD);
    const enter = async (code: string) => {
      await page.getByLabel("One-time code").fill(code);
      await page.getByLabel("This is a backup code").check();
      const answered = page.waitForResponse((response) => response.url().endsWith("/auth/sign-in/code"));
      await page.getByRole("button", { name: "Sign in" }).click();
      await answered;
    };
    for (let count = 0; count < 5; count += 1) await enter(`wrong-${count}`);
    await enter(backupCode);
    await page.getByText("Too many codes were wrong").waitFor();
    await page.getByRole("button", { name: "Back" }).click();
    await enterPassword(page, person.email, PASSWORD);
    await enter(backupCode);
    await isIn(page, person.name);
  });
});

describe("the sign-in page", () => {
  it("shows a password by the keyboard", async () => {
    const page = await openSignIn();
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.getByLabel("Password", { exact: true }).getAttribute("type")).toBe("text");
  });

  it("shows the whole labels of its buttons, also in German on a narrow screen with large text", async () => {
    const page = await world.open(null, { provider: provider.issuer, language: "de-DE", width: 320 });
    await page.goto("/sign-in");
    await page.getByRole("button", { name: "Mit Example ID anmelden" }).waitFor();
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    const labels = page.locator("button .mantine-Button-label");
    expect(await labels.count()).toBeGreaterThan(2);
    const cut: string[] = await labels.evaluateAll((all: readonly ButtonLabel[]) =>
      all
        .filter((each) => each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight + 1)
        .map((each) => each.textContent),
    );
    expect(cut).toEqual([]);
  });
});

/** The link of a mail, whose lines are wrapped as quoted-printable. */
function linkIn(body: string): string {
  const text = body.replace(/=\r?\n/g, "").replace(/=3D/g, "=");
  const [link] = /http\S+#token=\S+/.exec(text) ?? [];
  if (link === undefined) throw new Error(`No link: ${body}`);
  return link;
}

describe("a mail to set a new password", () => {
  const askFor = async (email: string): Promise<Page> => {
    const page = await openSignIn();
    await page.getByRole("button", { name: "Forgot the password?" }).click();
    await page.getByLabel("Mail address").fill(email);
    await page.getByRole("button", { name: "Send the link" }).click();
    await page.getByText("If a person has this address, a mail with a link is on its way.").waitFor();
    return page;
  };

  it("has a link that works once, after which only the new password signs in", async () => {
    const { person } = await createPersonWithPassword(world.service);
    const smtp = await startMailServer();
    const { context } = world.service;
    const page = await askFor(person.email);
    await expect
      .poll(async () => {
        // The mail is queued after the response, so that its time shows no address.
        await sendDueMails({ ...context, config: { ...context.config, smtpUrl: smtp.url } });
        return smtp.mails.length;
      })
      .toBe(1);
    expect(smtp.mails[0]?.to).toEqual([person.email]);
    const link = linkIn(smtp.mails[0]?.body ?? "");

    const reset = async (): Promise<void> => {
      await page.goto("about:blank");
      await page.goto(link);
      await page.getByLabel("New password").fill(NEW_PASSWORD);
      await page.getByRole("button", { name: "Set the password" }).click();
    };
    await reset();
    await enterPassword(page, person.email, PASSWORD);
    await page.getByText("The mail address or the password is not right.").waitFor();
    await enterPassword(page, person.email, NEW_PASSWORD);
    await isIn(page, person.name);
    await reset();
    await page.getByText("This link has expired or was used before.").waitFor();
  });

  it("is announced in the same words for an address that no person has", async () => {
    const page = await askFor("stranger@example.com");
    await page.getByRole("button", { name: "Back" }).click();
    await page.getByLabel("Password", { exact: true }).waitFor();
  });
});

describe("the organization's identity provider", () => {
  const enter = async (page: Page) => page.getByRole("button", { name: "Sign in with Example ID" }).click();
  const subject = (email: string) => ({ sub: email, email, email_verified: true });

  it("signs in a person who was invited, and opens the page that was requested", async () => {
    const person = await createPerson(world.service);
    provider.subject = subject(person.email);
    const page = await openSignIn("?next=/account");
    await enter(page);
    await isIn(page, person.name);
    expect(page.url()).toBe(`${world.url}/account`);
  });

  it("brings a stranger back to the other ways to sign in, with a sentence", async () => {
    provider.subject = subject("not-invited@example.com");
    const page = await openSignIn();
    await enter(page);
    await page.getByText("The provider did not sign you in.").waitFor();
    expect((await page.request.get("/api/me")).status()).toBe(401);
    await page.getByLabel("Password", { exact: true }).waitFor();
  });
});

it("too many wrong passwords are a sentence too", async () => {
  const { person } = await createPersonWithPassword(world.service);
  const guesser = openBrowser(world.service, "127.0.0.1");
  const guess = async () =>
    (await guesser.post("/auth/sign-in/password", { email: person.email, password: "a guess" })).status;
  while ((await guess()) !== 429);
  const page = await openSignIn();
  await enterPassword(page, person.email, PASSWORD);
  await page.getByText("There were too many attempts.").waitFor();
});
