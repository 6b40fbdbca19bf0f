import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { API_ADDRESS, ERRORS_ADDRESS } from "../../src/http/static-sites.ts";
import { errorPages, errorSources, linkCodes } from "./generated/error-pages.ts";
import { eventPayloads } from "./generated/event-payloads.ts";
import { guidedPath } from "./generated/guided-path.ts";
import { lifecycleTables } from "./generated/lifecycle-tables.ts";
import { referencePages } from "./generated/reference-pages.ts";
import { type FindPublished, rewriteLinks } from "./links.ts";
import {
  type Audience,
  HOME,
  type Page,
  type ReadPage,
  SECTIONS,
  type StagedPage,
  type StagedSection,
} from "./pages.ts";

/** Files of the site that are no pages: from where in the repository to where in the folder that VitePress builds from. */
const FILES: Readonly<Record<string, string>> = {
  "docs/.vitepress/icon.svg": "public/icon.svg",
  "docs/order-states.svg": "order-states.svg",
  "openapi/partner.json": "public/openapi/partner.json",
  "openapi/partner.arazzo.yaml": "public/openapi/partner.arazzo.yaml",
  "openapi/partner.opencollection.json": "public/openapi/partner.opencollection.json",
  "openapi/partner.postman_collection.json": "public/openapi/partner.postman_collection.json",
};
const PRIVATE_FILES: Readonly<Record<string, string>> = {
  "openapi/back-office.json": "public/openapi/back-office.json",
};
const filesFor = (audience: Audience) => (audience === "partners" ? FILES : { ...FILES, ...PRIVATE_FILES });

/** What a page that both have says to the others alone. */
const PRIVATE_PART = /^<!-- not for partners -->\n([\s\S]*?)^<!-- end -->\n/gm;
const EXAMPLES = "docs/examples";
/** `npm run docs:pictures` takes them. */
const PICTURES = "docs/pictures";

/** What follows from the code of the service, and is added to a page that people write. */
const ADDED: Readonly<Record<string, (text: string, audience: Audience) => string>> = {
  "partners/events": (text) => text + eventPayloads(),
  "partners/guided-path": (text) => text + guidedPath(),
  "partners/statuses": (text) => text + lifecycleTables(),
  "errors/index": (text, audience) => linkCodes(text, ".", audience),
  "operators/errors": (text, audience) => linkCodes(text, "../errors", audience),
};

/** The addresses of the description's examples. On the site, those of the deployment take their place. */
const withAddresses = (text: string): string =>
  text
    .replaceAll("https://orders.example/errors", ERRORS_ADDRESS)
    .replaceAll(/"http:\/\/localhost:8080(?=["/])/g, `"${API_ADDRESS}`);

/** Every page of the site, by the sections of its navigation. The first section has no title: it is the home page. */
export async function stageSections(audience: Audience): Promise<StagedSection[]> {
  const shown = SECTIONS.filter(({ isPublic }) => isPublic || audience === "all");
  const sections = [{ title: "", pages: [HOME] }, ...shown];
  const errors = errorSources(audience);
  const find = await publishedFiles([...sections.flatMap(({ pages }) => pages), ...errors], audience);
  const read: ReadPage = async (page) => {
    const text = (await readFile(page.source, "utf8")).replace(PRIVATE_PART, audience === "all" ? "$1" : "");
    return rewriteLinks(text, page, find);
  };
  const stage = async ({ source, ...head }: Page): Promise<StagedPage> => {
    const text = await read({ source, path: head.path });
    return { ...head, text: ADDED[head.path]?.(text, audience) ?? text };
  };
  const written = await Promise.all(
    sections.map(async ({ title, pages }) => ({ title, pages: await Promise.all(pages.map(stage)) })),
  );
  return [
    ...written,
    { title: "API reference", pages: referencePages() },
    { title: "Error codes", pages: await errorPages(read, audience) },
  ];
}

