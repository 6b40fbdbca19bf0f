/** Whom a site is for: partners, who see nothing of merchants, warehouse and operators, or everyone within the operator's networks. */
export type Audience = "partners" | "all";

/** A page of the documentation. */
type PageHead = {
  /** Where readers find it: relative to the root of the site, without an extension. */
  readonly path: string;
  /** Its title in the navigation. */
  readonly title: string;
  /** A summary for the reader, for `llms.txt`. */
  readonly summary: string;
};

/** A page that people write. `source` is its file, relative to the root of the repository. */
export type Page = PageHead & { readonly source: string };

/** A page of the site, as Markdown with the links of the site. */
export type StagedPage = PageHead & { readonly text: string };

export type StagedSection = { readonly title: string; readonly pages: readonly StagedPage[] };

/** Reads a page that people write, with the links of the site. */
export type ReadPage = (page: { source: string; path: string }) => Promise<string>;

/** `isPublic`: it is also part of the documentation for partners, which has nothing of merchants, warehouse and operators. */
type Section = { readonly title: string; readonly isPublic: boolean; readonly pages: readonly Page[] };

/** A page whose source has the path that readers use. */
const at = (path: string, title: string, summary: string): Page => ({
  source: `docs/${path}.md`,
  path,
  title,
  summary,
});

/** A page whose source is at the top of `docs`, where maintainers find it. */
const from = (name: string, path: string, title: string, summary: string): Page => ({
  source: `docs/${name}.md`,
  path,
  title,
  summary,
});

/** The hand-written pages, in the order of the navigation. Every other file of `docs` is for maintainers, and not published. */
export const SECTIONS: readonly Section[] = [
  {
    title: "Partners",
    isPublic: true,
    pages: [
      at("partners/quickstart", "Start in five minutes", "Place a test order, move it, and read its events."),
      at(
        "partners/guided-path",
        "From a key to a proven integration",
        "Every step of an integration, rehearsed in an afternoon.",
      ),
      at(
        "partners/authentication",
        "Keys",
        "Send a key, rotate it, and choose between a live and a test key.",
      ),
      at("partners/products", "Products", "List what a connection can order, and read pages."),
      at("partners/orders", "Orders", "Place an order once, whatever happens, and find it again."),
      at(
        "partners/statuses",
        "Statuses and holds",
        "What each status and hold means, and what to show a customer.",
      ),
      at("partners/canceling", "Cancel an order", "The cancel window, and what happens after it."),
      at("partners/sandbox", "Sandbox", "Rehearse the life of an order with test orders."),
      at(
        "partners/retries",
        "Retries and rate limits",
        "What to retry, how long to wait, and how many requests fit.",
      ),
      at("partners/errors", "Handle errors", "What the SDK throws, and what a program does about it."),
      at("partners/sdk", "SDK", "The API in TypeScript and JavaScript: orders, errors, retries, webhooks."),
      at(
        "partners/other-languages",
        "Other languages",
        "Python, PHP, Java and C#: signatures, types, and generated clients.",
      ),
      at(
        "partners/command-line",
        "Command line for partners",
        "Orders, test orders, endpoints and events from a terminal, and webhooks on your machine.",
      ),
      at(
        "partners/testing",
        "The service in your tests",
        "The service itself on your machine, with a clock that you can move, for node:test and vitest.",
      ),
      at("partners/certification", "Certification", "Prove that your program gets along with every fault."),
      at("partners/versioning", "Versions", "What can change, what cannot, and how programs stay correct."),
      at("partners/agents", "Coding agents", "Let an agent rehearse orders, and see why webhooks fail."),
      at("partners/going-live", "Go live", "The checklist before the first real order."),
    ],
  },
  {
    title: "Webhooks and events",
    isPublic: true,
    pages: [
      at(
        "partners/webhooks",
        "Receive webhooks",
        "Register an endpoint, store events, and understand retries.",
      ),
      at(
        "partners/signatures",
        "Verify signatures",
        "Verify that a request is genuine, and rotate its secret.",
      ),
      at(
        "partners/receivers",
        "Receivers for frameworks",
        "Express, Fastify, Hono, Next.js, Flask, Django, PHP, Java and Go.",
      ),
      at("partners/events", "Event catalog", "Every event type, when it is sent, and its payload."),
      at("partners/reconciling", "Reconcile with the feed", "Find the events that did not arrive."),
    ],
  },
  {
    title: "Merchants and warehouse",
    isPublic: false,
    pages: [
      at("merchants/guide", "Merchant guide", "Open products to partners, follow orders, and check money."),
      at("warehouse/guide", "Warehouse guide", "Review, pack and ship orders, and take returns."),
      from(
        "back-office",
        "operators/back-office",
        "Back office API",
        "The same work for programs, request by request.",
      ),
      from(
        "back-office-problems",
        "operators/errors",
        "Back office errors",
        "The error codes and rules that only the back office has.",
      ),
      from(
        "back-office-limits",
        "operators/limits",
        "Back office limits",
        "Limits for merchants, warehouses, operators and their programs.",
      ),
    ],
  },
  {
    title: "Operators",
    isPublic: false,
    pages: [
      at(
        "operators/guide",
        "Operator guide",
        "Start the service, let people in, watch it, and help partners.",
      ),
      at(
        "operators/partners",
        "What partners can see and do",
        "Keys, orders, webhooks, agents and warnings, with the setting that governs each.",
      ),
      from("deployment", "operators/deployment", "Deployment", "Containers, systemd, and a proxy with TLS."),
      from("configuration", "operators/configuration", "Configuration", "Every environment variable."),
      from("operation", "operators/operation", "Operation", "Health, metrics, logs, backups and recovery."),
      from("people", "operators/people", "People", "Invite people, and let them sign in."),
      from("command-line", "operators/command-line", "Command line", "The back office from a terminal."),
      from("scaling", "operators/scaling", "Scaling", "Distribute the tables over several servers."),
      from("upgrade", "operators/upgrade", "Upgrade", "Install a new version without an interruption."),
      from(
        "security",
        "operators/security",
        "Security",
        "Threats, protections, and the tests that prove them.",
      ),
      from("access", "operators/access", "Access", "What each role may do and see, request by request."),
      from("audit-log", "operators/audit-log", "Audit log", "Who changed what, and who read personal data."),
      from(
        "personal-data",
        "operators/personal-data",
        "Personal data",
        "What is stored about buyers, and for how long.",
      ),
    ],
  },
  {
    title: "Reference",
    isPublic: true,
    pages: [
      from("problems", "errors/index", "Errors", "Every error code of the API, its cause and its remedy."),
      from("limits", "reference/limits", "Limits", "Limits on size, number and rate."),
      from("glossary", "reference/glossary", "Glossary", "One word for each thing."),
      {
        source: "CHANGELOG.md",
        path: "reference/changelog",
        title: "Changelog",
        summary: "What is new in each version.",
      },
    ],
  },
];

export const HOME: Page = from("index", "index", "Partner Orders", "The documentation of the service.");
