// Configuration in a file: preview, apply, apply again, change, export. node examples/config-as-code/run.mjs
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startHoldfast } from '../start-holdfast.mjs'

process.env.CRM_SIGNING_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const holdfast = await startHoldfast()
const file = join(holdfast.folder, 'holdfast.yaml')
await copyFile(new URL('holdfast.yaml', import.meta.url), file)

/** `+ endpoint crm` and the like: what the command would change, or has changed. */
async function apply(...options) {
  const { changes } = JSON.parse(await holdfast.run('apply', '-f', file, '--json', ...options))
  return changes.map(({ action, kind, name }) => `${action} ${kind} ${name}`)
}

console.log('a dry run says what would change:')
for (const change of await apply('--dry-run')) console.log(`  ${change}`)

console.log(`applied: ${(await apply()).length} changes`)
console.log(`applied again: ${(await apply()).length} changes`)

await writeFile(file, (await readFile(file, 'utf8')).replace('ratePerSecond: 50', 'ratePerSecond: 20'))
console.log(`after an edit: ${(await apply()).join(', ')}`)

const exported = await holdfast.run('export')
console.log(
  `the export has the new rate: ${exported.includes('ratePerSecond: 20')}, and the secret: ${exported.includes('whsec_')}`,
)
await holdfast.stop()
