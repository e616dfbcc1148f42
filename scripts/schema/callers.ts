import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  namesIn,
  readSources,
  type SqlSource,
  withoutComments,
} from '../../src/postgres/sources/source-files.ts'

/** Names of our two schemas in the TypeScript sources: what a node, worker, SDK or CLI of this version calls. */
export async function namesInTypeScript(root: string): Promise<Set<string>> {
  const entries = await readdir(join(root, 'src'), { recursive: true, withFileTypes: true })
  const names = new Set<string>()
  for (const entry of entries) {
    if (!entry.isFile() || !entry.name.endsWith('.ts') || entry.name.endsWith('.test.ts')) continue
    const text = await readFile(join(entry.parentPath, entry.name), 'utf8')
    for (const name of namesIn(text.replaceAll(/^ *(?:\/\/|\*|\/\*).*$/gm, ''))) names.add(name)
  }
  return names
}

/**
 * Functions that are not called, directly or indirectly, by users, TypeScript, a trigger or a used function.
 * @param promised Lines of functions that are kept for older nodes.
 */
export async function unusedFunctions(root: string, promised: readonly string[]): Promise<string[]> {
  const { sources } = await readSources()
  const byName = new Map(sources.map((source) => [source.name, source]))
  const called = await namesInTypeScript(root)
  for (const line of promised) for (const name of namesIn(line)) called.add(name)
  const isRoot = ({ kind, name }: SqlSource) =>
    kind === 'trigger' || name.startsWith('holdfast.') || called.has(name)
  const used = new Set<SqlSource>()
  const visit = (source: SqlSource): void => {
    if (used.has(source)) return
    used.add(source)
    for (const name of namesIn(withoutComments(source.sql))) {
      const called = byName.get(name)
      if (called !== undefined) visit(called)
    }
  }
  for (const source of sources) if (isRoot(source)) visit(source)
  return sources.filter((source) => !used.has(source)).map(({ name }) => name)
}
