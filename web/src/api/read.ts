import { queryOptions } from "@tanstack/react-query";
import type { ClientPathsWithMethod, MaybeOptionalInit, MethodResponse } from "openapi-fetch";
import { api, dataOf } from "./client.ts";
import type { paths } from "./schema.d.ts";

type RequiredKeys<Type> = { [Key in keyof Type]-?: object extends Pick<Type, Key> ? never : Key }[keyof Type];

/** As the client's methods: options may be left out if nothing in them is required. */
type InitParam<Init> =
  RequiredKeys<Init> extends never
    ? [(Init & { [key: string]: unknown })?]
    : [Init & { [key: string]: unknown }];

type GetPath = ClientPathsWithMethod<typeof api, "get">;

/**
 * What TanStack Query needs to read something from the API: `useQuery(read("/api/orders/{id}", { params }))`. Queries of
 * one route share the first part of their key, so `[path]` names all of them.
 */
export function read<Path extends GetPath, Init extends MaybeOptionalInit<paths[Path], "get">>(
  path: Path,
  ...init: InitParam<Init>
) {
  type Answer = MethodResponse<typeof api, "get", Path, Init>;
  const [options] = init;
  return queryOptions<Answer, Error, Answer>({
    queryKey: [path, options?.["params"] ?? {}],
    // TypeScript cannot see that a spread keeps the type of a generic: the parameters and the answer are the client's.
    queryFn: async ({ signal }) =>
      (await dataOf(api.GET(path, ...([{ ...options, signal }] as never)))) as Answer,
  });
}
