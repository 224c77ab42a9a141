import type { Api } from "../api";
import type { Document, DocumentCheck, DocumentSchema, Documents } from "../generated/api";

/** Which document. */
export interface Key {
  /** agent/<name>, device/<path> or shared. */
  owner: string;
  name: string;
}

/** The form of a text. */
export type Type = Document["type"];

/** The forms, the usual one first. */
export const types: readonly Type[] = ["yaml", "json", "csv", "text"];

/** The documents' part of the API. */
export const listDocuments = async (api: Api, owner = "") =>
  (await api.get<Documents>("documents", owner ? { owner } : {})).documents;

export const readDocument = (api: Api, key: Key, version?: number) =>
  api.get<Document>("documents/text", { ...key, ...(version ? { version } : {}) });

export const readHistory = async (api: Api, key: Key) =>
  (await api.get<Documents>("documents/history", { ...key })).documents;

export const readSchema = async (api: Api, key: Key) =>
  (await api.get<DocumentSchema>("documents/schema", { ...key })).schema;

const about = (route: string, key: Key) => `documents/${route}?${new URLSearchParams({ ...key })}`;

export const checkDocument = (api: Api, key: Key, type: Type, text: string) =>
  api.send<DocumentCheck>("POST", about("check", key), { text, type });

/** A text to write. */
export interface Draft {
  type: Type;
  text: string;
  note: string;
  /** The version that it was made from; 0 for a new document. */
  expect: number;
}

export const writeDocument = (api: Api, key: Key, draft: Draft) =>
  api.send<Document>("PUT", about("text", key), draft);

export const rollBack = (api: Api, key: Key, version: number, expect: number) =>
  api.send<Document>("POST", about("rollback", key), { version, expect });

export const deleteDocument = (api: Api, key: Key, expect: number) =>
  api.send("DELETE", `${about("text", key)}&expect=${expect}`);
