import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { packageErrors } from "../../../scripts/supply-chain/package-errors.ts";
import { packageFolders } from "../../../scripts/supply-chain/package-folders.ts";

const sound = { license: "MIT", integrity: "sha512-x" };
const errorsOf = (fields: object) =>
  packageErrors(
    { "node_modules/a": { ...sound, ...fields } },
    { allowScripts: { b: false }, areTools: false },
  );

const read = (path: string) => JSON.parse(readFileSync(path, "utf8"));

it.each(packageFolders())("finds nothing wrong with the packages of the folder %s", (folder) => {
  const { packages } = read(join(folder, "package-lock.json"));
  const { allowScripts = {} } = read(join(folder, "package.json"));
  expect(packageErrors(packages, { allowScripts, areTools: folder !== "." })).toEqual([]);
});

it("knows the packages of tools, which have folders of their own", () => {
  expect(packageFolders()).toEqual([
    ".",
    "scripts/lint-openapi",
    "scripts/sdk",
    "test/browser",
    "test/mutation",
    "test/release",
    "test/release/runtimes",
  ]);
  const ofTools = { "node_modules/a": { ...sound, license: "MPL-2.0" } };
  expect(packageErrors(ofTools, { allowScripts: {}, areTools: true })).toEqual([]);
});

it("takes a script at installation that was denied, also of a package within another", () => {
  const packages = { "node_modules/a/node_modules/b": { ...sound, hasInstallScript: true } };
  expect(packageErrors(packages, { allowScripts: { b: false }, areTools: false })).toEqual([]);
});

it.each([
  ["a license that binds those who distribute it", { license: "AGPL-3.0-only" }],
  ["no license", { license: undefined }],
  ["two licenses of which one is not allowed", { license: "(MIT AND GPL-3.0-only)" }],
  ["a license of tools at run time", { license: "MPL-2.0" }],
  ["another registry", { resolved: "https://registry.example/a.tgz" }],
  ["a repository", { resolved: "git+ssh://git@github.com/a/a.git" }],
  ["no hash", { integrity: undefined }],
  ["a weak hash", { integrity: "sha1-x" }],
  ["a script at installation without a decision about it", { hasInstallScript: true }],
])("rejects a package with %s", (_name, fields) => expect(errorsOf(fields)).toHaveLength(1));

it.each([
  ["a choice of licenses of which one is allowed", { license: "(GPL-3.0-only OR MIT)" }],
  ["a license of tools, as a tool", { license: "MPL-2.0", dev: true }],
  ["the registry's address", { resolved: "https://registry.npmjs.org/a/-/a-1.0.0.tgz" }],
])("takes a package with %s", (_name, fields) => expect(errorsOf(fields)).toEqual([]));