async function publishedFiles(
  pages: readonly { source: string; path: string }[],
  audience: Audience,
): Promise<FindPublished> {
  const examples = (await readdir(EXAMPLES)).map((name) => [`${EXAMPLES}/${name}`, `examples/${name}`]);
  const pictures = (await readdir(PICTURES)).map((name) => [`${PICTURES}/${name}`, `pictures/${name}`]);
  const published = new Map<string, string>([
    ...Object.entries(filesFor(audience)).map(([from, to]): [string, string] => [
      from,
      to.replace(/^public\//, ""),
    ]),
    ...[...examples, ...pictures].map(([from = "", to = ""]): [string, string] => [from, to]),
    ...pages.map(({ source, path }): [string, string] => [source, `${path}.md`]),
  ]);
  return (file) => published.get(file) ?? null;
}

/** Writes the folder that VitePress builds from. */
export async function writeStaged(
  folder: string,
  sections: readonly StagedSection[],
  audience: Audience,
): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  for (const { path, title, summary, text } of pagesOf(sections))
    await writeInto(
      folder,
      `${path}.md`,
      `${frontmatter({ title, description: summary, ...outlineOf(path) })}${text}`,
    );
  await cp(EXAMPLES, join(folder, "public/examples"), { recursive: true });
  for (const [from, to] of Object.entries(filesFor(audience))) {
    const text = await readFile(from, "utf8");
    await writeInto(folder, to, from.startsWith("openapi/partner.") ? withAddresses(text) : text);
  }
  // A page shows a copy whose name has a hash. Its Markdown names the picture itself.
  await cp("docs/order-states.svg", join(folder, "public/order-states.svg"));
  const texts = pagesOf(sections).map(({ text }) => text);
  for (const name of await readdir(PICTURES))
    if (texts.some((text) => text.includes(`/${name})`)))
      for (const to of ["pictures", "public/pictures"])
        await cp(join(PICTURES, name), join(folder, to, name));
  await writeInto(folder, "sidebar.json", JSON.stringify(sidebarOf(sections)));
}

/** Writes the Markdown of each page beside its HTML, and the list of them that programs read. */
export async function writeMarkdown(folder: string, sections: readonly StagedSection[]): Promise<void> {
  for (const { path, text } of pagesOf(sections)) await writeInto(folder, `${path}.md`, text);
  await writeInto(folder, "llms.txt", listOfPages(sections));
  await writeInto(folder, "SKILL.md", await readFile("docs/SKILL.md", "utf8"));
}

const pagesOf = (sections: readonly StagedSection[]): StagedPage[] =>
  sections.flatMap(({ pages }) => [...pages]);

/** The sections that the pages below a path show, so that readers see what is for them. The last one is for all others. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  "/api/": ["API reference", "Reference"],
  "/errors/": ["Reference", "Error codes"],
  "/merchants/": ["Merchants and warehouse", "Operators", "Reference"],
  "/warehouse/": ["Merchants and warehouse", "Operators", "Reference"],
  "/operators/": ["Merchants and warehouse", "Operators", "Reference"],
  "/": ["Partners", "Webhooks and events", "Reference"],
};

/** As VitePress reads it. */
const sidebarOf = (sections: readonly StagedSection[]) =>
  Object.fromEntries(
    Object.entries(SHOWN)
      .filter(([path]) => pagesOf(sections).some((page) => `/${page.path}`.startsWith(path)))
      .map(([path, titles]) => [
        path,
        sections
          .filter(({ title }) => titles.includes(title))
          .map(({ title, pages }) => ({
            text: title,
            items: pages.map(({ title: text, path: page }) => ({ text, link: `/${page}` })),
          })),
      ]),
  );

/** The form of https://llmstxt.org. */
function listOfPages(sections: readonly StagedSection[]): string {
  const parts = sections
    .filter(({ title }) => title !== "")
    .map(({ title, pages }) => {
      const items = pages.map((page) => `- [${page.title}](${page.path}.md): ${page.summary}`);
      return `## ${title}\n\n${items.join("\n")}\n`;
    });
  return `# ${HOME.title}\n\n> ${HOME.summary}\n\n${parts.join("\n")}`;
}

/** Pages of the reference have the same headings in each route, so their outline lists the routes alone. */
const outlineOf = (path: string) => (path.startsWith("api/") ? { outline: 2 } : {});

const frontmatter = (members: Readonly<Record<string, string | number>>): string =>
  `---\n${Object.entries(members)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join("")}---\n\n`;

async function writeInto(folder: string, path: string, text: string): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
