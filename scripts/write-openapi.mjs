// Writes openapi.json at the root: the description of the API, committed so that a change reads as a diff. Also writes what the dashboard's forms
// need of it to dashboard/forms.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { alertRuleFields, endpointFields, settingFields } from './endpoint-fields.mjs'
import { fieldDescriptionsModule } from './field-descriptions.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const descriptions = join('src', 'contract', 'field-descriptions.ts')
writeFileSync(join(root, descriptions), fieldDescriptionsModule(root))
format(descriptions)
// Imported after the field descriptions were written, which it reads.
const { describeApi } = await import('../src/contract/openapi.ts')
const document = JSON.parse(JSON.stringify(describeApi()))
write('openapi.json', document)
write(join('dashboard', 'forms', 'endpoint-fields.json'), endpointFields(document))
write(join('dashboard', 'forms', 'setting-fields.json'), settingFields(document))
write(join('dashboard', 'forms', 'alert-rule-fields.json'), alertRuleFields(document))

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
