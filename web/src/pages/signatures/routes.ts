import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { signedInRoute } from "../../routing/root.tsx";
import { searchParams, text } from "../../routing/search.ts";

/** Ids only: what is checked is never in the address. */
const doctorSearch = searchParams({ ownerId: text, deliveryId: text, attempt: text });

export const doctorRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/signature-doctor",
  validateSearch: doctorSearch,
  component: lazyRouteComponent(() => import("./doctor-page.tsx"), "DoctorPage"),
});
