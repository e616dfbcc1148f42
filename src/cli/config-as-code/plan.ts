import type { HoldfastClient } from '../../client/holdfast-client.ts'
import { changedFields, type FieldChange, type HiddenComparison } from './compare.ts'
import type { PlacedProblem } from './config-document.ts'
import { digestProblems } from './hidden-values.ts'
import type { Existing, Fields, Kind } from './kind.ts'
import { type Declared, pathText, type ReadConfig } from './read-config.ts'

export type PlannedChange =
  | { readonly action: 'create'; readonly kind: Kind; readonly name: string; readonly declared: Declared }
  | {
      readonly action: 'update'
      readonly kind: Kind
      readonly name: string
      readonly declared: Declared
      readonly changes: readonly FieldChange[]
    }
  | { readonly action: 'delete'; readonly kind: Kind; readonly name: string }

export interface PlanOptions {
  readonly prunes: boolean
  readonly setsSecrets: boolean
}

/** Computes the ordered changes that make the server match the file. Throws `invalid_file` if one of them is impossible. */
export async function makePlan(
  client: HoldfastClient,
  config: ReadConfig,
  options: PlanOptions,
): Promise<PlannedChange[]> {
  const existing = new Map<Kind, readonly Existing[]>()
  for (const kind of config.kinds) existing.set(kind, await kind.read(client))
  const changes: PlannedChange[] = []
  for (const declared of config.declared) {
    const { kind, name, fields } = declared
    const found = existing.get(kind)?.find((each) => each.name === name)
    if (found === undefined) {
      refuseDigests(config, declared, () => undefined)
      changes.push({ action: 'create', kind, name, declared })
      continue
    }
    const hidden = await kind.compareHidden?.(client, name, fields, found.fields)
    refuseDigests(config, declared, hidden)
    const differing = changedFields(fields, found.fields, kind.merged, {
      setsSecrets: options.setsSecrets,
      ...(hidden !== undefined && { hidden }),
    })
    if (differing.length > 0) changes.push({ action: 'update', kind, name, declared, changes: differing })
  }
  await refuseWhatCannotBe(client, config, changes)
  if (!options.prunes) return changes
  const named = new Set(config.declared.map(({ kind, name }) => `${kind.list} ${name}`))
  const surplus = [...config.kinds]
    .toReversed()
    .flatMap((kind) =>
      (existing.get(kind) ?? [])
        .filter(({ name }) => !named.has(`${kind.list} ${name}`))
        .map(({ name }): PlannedChange => ({ action: 'delete', kind, name })),
    )
  return [...changes, ...surplus]
}

async function refuseWhatCannotBe(
  client: HoldfastClient,
  { document, declared }: ReadConfig,
  changes: readonly PlannedChange[],
): Promise<void> {
  const problems: PlacedProblem[] = []
  const endpoints = {
    declared: declared.filter(({ kind }) => kind.list === 'endpoints').map(({ name }) => name),
    existing: changes.some(({ kind }) => kind.list === 'routes') ? await endpointNames(client) : [],
  }
  for (const change of changes) {
    if (change.action === 'delete') continue
    const { kind, declared: item } = change
    const context = { client, endpoints, isNew: change.action === 'create' }
    for (const { path, message } of (await kind.check?.(item.fields, context)) ?? []) {
      const place = [...item.path, ...path.split(/[.[\]]+/).filter((part) => part !== '')]
      problems.push({ line: document.lineOf(place), path: pathText(place), message })
    }
  }
  if (problems.length > 0) throw document.refusal(problems)
}

function refuseDigests({ document }: ReadConfig, item: Declared, hidden: HiddenComparison | undefined): void {
  if (hidden === undefined) return
  const problems = digestProblems(item.fields, hidden).map(({ path, message }) => {
    const place = [...item.path, ...path.split('.')]
    return { line: document.lineOf(place), path: pathText(place), message }
  })
  if (problems.length > 0) throw document.refusal(problems)
}

async function endpointNames(client: HoldfastClient): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of client.paginate(client.endpoints.list, { query: { limit: 1000 } }))
    names.push(name)
  return names
}

/** The value at a path as written in the file: a reference, not its value. */
export function writtenAt({ written }: Declared, path: string): unknown {
  return path.split('.').reduce<unknown>((value, part) => (value as Fields | undefined)?.[part], written)
}
