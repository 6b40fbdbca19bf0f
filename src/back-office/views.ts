import { type Static, Type } from "typebox";
import { changeView, createView, listViews, removeView, type View } from "../people/views.ts";
import { fromTypeId, toTypeId } from "../platform/ids.ts";
import { isProblem, notFound } from "../platform/wire/problems.ts";
import { dateTime, idField, NoParameters, pageOf } from "../platform/wire/schemas.ts";
import {
  type Admission,
  andPartner,
  type BackOfficeCaller,
  type BackOfficeRoute,
  everyone,
  route,
} from "./access.ts";

const tag = "Views";
/** Also support, which changes nothing else: a view is its owner's own. */
const people: Admission = [...andPartner(everyone), "support"];

const fields = {
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    format: "text",
    description: "Name that its owner gives it, unique among the owner's views of the page.",
  }),
  page: Type.String({
    pattern: "^[a-z][a-z0-9-]{0,99}$",
    description: "The page that it belongs to, such as `orders`. The service gives it no meaning.",
  }),
  query: Type.String({
    maxLength: 2_000,
    format: "text",
    description:
      "The query string of the page with its filters, without the question mark. Empty: no filters. The service gives it no meaning.",
  }),
};

const ViewSchema = Type.Object(
  {
    id: idField("view", "Id of the view, set by the service."),
    ...fields,
    createdAt: dateTime("When it was created."),
    updatedAt: dateTime("When it was last changed."),
  },
  {
    title: "View",
    description: "Filters of a list that a caller keeps. Only this caller sees and changes them.",
  },
);

const ViewIdParams = Type.Object({ id: Type.String({ description: "Id of the view." }) });

const toWireView = ({ id, name, page, query, createdAt, updatedAt }: View): Static<typeof ViewSchema> => ({
  id: toTypeId("view", id),
  name,
  page,
  query,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
});

/** The owner of what a caller keeps. Programs with `OPERATOR_TOKEN` share theirs. */
const ownerOf = ({ id }: BackOfficeCaller): string => id ?? "operator";

/** Saved views of lists (docs/design/console.md, "Saved views"). */
export const viewRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/views",
    operationId: "listViews",
    admits: people,
    tag,
    summary: "List your saved views",
    description: "Those of the person or the token that asks, by name. At most 50, all on one page.",
    query: NoParameters,
    responses: { 200: { description: "The views.", schema: pageOf(ViewSchema, "ViewPage") } },
    problems: ["validation-failed"],
    handle: async ({ caller }, { context }) => {
      const views = await listViews(context.db, ownerOf(caller));
      return { status: 200, body: { data: views.map(toWireView), nextCursor: null } };
    },
  }),
  route({
    method: "POST",
    path: "/api/views",
    operationId: "createView",
    admits: people,
    tag,
    summary: "Save a view",
    description: "Keeps the filters of a list under a name.",
    body: Type.Object(fields, { title: "ViewRequest", description: "A view to keep." }),
    responses: { 201: { description: "The view.", schema: ViewSchema } },
    problems: ["validation-failed", "limit-reached"],
    handle: async ({ caller, body, by }, { context }) => {
      const view = await createView(context, ownerOf(caller), body, by);
      return isProblem(view) ? view : { status: 201, body: toWireView(view) };
    },
  }),
  route({
    method: "PATCH",
    path: "/api/views/{id}",
    operationId: "updateView",
    admits: people,
    tag,
    summary: "Change a saved view",
    params: ViewIdParams,
    body: Type.Partial(Type.Object(fields), {
      title: "ViewUpdate",
      description: "Changes of a view. Absent fields keep their values.",
    }),
    responses: { 200: { description: "The changed view.", schema: ViewSchema } },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, body, by }, { context }) => {
      const id = fromTypeId("view", params.id);
      if (id === null) return notFound("view");
      const view = await changeView(context, ownerOf(caller), id, body, by);
      return isProblem(view) ? view : { status: 200, body: toWireView(view) };
    },
  }),
  route({
    method: "DELETE",
    path: "/api/views/{id}",
    operationId: "deleteView",
    admits: people,
    tag,
    summary: "Delete a saved view",
    params: ViewIdParams,
    responses: { 204: { description: "The view is deleted." } },
    problems: ["not-found"],
    handle: async ({ caller, params, by }, { context }) => {
      const id = fromTypeId("view", params.id);
      return id === null
        ? notFound("view")
        : ((await removeView(context, ownerOf(caller), id, by)) ?? { status: 204 });
    },
  }),
];
