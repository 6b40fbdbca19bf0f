import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { readSteps } from "../../../scripts/docs/generated/guided-path.ts";
import { installPackages, packageFolder } from "../../../scripts/install-packages.ts";
import { createKey } from "../../support/builders.ts";
import { startPartnerListener } from "../../support/partner-listener.ts";

const LINTERS = resolve("scripts/lint-openapi");

/** The page that is made of the same file is a session of test/release/docs/code-blocks.test.ts. */
it("a tool that reads Arazzo walks the guided path, and finds each response as the OpenAPI document says", async () => {
  installPackages(LINTERS);
  const listener = await startPartnerListener();
  const { key } = await createKey(listener.test, listener.partner.connectionId, { mode: "test" });
  const cli = join(String(packageFolder(LINTERS, "@redocly/cli")), "bin/cli.js");
  const server = `partnerOrders=${listener.url}`;
  const inputs = ["--input", `key=${key}`, "--input", "prefix=tool"];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [cli, "respect", "openapi/partner.arazzo.yaml", "--server", server, ...inputs],
    {
      env: {
        ...process.env,
        REDOCLY_TELEMETRY: "off",
        REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
        NO_COLOR: "1",
      },
    },
  ).catch(({ stdout: report }: { stdout: string }) => ({ stdout: report }));
  await listener.close();
  expect(stdout).toContain(`Steps: ${readSteps().length} passed, ${readSteps().length} total`);
});
