import type { Command } from 'commander'
import type { HoldfastClient } from '../../client/holdfast-client.ts'
import { HoldfastError } from '../../core/errors.ts'
import { nearestName } from '../../core/nearest-name.ts'
import { settingFromText } from '../../core/settings/parse-setting.ts'
import {
  isSiteSettingName,
  type SiteSettingName,
  siteSettingNames,
} from '../../core/settings/site-settings.ts'
import { withApi } from '../connection/with-api.ts'
import { formatFields, textOf } from '../output/field-list.ts'

type Setting = Awaited<ReturnType<HoldfastClient['settings']['list']>>['data'][number]

export function registerSettings(program: Command): void {
  const settings = program
    .command('settings')
    .description('settings of the whole installation, changed without a restart')
  settings
    .command('list')
    .description('list the settings with their values')
    .action((_flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const { data } = await client.settings.list()
        if (output.isJson) {
          output.line(JSON.stringify({ data }))
          return
        }
        output.table(
          [
            { title: 'NAME', value: ({ name }: Setting) => name },
            { title: 'VALUE', value: (setting) => valueOf(setting) },
            {
              title: 'DEFAULT',
              value: ({ isDefault, default: fallback }) => (isDefault ? '' : textOf(fallback)),
            },
            { title: 'PINNED BY', value: ({ pinned }) => textOf(pinned?.source) },
          ],
          data,
        )
      }),
    )
  settings
    .command('get')
    .description('show one setting: its value, its meaning, and when a change takes effect')
    .argument('<name>')
    .action((name: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const setting = await find(client, known(name))
        output.data(setting, () =>
          formatFields(output, [
            ['name', setting.name],
            ['value', valueOf(setting)],
            ['default', textOf(setting.default)],
            ['meaning', setting.description],
            ['takes effect', setting.effect],
            ['variable', setting.variable],
            ['config field', setting.field],
            [
              'pinned by',
              setting.pinned === null ? '' : `${setting.pinned.source} on node ${setting.pinned.node}`,
            ],
            [
              'changed',
              setting.changedAt === null
                ? ''
                : `${textOf(setting.changedAt)} by ${textOf(setting.changedBy)}`,
            ],
          ]),
        )
      }),
    )
  settings
    .command('set')
    .description('change a setting: a number, a word, or a JSON object')
    .argument('<name>')
    .argument('<value>')
    .option(...reasonOption)
    .action((name: string, text: string, flags: Because, command: Command) =>
      change(command, known(name), settingFromText(known(name), text), flags),
    )
  settings
    .command('reset')
    .description('restore the default of a setting')
    .argument('<name>')
    .option(...reasonOption)
    .action((name: string, flags: Because, command: Command) => change(command, known(name), null, flags))
}

interface Because {
  readonly reason?: string
}

const reasonOption = ['--reason <text>', 'kept in the audit log'] as const

function change(command: Command, name: SiteSettingName, value: unknown, flags: Because): Promise<void> {
  return withApi(command, async ({ client, output }) => {
    const { data } = await client.settings.update({ body: { [name]: value, ...flags } })
    const setting = data.find((each) => each.name === name)
    if (setting === undefined) throw new Error('the answer has no such setting')
    output.data(setting, () => `${name} is ${valueOf(setting)}. Takes effect: ${setting.effect}.`)
  })
}

async function find(client: HoldfastClient, name: SiteSettingName): Promise<Setting> {
  const { data } = await client.settings.list()
  const setting = data.find((each) => each.name === name)
  if (setting === undefined) throw new Error(`the server doesn't know the setting ${name}: upgrade it`)
  return setting
}

function known(name: string): SiteSettingName {
  if (isSiteSettingName(name)) return name
  const meant = nearestName(name, siteSettingNames)
  throw new HoldfastError(
    'setting_not_found',
    `There is no setting named "${name}". ${meant === null ? 'List them with: holdfast settings list' : `Did you mean ${meant}?`}`,
    { setting: name },
  )
}

function valueOf({ value, unit }: Setting): string {
  return unit === null ? textOf(value) : `${textOf(value)} ${unit}`
}
