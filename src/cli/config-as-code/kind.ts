import type { z } from 'zod'
import type { HoldfastClient } from '../../client/holdfast-client.ts'
import type { Problem } from '../../core/problem.ts'
import type { HiddenComparison } from './compare.ts'

export type Fields = Readonly<Record<string, unknown>>

/** Something that exists, as the API shows it. */
export interface Existing {
  readonly name: string
  /** In the words of the file: what could have been written to get this. */
  readonly fields: Fields
}

/** A kind of thing that a file can declare. What is new to the API becomes one more of these. */
export interface Kind {
  /** The list in the file: `endpoints`. */
  readonly list: string
  /** One of them, for a sentence. */
  readonly noun: string
  readonly schema: z.ZodType<{ readonly name: string }>
  /** Fields whose inner fields the API changes one by one; every other field is replaced whole. */
  readonly merged: readonly string[]
  /** Whether strings may be `env:NAME` or `file:path`. */
  readonly hasReferences: boolean
  read(client: HoldfastClient): Promise<readonly Existing[]>
  /** What the schema can't say, before anything is changed. */
  check?(fields: Fields, context: CheckContext): Promise<readonly Problem[]>
  create(client: HoldfastClient, name: string, fields: Fields): Promise<string | null>
  update(client: HoldfastClient, name: string, changes: Fields): Promise<string | null>
  delete(client: HoldfastClient, name: string): Promise<void>
  /** What the server says of the values that it doesn't show. */
  compareHidden?(
    client: HoldfastClient,
    name: string,
    wanted: Fields,
    existing: Fields,
  ): Promise<HiddenComparison>
  /** Digests of the values that the server doesn't show, by their place. */
  digests?(client: HoldfastClient, name: string): Promise<Readonly<Record<string, string>>>
  /** Without what goes without saying. */
  toFile(fields: Fields, digests?: Readonly<Record<string, string>>): Fields
}

export interface CheckContext {
  readonly client: HoldfastClient
  /** What exists, and what the file declares beside it. */
  readonly endpoints: { readonly existing: readonly string[]; readonly declared: readonly string[] }
  readonly isNew: boolean
}

/** What a person can write of something that the API shows: the rest is state. */
export function writable(shown: { readonly name: string }, shape: Fields): Existing {
  const fields = Object.fromEntries(Object.entries(shown).filter(([field]) => Object.hasOwn(shape, field)))
  return { name: shown.name, fields }
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}
