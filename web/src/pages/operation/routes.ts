import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { flag, oneOf, searchParams, text } from "../../routing/search.ts";
import { day } from "../../text/format.ts";
import { auditEntriesQuery, checksQuery, KINDS, settingsQuery, systemQuery } from "./queries.ts";

const auditSearch = searchParams({
  actor: text,
  action: text,
  kind: oneOf(KINDS),
  subjectId: text,
  merchantId: text,
  connectionId: text,
  from: day,
  to: day,
  cursor: text,
});

export const auditRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/audit-log",
  validateSearch: auditSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => {
    // What an operation is called is known when the page is loaded.
    if (deps.action === undefined) void queryClient.prefetchQuery(auditEntriesQuery(deps));
  },
  component: lazyRouteComponent(() => import("./audit-page.tsx"), "AuditPage"),
});

export const systemRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/system",
  loader: () => {
    void queryClient.prefetchQuery(checksQuery());
    return queryClient.ensureQueryData(systemQuery());
  },
  component: lazyRouteComponent(() => import("./system-page.tsx"), "SystemPage"),
});

export const settingsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/settings",
  validateSearch: searchParams({ changed: flag }),
  loader: () => queryClient.ensureQueryData(settingsQuery()),
  component: lazyRouteComponent(() => import("./settings-page.tsx"), "SettingsPage"),
});
