import { dirname } from 'node:path'
import { z } from 'zod'
import { HoldfastError } from '../../core/errors.ts'
import { type Checked, problemsOf } from '../../core/problem.ts'
import { readText } from '../input/read-text.ts'
import { allKinds } from './all-kinds.ts'
import { ConfigDocument, type PlacedProblem } from './config-document.ts'
import type { Fields, Kind } from './kind.ts'
import { resolveReferences, type UnresolvedReference } from './references.ts'

/** One object that the file declares. */
export interface Declared {
  readonly kind: Kind
  readonly name: string
  /** Its path in the file: `endpoints`, 2. */
  readonly path: readonly PropertyKey[]
  /** The fields as written. */
  readonly written: Fields
  /** The fields with resolved references: never show them. */
  readonly fields: Fields
}

export interface ReadConfig {
  readonly document: ConfigDocument
  /** The kinds that have a list in the file, even an empty one. */
  readonly kinds: readonly Kind[]
  readonly declared: readonly Declared[]
}

/** Reads a file and validates everything that needs no server. Throws `invalid_file` with all problems. */
export async function readConfig(
  path: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<ReadConfig> {
  const name = path === '-' ? 'standard input' : path
  const text = await readText(path).catch((error: unknown) => {
    const source = path === '-' ? 'Standard input' : `The file ${path}`
    throw new HoldfastError('invalid_file', `${source} can't be read: ${(error as Error).message}.`, { path })
  })
  const document = new ConfigDocument(name, text)
  const problems: PlacedProblem[] = []
  const lists = topLevel(document, problems)
  const declared: Declared[] = []
  const folder = path === '-' ? '.' : dirname(path)
  for (const kind of allKinds) {
    const items = lists[kind.list] ?? []
    const seen = new Map<string, number>()
    for (const [index, item] of items.entries()) {
      const place = [kind.list, index]
      const found = await readItem(document, kind, item, place, { folder, environment }, problems)
      if (found === null) continue
      const line = document.lineOf(place)
      const earlier = seen.get(found.name)
      if (earlier !== undefined) {
        problems.push({
          line,
          path: `${kind.list}[${index}]`,
          message: `repeats the name "${found.name}" from line ${earlier}`,
        })
      }
      seen.set(found.name, line)
      declared.push(found)
    }
  }
  if (problems.length > 0) throw document.refusal(problems)
  return { document, declared, kinds: allKinds.filter(({ list }) => lists[list] !== undefined) }
}

function topLevel(
  document: ConfigDocument,
  problems: PlacedProblem[],
): Record<string, unknown[] | undefined> {
  const list = z.array(z.unknown(), { error: 'must be a list, each item beginning with "- name:"' })
  const shape = Object.fromEntries(allKinds.map((kind) => [kind.list, list.nullable().optional()]))
  const known = allKinds.map((kind) => kind.list).join(', ')
  // Most likely the output of a command that failed.
  if (document.value === null) {
    problems.push({ line: 1, path: '', message: `is empty; it must have at least one of the lists ${known}` })
    return {}
  }
  const parsed = z.strictObject(shape, { error: `must have the lists ${known}` }).safeParse(document.value)
  if (parsed.success) {
    return Object.fromEntries(
      Object.entries(parsed.data).map(([name, items]) => [
        name,
        items === undefined ? undefined : (items ?? []),
      ]),
    )
  }
  problems.push(...placed(document, parsed.error, [], {}, known))
  return {}
}

async function readItem(
  document: ConfigDocument,
  kind: Kind,
  item: unknown,
  path: readonly PropertyKey[],
  context: Parameters<typeof resolveReferences>[1],
  problems: PlacedProblem[],
): Promise<Declared | null> {
  const unresolved: UnresolvedReference[] = []
  const fields = kind.hasReferences ? await resolveReferences(item, context, unresolved, path) : item
  for (const { path: place, message } of unresolved) {
    problems.push({ line: document.lineOf(place), path: pathText(place), message })
  }
  const parsed = kind.schema.safeParse(fields)
  if (!parsed.success) {
    problems.push(...placed(document, parsed.error, path, { schema: kind.schema, input: fields }))
    return null
  }
  return { kind, name: parsed.data.name, path, written: item as Fields, fields: fields as Fields }
}

function placed(
  document: ConfigDocument,
  error: z.ZodError,
  base: readonly PropertyKey[],
  checked: Checked,
  known?: string,
): PlacedProblem[] {
  return error.issues.flatMap((issue) => {
    const places =
      issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path]
    const messages = problemsOf(new z.ZodError([issue]), checked)
    return places.map((place, index) => ({
      line: document.lineOf([...base, ...place]),
      path: pathText([...base, ...place]),
      message:
        issue.code === 'unrecognized_keys' && known !== undefined
          ? `is unknown; the known ones are ${known}`
          : (messages[index]?.message ?? issue.message),
    }))
  })
}

export function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '')
}
