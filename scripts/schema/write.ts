// `npm run schema`: writes what is derived from src/sql, so that a change reads as a diff.
//   src/sql/functions/operate/known_settings.sql, endpoints/known_presets.sql, endpoints/endpoint_*.sql
//                                         what SQL must know of the settings and endpoints in TypeScript
//   docs/settings.md                      the table of settings
//   src/sql/schema.sql                    the tables that the files make
//   src/sql/promised.txt                  the functions that users and older nodes call; lines are only ever added
//   src/sql/functions/revision.json       counts the changes of functions, views and triggers
// With a URL in HOLDFAST_DATABASE_URL it uses a scratch database there, else the embedded server.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { startEmbeddedPostgres } from '../../src/postgres/embedded/start-embedded-postgres.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { defaultFunctionsDir, readSources } from '../../src/postgres/sources/source-files.ts'
import { describeSchema } from './describe.ts'
import { generatedSources } from './generated.ts'
import { isKept, parsePromises, printPromises } from './promises.ts'
import { withSettingsTable } from './settings-table.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const schemaFile = join(root, 'src/sql/schema.sql')
const promisesFile = join(root, 'src/sql/promised.txt')
const revisionFile = join(defaultFunctionsDir, 'revision.json')

async function withServer<Result>(work: (url: string) => Promise<Result>): Promise<Result> {
  const url = process.env['HOLDFAST_DATABASE_URL']
  if (url !== undefined) return work(url)
  const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-schema-'))
  const server = await startEmbeddedPostgres({ dataDir })
  try {
    return await work(server.connectionString)
  } finally {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Increments the revision once for each change of the content, however often this runs. */
async function countRevision(): Promise<void> {
  const { checksum } = await readSources()
  const last = JSON.parse(await readFile(revisionFile, 'utf8')) as { revision: number; checksum: string }
  if (last.checksum === checksum) return
  await writeFile(revisionFile, `${JSON.stringify({ revision: last.revision + 1, checksum }, null, 2)}\n`)
}

async function writeDescription(url: string): Promise<void> {
  const { dump, ...present } = await withClient(url, (client) => describeSchema(client, root))
  const header =
    '-- What src/sql makes, written by `npm run schema`. Nothing runs this file: read its diffs.\n'
  await writeFile(schemaFile, `${header}${dump.join('\n')}\n`)
  const listed = parsePromises(await readFile(promisesFile, 'utf8'))
  const gone = [
    ...listed.promisedToUsers.filter((line) => !isKept(line, present.promisedToUsers)),
    ...listed.promisedToNodes.filter((line) => !present.signatures.includes(line)),
  ]
  await writeFile(promisesFile, printPromises(listed, present))
  if (gone.length > 0) {
    process.exitCode = 1
    process.stderr.write(
      `These are promised and gone, or have another signature. Keep the old one beside the new one:\n${gone.join('\n')}\n`,
    )
  }
}

for (const [path, sql] of generatedSources()) await writeFile(join(defaultFunctionsDir, path), sql)
const settingsPage = join(root, 'docs/settings.md')
await writeFile(settingsPage, withSettingsTable(await readFile(settingsPage, 'utf8')))
await countRevision()
await withServer(async (serverUrl) => {
  const database = `holdfast_schema_${process.pid}`
  await withClient(serverUrl, (client) => client.query(`create database ${database}`))
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  try {
    await migrate(url.href)
    await writeDescription(url.href)
  } finally {
    await withClient(serverUrl, (client) => client.query(`drop database ${database} with (force)`))
  }
})
