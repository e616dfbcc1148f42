import type { Pool } from 'pg'

/** Secrets that every endpoint of the run has, and that nobody should ever read anywhere. */
export const tortureSecrets = {
  token: 'torture-canary-token-4f1d9a',
  header: 'torture-canary-header-77b02c',
  signing: `whsec_${Buffer.from('torture-canary-signing-secret-32').toString('base64')}`,
} as const

const spellings = Object.values(tortureSecrets).flatMap((secret) => [
  secret,
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('hex'),
])

/** What it finds in a text, named by where the text comes from. */
export function leaksIn(where: string, texts: Iterable<string>): string[] {
  const found: string[] = []
  for (const text of texts) {
    const spelling = spellings.find((each) => text.includes(each))
    if (spelling !== undefined) found.push(`${where}: ${spelling.slice(0, 24)}`)
  }
  return found
}

/** Every row of every table, as text; the bytes of encrypted ones as hex. Returns how many were looked at, and what was found. */
export async function leaksInTables(pool: Pool): Promise<{ checked: number; leaks: string[] }> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'holdfast_internal'`,
  )
  let checked = 0
  const leaks: string[] = []
  const patterns = spellings.map((spelling) => `%${spelling.replaceAll('_', '\\_')}%`)
  for (const { name } of tables) {
    const { rows } = await pool.query<{ checked: number; leaking: number }>(
      `select count(*)::int as checked, (count(*) filter (where row::text like any ($1::text[])))::int as leaking from only ${name} as row`,
      [patterns],
    )
    checked += rows[0]?.checked ?? 0
    if ((rows[0]?.leaking ?? 0) > 0) leaks.push(`${name}: ${rows[0]?.leaking} rows`)
  }
  return { checked, leaks }
}
