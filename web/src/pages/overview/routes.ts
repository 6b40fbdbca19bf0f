import { createRoute, redirect } from "@tanstack/react-router";
import { meQuery, rolesOf } from "../../api/me.ts";
import { queryClient } from "../../api/query-client.ts";
import { paths } from "../../paths.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { navigationOf } from "../../shell/navigation.ts";

/** The first page is the first one in the navigation of the person. */
export const overviewRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/",
  beforeLoad: async () => {
    const me = await queryClient.ensureQueryData(meQuery());
    const [first] = navigationOf(rolesOf(me)).flatMap(({ items }) => items);
    throw redirect({ href: first?.to ?? paths.merchants() });
  },
});
