import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { packageFolders } from "./package-folders.ts";

type Component = { "bom-ref": string };

/**
 * Writes a software bill of materials (CycloneDX, JSON) of everything in the lock files, to the file that is named as the
 * argument. It needs no network, and the same lock files give the same bytes (docs/design/dependencies.md, "Supply chain").
 * Packages of tools have the scope `excluded`: no installation of the service has them.
 */
const target = process.argv[2] ?? "sbom.cdx.json";
const arguments_ = ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"];
// npm describes the tree itself. It names the folder, the moment and a random number, which do not describe the tree.
const describe = (cwd: string) =>
  JSON.parse(
    execFileSync("npm", arguments_, {
      cwd,
      encoding: "utf8",
      maxBuffer: 64 * 1_048_576,
      stdio: ["ignore", "pipe", "ignore"],
    }),
  );
const [service = ".", ...tools] = packageFolders();
const bom = describe(service);
const known = new Set(bom.components.map((component: Component) => component["bom-ref"]));
for (const { components, dependencies } of tools.map(describe)) {
  const added = components.filter((component: Component) => !known.has(component["bom-ref"]));
  for (const component of added) known.add(component["bom-ref"]);
  bom.components.push(...added.map((component: Component) => ({ ...component, scope: "excluded" })));
  const refs = new Set(added.map((component: Component) => component["bom-ref"]));
  bom.dependencies.push(...dependencies.filter(({ ref }: { ref: string }) => refs.has(ref)));
}
const { name } = JSON.parse(readFileSync("package.json", "utf8"));
delete bom.metadata.timestamp;
delete bom.metadata.tools;
bom.metadata.component.name = name;
bom.serialNumber = `urn:uuid:${uuidOf(JSON.stringify({ ...bom, serialNumber: undefined }))}`;
writeFileSync(target, `${JSON.stringify(bom, null, 2)}\n`);
process.stdout.write(`${bom.components.length} components are in ${target}.\n`);

/** A UUID of version 8, whose bits are those of a hash (RFC 9562, section 5.8). */
function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
