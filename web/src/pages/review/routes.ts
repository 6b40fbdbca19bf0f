import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { searchParams, text } from "../../routing/search.ts";
import { reviewQuery } from "../orders/queries.ts";

// Apart from their routes: inside, TypeScript does not infer their types.
const reviewSearch = searchParams({ order: text, cursor: text });

export const reviewRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/review",
  validateSearch: reviewSearch,
  loaderDeps: ({ search: { cursor } }) => ({ cursor }),
  loader: ({ deps }) => void queryClient.prefetchQuery(reviewQuery(deps.cursor)),
  component: lazyRouteComponent(() => import("./review-page.tsx"), "ReviewPage"),
});
