import { useSuspenseQuery } from "@tanstack/react-query";
import { read } from "./read.ts";
import type { Grant, Me } from "./schema.d.ts";

export type Role = Grant["role"];

/** The signed-in person. Every page below the sign-in page has loaded it before. */
export const meQuery = () => ({ ...read("/api/me"), staleTime: 60_000 });

export const useMe = (): Me => useSuspenseQuery(meQuery()).data;

/** The roles of a person, on which the navigation depends. What is permitted is decided by the service, request by request. */
export const rolesOf = ({ grants }: Me): readonly Role[] => [...new Set(grants.map(({ role }) => role))];

/** True if the person has one of these roles, so that a button is worth showing. The service decides what it may do. */
export const useHasRole = (...roles: readonly Role[]): boolean =>
  rolesOf(useMe()).some((role) => roles.includes(role));
