import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HoldfastError } from '../../core/errors.ts'

export type SourceKind = 'function' | 'view' | 'trigger'

/** One file of `src/sql/functions`: the current text of one function, view or trigger. */
export interface SqlSource {
  readonly kind: SourceKind
  /** Includes the schema: `holdfast.send`. A trigger has its table's schema: `holdfast_internal.endpoints_note_change`. */
  readonly name: string
  /** The table of a trigger, including its schema. */
  readonly table: string | null
  /** The file, relative to the folder. */
  readonly path: string
  readonly sql: string
  readonly checksum: string
}

export interface SourceSet {
  /** Ordered so that each follows the sources that must exist when it is created. */
  readonly sources: readonly SqlSource[]
  /** Checksum of all sources together. */
  readonly checksum: string
  /** Increases with every change (`npm run schema` counts it), so that a process of an older version doesn't replace newer functions with its own. */
  readonly revision: number
}

/** `src/sql/functions` beside the sources, `dist/sql/functions` beside the build. */
export const defaultFunctionsDir = fileURLToPath(new URL('../../sql/functions', import.meta.url))

const revisionFile = 'revision.json'

const readSets = new Map<string, Promise<SourceSet>>()

/** Read once per process: the package's content doesn't change while it runs. */
export function readSources(folder: string = defaultFunctionsDir): Promise<SourceSet> {
  if (folder !== defaultFunctionsDir) return readFolder(folder)
  let set = readSets.get(folder)
  if (set === undefined) readSets.set(folder, (set = readFolder(folder)))
  return set
}

async function readFolder(folder: string): Promise<SourceSet> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.sql'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort()
  const sources = await Promise.all(
    paths.map(async (path) => parseSource(path, await readFile(join(folder, path), 'utf8'))),
  )
  assertUnique(sources)
  const lines = sources.map(({ kind, name, checksum }) => `${kind} ${name} ${checksum}`).sort()
  const { revision } = JSON.parse(await readFile(join(folder, revisionFile), 'utf8')) as { revision: number }
  return { sources: inOrder(sources), checksum: hash(lines.join('\n')), revision }
}

const head =
  /^create or replace (?<kind>function|view|trigger) (?:(?<schema>holdfast|holdfast_internal)\.)?(?<name>\w+)/m
const triggerTable = / on (?<schema>holdfast|holdfast_internal)\.(?<table>\w+)/

/** @param text The file's content, whatever its line endings: the same source has the same checksum everywhere. */
export function parseSource(path: string, text: string): SqlSource {
  const sql = text.replaceAll('\r\n', '\n')
  const outside = withoutBodies(sql)
  const heads = outside.match(new RegExp(head.source, 'gm')) ?? []
  const { kind, schema, name } = head.exec(outside)?.groups ?? {}
  const fileName = path.split('/').at(-1)?.slice(0, -'.sql'.length)
  const table = kind === 'trigger' ? triggerTable.exec(outside)?.groups : undefined
  const owner = schema ?? table?.['schema']
  if (heads.length !== 1 || kind === undefined || owner === undefined || name !== fileName) {
    throw new HoldfastError(
      'configuration_invalid',
      `${path} must hold exactly one \`create or replace function|view|trigger\` in the schema holdfast or holdfast_internal, ` +
        `named like the file.`,
      { path },
    )
  }
  return {
    kind: kind as SourceKind,
    name: `${owner}.${name}`,
    table: table === undefined ? null : `${table['schema']}.${table['table']}`,
    path,
    sql,
    checksum: hash(sql),
  }
}

/** The statement without comments and without dollar-quoted bodies, which PostgreSQL parses only when they run. */
export function withoutBodies(sql: string): string {
  return withoutComments(sql).replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
}

export function withoutComments(sql: string): string {
  return sql.replaceAll(/--.*$/gm, '')
}

/** All names of our two schemas that occur in a text. */
export function namesIn(sql: string): Set<string> {
  return new Set(sql.match(/\b(?:holdfast|holdfast_internal)\.\w+/g))
}

function assertUnique(sources: readonly SqlSource[]): void {
  const paths = new Map<string, string>()
  for (const { name, path } of sources) {
    const other = paths.get(name)
    if (other !== undefined) {
      throw new HoldfastError('configuration_invalid', `${other} and ${path} both define ${name}.`, { name })
    }
    paths.set(name, path)
  }
}

/** Objects named outside a body (argument types, a view's query, an SQL expression) must be created first. */
function inOrder(sources: readonly SqlSource[]): SqlSource[] {
  const byName = new Map(sources.map((source) => [source.name, source]))
  const ordered = new Set<SqlSource>()
  const visit = (source: SqlSource, path: readonly SqlSource[]): void => {
    if (ordered.has(source)) return
    if (path.includes(source)) {
      const names = [...path, source].map(({ name }) => name).join(' → ')
      throw new HoldfastError('configuration_invalid', `These need each other to be created: ${names}.`)
    }
    for (const name of namesIn(withoutBodies(source.sql))) {
      const needed = byName.get(name)
      if (needed !== undefined && needed !== source) visit(needed, [...path, source])
    }
    ordered.add(source)
  }
  for (const source of sources) visit(source, [])
  return [...ordered]
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
