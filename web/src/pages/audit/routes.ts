import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { searchParams, text } from "../../routing/search.ts";
import { day } from "../../text/format.ts";
import { auditEntriesQuery } from "./queries.ts";

const auditSearch = searchParams({
  actor: text,
  action: text,
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
  loader: ({ deps }) => void queryClient.prefetchQuery(auditEntriesQuery(deps)),
  component: lazyRouteComponent(() => import("./audit-page.tsx"), "AuditPage"),
});
