// Writes openapi.json at the root: what the API says of itself, committed so that a change of the surface reads as a diff. What the dashboard's forms
// need of it goes into dashboard/forms.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endpointFields } from './endpoint-fields.mjs'
import { fieldDescriptionsModule } from './field-descriptions.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const descriptions = join('src', 'contract', 'field-descriptions.ts')
writeFileSync(join(root, descriptions), fieldDescriptionsModule(root))
format(descriptions)
spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { stdio: 'inherit' })
const { describeApi } = await import('../dist/contract/openapi.js')
const document = JSON.parse(JSON.stringify(describeApi()))
write('openapi.json', document)
write(join('dashboard', 'forms', 'endpoint-fields.json'), endpointFields(document))

function write(file, value) {
  writeFileSync(join(root, file), `${JSON.stringify(value, null, 2)}\n`)
  format(file)
}

function format(file) {
  spawnSync(join(root, 'node_modules', '.bin', 'biome'), ['format', '--write', file], {
    cwd: root,
    stdio: 'inherit',
  })
}
