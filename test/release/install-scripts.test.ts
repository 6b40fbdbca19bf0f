import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { installPackages, packageFolder } from "../../scripts/install-packages.ts";
import { temporaryFolder } from "../support/main-process.ts";
import { startReceiver } from "../support/receivers.ts";

/** A linter of OpenAPI documents brings a package whose script at installation reports each installation to its maker. */
const FOLDER = "scripts/lint-openapi";

/** What the script sends if it is run all the same, with the settings of a package.json. */
async function reportsOf(settings: object): Promise<number> {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const folder = await temporaryFolder();
  await writeFile(join(folder, "package.json"), JSON.stringify({ name: "a", version: "1.0.0", ...settings }));
  const { PATH } = process.env;
  const script = spawn(process.execPath, [join(String(packageFolder(FOLDER, "@scarf/scarf")), "report.js")], {
    env: {
      PATH,
      HOME: folder,
      TMPDIR: folder,
      INIT_CWD: folder,
      SCARF_LOCAL_PORT: new URL(receiver.url).port,
    },
  });
  await once(script, "close");
  return receiver.requests.length;
}

it("no installation is reported to the maker of a package", async () => {
  installPackages(FOLDER);
  const { allowScripts, scarfSettings } = JSON.parse(await readFile(`${FOLDER}/package.json`, "utf8"));
  expect(allowScripts["@scarf/scarf"], "npm does not run it").toBe(false);
  expect(await reportsOf({ scarfSettings }), "and run by an older npm, it sends nothing").toBe(0);
  expect(
    await reportsOf({ scarfSettings: { skipTraversal: true } }),
    "as it would without the settings",
  ).toBe(1);
});
