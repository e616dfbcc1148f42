import type { z } from 'zod'
import type { HoldfastClient } from '../../client/holdfast-client.ts'
import type { Problem } from '../../core/problem.ts'
import type { HiddenComparison } from './compare.ts'

export type Fields = Readonly<Record<string, unknown>>

/** An existing object, as the API shows it. */
export interface Existing {
  readonly name: string
  /** Its fields in the format of the file. */
  readonly fields: Fields
}

/** A kind of object that a file can declare. */
export interface Kind {
  /** The name of its list in the file: `endpoints`. */
  readonly list: string
  /** The singular, for messages. */
  readonly noun: string
  readonly schema: z.ZodType<{ readonly name: string }>
  /** Fields whose inner fields the API changes individually; every other field is replaced completely. */
  readonly merged: readonly string[]
  /** Whether texts may be references: `env:NAME` or `file:path`. */
  readonly hasReferences: boolean
  read(client: HoldfastClient): Promise<readonly Existing[]>
  /** Checks what the schema can't express, before anything is changed. */
  check?(fields: Fields, context: CheckContext): Promise<readonly Problem[]>
  create(client: HoldfastClient, name: string, fields: Fields): Promise<string | null>
  update(client: HoldfastClient, name: string, changes: Fields): Promise<string | null>
  delete(client: HoldfastClient, name: string): Promise<void>
  /** Asks the server to compare hidden values. */
  compareHidden?(
    client: HoldfastClient,
    name: string,
    wanted: Fields,
    existing: Fields,
  ): Promise<HiddenComparison>
  /** Digests of the hidden values, by path. */
  digests?(client: HoldfastClient, name: string): Promise<Readonly<Record<string, string>>>
  /** The fields for an exported file, without defaults. */
  toFile(fields: Fields, digests?: Readonly<Record<string, string>>): Fields
}

export interface CheckContext {
  readonly client: HoldfastClient
  /** Names of existing endpoints, and of those that the file declares. */
  readonly endpoints: { readonly existing: readonly string[]; readonly declared: readonly string[] }
  readonly isNew: boolean
}

/** The fields that a user can set; the rest of what the API shows is state. */
export function writable(shown: { readonly name: string }, shape: Fields): Existing {
  const fields = Object.fromEntries(Object.entries(shown).filter(([field]) => Object.hasOwn(shape, field)))
  return { name: shown.name, fields }
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}
