import { expect, it } from 'vitest'
import { readSources, withoutBodies } from './source-files.ts'

/** They touch no table, or are for the owner alone. */
const ownRights: ReadonlySet<string> = new Set(
  ['format_id', 'parse_id', 'grant_app', 'grant_monitor', 'grant_admin', 'revoke_access'].map(
    (name) => `holdfast.${name}`,
  ),
)

it('every function that users call runs with its owner’s rights and a fixed search path', async () => {
  const { sources } = await readSources()
  const loose = sources.filter(
    ({ kind, name, sql }) =>
      kind === 'function' &&
      name.startsWith('holdfast.') &&
      !ownRights.has(name) &&
      !withoutBodies(sql).includes('security definer set search_path = pg_catalog, pg_temp'),
  )
  // Without them a role that holdfast.grant_admin was given for can't call it: see "A function that users call" in src/sql/README.md.
  expect(loose.map(({ path }) => path)).toEqual([])
})
