import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiProblem, isProblem } from "./problem.ts";

const RETRIES_MAX = 2;

/** A problem of the request remains one; a service that is starting, or busy, may respond to the next request. */
const isPassing = (error: Error): boolean =>
  !(error instanceof ApiProblem) || error.status === 0 || error.status === 503 || error.status === 429;

/** The roles of the person have changed since they were read: the navigation is to show those of now. */
function readRolesAgain(error: Error): void {
  if (isProblem(error, "forbidden")) void queryClient.invalidateQueries({ queryKey: ["/api/me"] });
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: readRolesAgain }),
  mutationCache: new MutationCache({ onError: readRolesAgain }),
  defaultOptions: {
    queries: {
      // A page that is shown again at once shows what it showed, and reads again if that is older.
      staleTime: 10_000,
      // In a browser that is offline, requests fail at once. By default, they would wait.
      networkMode: "always",
      refetchOnReconnect: true,
      retry: (failures, error) => isPassing(error) && failures < RETRIES_MAX && navigator.onLine,
    },
    mutations: { retry: false, networkMode: "always" },
  },
});
