// Writes src/sql/schema.sql (what the migrations make, so that a migration reads as a diff) and adds new functions to
// src/sql/function-signatures.txt. With a URL in HOLDFAST_DATABASE_URL it uses a scratch database there, else the embedded server.
// A signature is never taken off the list: an older node beside a newer schema still calls it. Until the first release,
// --unreleased writes the list anew.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const schemaFile = join(root, 'src', 'sql', 'schema.sql')
const signaturesFile = join(root, 'src', 'sql', 'function-signatures.txt')
const dumpQuery = readFileSync(join(root, 'scripts', 'dump-schema.sql'), 'utf8')
const signaturesQuery = readFileSync(join(root, 'scripts', 'list-functions.sql'), 'utf8')

spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { stdio: 'inherit' })
const { migrate } = await import('../dist/postgres/migrate.js')

async function withServer(work) {
  const url = process.env.HOLDFAST_DATABASE_URL
  if (url) return work(url)
  const { startEmbeddedPostgres } = await import('../dist/postgres/embedded/start-embedded-postgres.js')
  const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-schema-'))
  const server = await startEmbeddedPostgres({ dataDir })
  try {
    return await work(server.connectionString)
  } finally {
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function query(url, text) {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    // Names are written with their schema unless the path leads there.
    await client.query('set search_path = pg_catalog')
    return (await client.query({ text, rowMode: 'array' })).rows.map(([line]) => line)
  } finally {
    await client.end()
  }
}

await withServer(async (serverUrl) => {
  const database = `holdfast_schema_${process.pid}`
  await query(serverUrl, `create database ${database}`)
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  try {
    await migrate(url.href)
    const lines = await query(url.href, dumpQuery)
    const header =
      '-- What the migrations make, by scripts/dump-schema.mjs. Not run by anything: read its diffs.\n'
    writeFileSync(schemaFile, `${header}${lines.join('\n')}\n`)
    const present = await query(url.href, signaturesQuery)
    const isNew = process.argv.includes('--unreleased') || !existsSync(signaturesFile)
    const listed = isNew ? [] : readFileSync(signaturesFile, 'utf8').split('\n').filter(Boolean)
    const missing = listed.filter((signature) => !present.includes(signature))
    if (missing.length > 0) {
      process.stderr.write(
        `These functions are gone, but older nodes still call them:\n${missing.join('\n')}\n`,
      )
      process.exitCode = 1
      return
    }
    writeFileSync(
      signaturesFile,
      `${[...new Set([...listed, ...present])].toSorted((a, b) => (a < b ? -1 : 1)).join('\n')}\n`,
    )
  } finally {
    await query(serverUrl, `drop database ${database} with (force)`)
  }
})
