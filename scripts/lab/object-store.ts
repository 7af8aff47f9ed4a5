/** Stands for etcd: Kubernetes objects as files of one folder that all API server stand-ins of a lab share. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/** A JSON object. */
export type JsonObject = { readonly [name: string]: JsonValue | undefined };
/** Anything that JSON can say. */
type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** True for a JSON object, false for arrays and everything else. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects by the path of their URL. */
export class ObjectStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  #file(path: string): string {
    return `${this.#folder}/${encodeURIComponent(path)}`;
  }

  /** The object at `/api/v1/namespaces/NS/configmaps/NAME` and such; undefined when there is none. */
  get(path: string): JsonObject | undefined {
    try {
      const value: unknown = JSON.parse(readFileSync(this.#file(path), 'utf8'));
      return isJsonObject(value) ? value : undefined;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Creates or replaces an object, in one step for readers. */
  put(path: string, object: JsonObject): void {
    const temporary = `${this.#folder}/.${process.pid}-${encodeURIComponent(path)}`;
    writeFileSync(temporary, JSON.stringify(object));
    renameSync(temporary, this.#file(path));
  }
}
