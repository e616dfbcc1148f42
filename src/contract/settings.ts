import { z } from 'zod'
import { type SiteSettingName, siteSettingNames, siteSettings } from '../core/settings/site-settings.ts'
import { defineOperation } from './define-operation.ts'
import { because, listOf, timestamp, wholeListQuery } from './shapes.ts'

const tag = 'Settings'

const settingName = z.enum(siteSettingNames as readonly [SiteSettingName, ...SiteSettingName[]], {
  error: 'must be the name of a setting',
})

const setting = z
  .object({
    name: settingName,
    value: z.unknown(),
    default: z.unknown(),
    isDefault: z.boolean(),
    unit: z.string().nullable().meta({ description: 'The unit of a number.' }),
    description: z.string(),
    effect: z.string().meta({ description: 'Where a change takes effect, and how soon.' }),
    variable: z.string().meta({ description: 'The environment variable that overrides it.' }),
    field: z.string().meta({ description: 'The field of the config file that overrides it.' }),
    pinned: z.object({ source: z.string(), node: z.string() }).nullable().meta({
      description:
        'Where the node takes the value from: a flag, its environment, a config file or its options. The value can be changed only there.',
    }),
    changedAt: timestamp.nullable(),
    changedBy: z.string().nullable(),
  })
  .meta({ id: 'Setting' })

const everySetting = z.object({ data: z.array(setting) })

/** Each setting has the schema that the database checks too; null restores the default. */
const changes = z
  .strictObject({
    ...(Object.fromEntries(
      Object.entries(siteSettings).map(([name, { schema, description }]) => [
        name,
        (schema as z.ZodType).nullable().optional().meta({ description }),
      ]),
    ) as { [Name in SiteSettingName]: z.ZodOptional<z.ZodNullable<(typeof siteSettings)[Name]['schema']>> }),
    ...because,
  })
  .refine((given) => Object.keys(given).some((name) => name !== 'reason'), {
    error: 'must name at least one setting',
  })
  .meta({ id: 'SettingChanges', examples: [{ dead_letter_retention_days: 90, max_pending: null }] })

export const settingOperations = {
  list: defineOperation({
    id: 'listSettings',
    method: 'GET',
    path: '/v1/settings',
    tag,
    summary: 'List the site-wide settings',
    permission: 'read',
    query: z.strictObject(wholeListQuery),
    result: listOf(setting),
  }),
  update: defineOperation({
    id: 'updateSettings',
    method: 'PATCH',
    path: '/v1/settings',
    tag,
    summary: 'Change site-wide settings without a restart',
    description:
      'All changes are applied or none. `null` restores the default. Nodes and workers apply a change within seconds.',
    permission: 'administer',
    body: changes,
    result: everySetting,
    errors: ['setting_pinned', 'invalid_setting'],
  }),
}
