// The three programs of this folder, one after the other, each on a database of its own: node examples/first-steps/run.mjs
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { startHoldfast } from '../start-holdfast.mjs'

const holdfast = await startHoldfast()
const client = new Client({ connectionString: holdfast.databaseUrl })
await client.connect()

for (const name of ['http-endpoint', 'function-endpoint', 'transactional-outbox']) {
  const database = name.replaceAll('-', '_')
  await client.query(`create database ${database}`)
  const databaseUrl = new URL(holdfast.databaseUrl)
  databaseUrl.pathname = database
  console.log(`${name}.mjs`)
  const { status } = spawnSync(process.execPath, [fileURLToPath(new URL(`${name}.mjs`, import.meta.url))], {
    env: {
      ...process.env,
      HOLDFAST_DATABASE_URL: databaseUrl.href,
      HOLDFAST_ENCRYPTION_KEY_FILE: holdfast.encryptionKeyFile,
    },
    stdio: 'inherit',
  })
  if (status !== 0) process.exitCode = 1
}

await client.end()
await holdfast.stop()
