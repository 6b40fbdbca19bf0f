import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { oneOf, searchParams, text } from "../../routing/search.ts";
import { day } from "../../text/format.ts";
import { auditEntriesQuery, KINDS } from "./queries.ts";

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
