import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

type Instruction = { readonly name: string; readonly text: string };

/** What an image contains and how a container of it starts. Its files are in `root`. */
export type Image = {
  readonly root: string;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
  readonly user: string;
};

/** The instructions of a Dockerfile, with continued lines joined. */
export async function readDockerfile(path: string): Promise<Instruction[]> {
  const text = (await readFile(path, "utf8")).replace(/^\s*#.*\n/gm, "").replace(/\\\n\s*/g, "");
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => ({ name: line.split(" ", 1)[0] ?? "", text: line.slice(line.indexOf(" ") + 1).trim() }));
}

/** Copies what a clean checkout contains: tracked files, and those that could be. */
export async function checkOut(target: string): Promise<void> {
  const { stdout } = await run("git", ["ls-files", "-coz", "--exclude-standard"], {
    maxBuffer: 16 * 1_048_576,
  });
  const left = /^$|^(test|bench)\//; // Large, and no part of an image.
  for (const file of stdout.split("\0").filter((name) => !left.test(name)))
    await cp(file, join(target, file)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error; // Deleted, and not committed yet.
    });
}

/**
 * Does what a build does, in folders: each stage has one, copies are made and npm runs. Where npm installs all packages, those
 * of this checkout are linked. Commands that need the base image's root or its users are left out; `others` has them.
 */
export async function buildImage(
  instructions: readonly Instruction[],
  { context, target }: { context: string; target: string },
): Promise<Image & { readonly others: readonly string[] }> {
  const stages = new Map<string, string>();
  const others: string[] = [];
  let image = emptyImage(target);
  for (const { name, text } of instructions) {
    const directory = join(image.root, image.directory);
    switch (name) {
      case "FROM": {
        const [, stage = "final"] = text.split(" AS ");
        image = emptyImage(join(target, stage));
        stages.set(stage, image.root);
        break;
      }
      case "WORKDIR":
        image = { ...image, directory: text };
        await mkdir(join(image.root, text), { recursive: true });
        break;
      case "COPY": {
        const [, from, files] = /^(?:--from=(\S+) )?(.*)$/.exec(text) ?? [];
        await copy(
          (files ?? "").split(" "),
          from === undefined ? context : (stages.get(from) ?? ""),
          directory,
        );
        break;
      }
      case "RUN":
        if (text.startsWith("npm ")) await runNpm(text.split(" ").slice(1), directory);
        else others.push(text);
        break;
      case "ENV":
        image = { ...image, environment: { ...image.environment, ...variablesOf(text) } };
        break;
      case "CMD":
        image = { ...image, command: JSON.parse(text) };
        break;
      case "HEALTHCHECK":
        image = { ...image, healthCheck: JSON.parse(text.slice(text.indexOf("CMD ") + 4)) };
        break;
      case "USER":
        image = { ...image, user: text };
        break;
      default:
        others.push(`${name} ${text}`);
    }
  }
  return { ...image, others };
}

const emptyImage = (root: string): Image => ({
  root,
  directory: "/",
  environment: {},
  command: [],
  healthCheck: [],
  user: "root",
});

const variablesOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/([A-Z_]+)=(\S*)/g)].map(([, name = "", value = ""]) => [name, value]),
  );

/** As Docker: a folder's content goes into the target, a file into a folder whose name ends with a slash or is `.`. */
async function copy(files: readonly string[], from: string, directory: string): Promise<void> {
  const to = files.at(-1) ?? "";
  for (const file of files.slice(0, -1)) {
    const target = resolve(directory, to.endsWith("/") || to === "." ? join(to, basename(file)) : to);
    await mkdir(dirname(target), { recursive: true });
    await cp(join(from, file), target, { recursive: true, verbatimSymlinks: true });
  }
}

/** What npm needs of the environment. Its other variables name the folder of this project, which it must not touch. */
const NPM_VARIABLES = [
  "PATH",
  "HOME",
  "NODE_EXTRA_CA_CERTS",
  "npm_config_cache",
  "npm_config_registry",
  "npm_config_userconfig",
];

/**
 * The packages of this checkout: `npm ci` installed them from the lock file that both have, and built the documentation, which
 * a stage builds again unless it has all the same sources (docs/design/testing.md, "What makes a run short").
 */
async function linkPackages(directory: string): Promise<void> {
  if (existsSync("dist/docs")) await cp("dist/docs", join(directory, "dist/docs"), { recursive: true });
  for (const folder of ["node_modules", "web/node_modules"])
    if (existsSync(folder)) await symlink(resolve(folder), join(directory, folder));
}

/** With what npm has downloaded before, where that is enough. */
async function runNpm(args: readonly string[], directory: string): Promise<void> {
  const installsAll = args[0] === "ci" && !args.some((argument) => argument.startsWith("--omit"));
  if (installsAll) return linkPackages(directory);
  const kept = Object.entries(process.env).filter(([name]) => NPM_VARIABLES.includes(name));
  await run("npm", args, {
    cwd: directory,
    env: { ...Object.fromEntries(kept), npm_config_prefer_offline: "true" },
  });
}
