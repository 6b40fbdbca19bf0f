/** An entry of a lock file. */
type LockedPackage = {
  readonly license?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  /** A workspace of the project. */
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
};

/** Licenses that permit any use and require only that their text is included, for packages that the service runs. */
const RUN_TIME = [
  "MIT",
  "MIT-0",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "0BSD",
  "BlueOak-1.0.0",
];
/** Tools are not distributed with the service. These bind those who change the tool, or are for data and images. */
const DEVELOPMENT = [...RUN_TIME, "MPL-2.0", "CC-BY-4.0", "CC0-1.0", "Unlicense", "Zlib", "Python-2.0"];

/** Binaries of development tools. npm marks them as optional, and not also as used by development alone. */
const TOOL_BINARY = /^lightningcss-/;

/** Also where the lock file names no address. */
const REGISTRY = "https://registry.npmjs.org/";

/**
 * The errors of the packages of a lock file: their license, where they come from, a missing hash, or a script at
 * installation that `allowScripts` of package.json neither allows nor denies. `areTools`: nothing in it is for the service.
 */
export function packageErrors(
  packages: Readonly<Record<string, LockedPackage>>,
  { allowScripts, areTools }: { allowScripts: Readonly<Record<string, boolean>>; areTools: boolean },
): string[] {
  return Object.entries(packages).flatMap(([path, entry]) => {
    if (!path.includes("node_modules/") || entry.link) return []; // The project itself and its workspaces.
    const {
      license = "no license",
      resolved = REGISTRY,
      integrity,
      dev = false,
      devOptional = false,
      hasInstallScript = false,
    } = entry;
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const allowed = areTools || dev || devOptional || TOOL_BINARY.test(name) ? DEVELOPMENT : RUN_TIME;
    return [
      ...(isAllowed(license, allowed)
        ? []
        : [`${path}: license ${license} is not in the list of allowed ones`]),
      ...(resolved.startsWith(REGISTRY) ? [] : [`${path}: comes from ${resolved}, not from ${REGISTRY}`]),
      ...(hasInstallScript && allowScripts[name] === undefined
        ? [`${path}: runs a script at its installation; allow or deny it in allowScripts of package.json`]
        : []),
      ...(/^sha512-/.test(integrity ?? "") ? [] : [`${path}: has no SHA-512 hash`]),
    ];
  });
}

/** An SPDX expression of `OR` and `AND` without nesting: one alternative must be allowed in all its parts. */
const isAllowed = (expression: string, allowed: readonly string[]): boolean =>
  expression
    .replace(/^\((.*)\)$/, "$1")
    .split(" OR ")
    .some((alternative) => alternative.split(" AND ").every((license) => allowed.includes(license.trim())));
