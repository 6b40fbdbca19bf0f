import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { signedSample } from "../../packages/sdk/src/testing.ts";
import { temporaryFolder } from "../support/main-process.ts";
import { jsonLines, startPartnerCli } from "../support/partner-cli.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;

it("verify says whether a request is genuine and else why not, with the secret from everywhere but the arguments", async () => {
  const folder = await temporaryFolder();
  const [headersFile, bodyFile] = [join(folder, "headers.json"), join(folder, "body.json")];
  const { headers, body } = await signedSample("order.created", { secret: SECRET });
  await writeFile(headersFile, JSON.stringify(headers));
  await writeFile(bodyFile, body);
  const verify = (secret: string, args: readonly string[] = [], input = "") =>
    startPartnerCli(
      { PARTNER_ORDERS_WEBHOOK_SECRET: secret },
      ["verify", "--headers", headersFile, "--body", bodyFile, ...args],
      { input },
    ).ended();

  expect(await verify(SECRET)).toMatchObject({ code: 0, errors: "" });
  expect(await verify(OTHER, ["--secret-file", "-"], `${SECRET}\n`)).toMatchObject({ code: 0 });
  const different = await verify(OTHER);
  expect(different).toMatchObject({ code: 1, errors: "" });
  expect(different.output).toMatch(/^The signature does not fit\..*\nFault +Headers and body look untouched/);
  await writeFile(bodyFile, JSON.stringify(JSON.parse(body), null, 2));
  const rewritten = await verify(SECRET, ["--json"]);
  expect(rewritten.code).toBe(1);
  expect(jsonLines(rewritten.output)).toMatchObject([
    { verdict: "explained", findings: [{ code: "body_rewritten", severity: "fault" }] },
  ]);
  expect(await verify(SECRET, ["--secret-file", "-", "--computed", "x", "--body", "-"])).toMatchObject({
    code: 2,
  });
});
