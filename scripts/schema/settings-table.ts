import { siteSettings } from '../../src/core/settings/site-settings.ts'
import { describedSchema } from './generated.ts'

const begin = '<!-- settings: written by `npm run schema` -->'
const end = '<!-- end of settings -->'

/** Returns `docs/settings.md` with the current table of settings. */
export function withSettingsTable(text: string): string {
  const [before, rest] = text.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error('docs/settings.md has lost its marks')
  return `${before}${begin}\n${settingsTable()}\n${end}${after}`
}

function settingsTable(): string {
  const rows = Object.entries(siteSettings).map(([name, { schema, fallback, unit, description, effect }]) => {
    const shown = `\`${JSON.stringify(fallback).replaceAll('|', '\\|')}\``
    return `| \`${name}\` | ${rangeOf(describedSchema(schema))} | ${unit ?? ''} | ${shown} | ${description} Takes effect: ${effect}. |`
  })
  return ['| name | values | unit | default | |', '| --- | --- | --- | --- | --- |', ...rows].join('\n')
}

function rangeOf(schema: { type?: string; minimum?: number; maximum?: number; enum?: string[] }): string {
  if (schema.minimum !== undefined && schema.maximum !== undefined)
    return `${schema.minimum}–${schema.maximum}`
  if (schema.enum !== undefined) return schema.enum.map((word) => `\`${word}\``).join(', ')
  return schema.type === 'object' ? 'object' : 'text'
}
