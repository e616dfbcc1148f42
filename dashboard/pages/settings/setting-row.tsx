import type { Field } from '../../forms/field.ts'
import { FieldGrid } from '../../forms/field-grid.tsx'
import { rawOf } from '../../forms/field-text.ts'
import { rangeText, settingText } from '../../forms/setting-fields.ts'
import type { FormState } from '../../forms/use-form.ts'
import { Icon } from '../../parts/icon.tsx'
import { Time } from '../../parts/time.tsx'
import type { Setting } from './settings-page.tsx'

/** One setting: its control, its default and range, and where its value comes from. */
export function SettingRow({
  setting,
  fields,
  state,
  canEdit,
}: {
  readonly setting: Setting
  readonly fields: readonly Field[]
  readonly state: FormState
  readonly canEdit: boolean
}) {
  const { name, unit, pinned, description, effect } = setting
  const only = fields.length === 1 ? fields[0] : undefined
  const isReadOnly = !canEdit || pinned !== null
  const defaults = { [name]: setting.default }
  const isAtDefault = fields.every(
    (field) => JSON.stringify(state.form.raw(field)) === JSON.stringify(rawOf(field, defaults)),
  )
  return (
    <div className={`setting${only === undefined ? '' : ' single'}`} data-setting={name}>
      {only === undefined && <p className="quiet">{description}</p>}
      <FieldGrid
        fields={fields}
        state={state}
        isReadOnly={isReadOnly}
        hint={(path) => partHint(fields, path, name)}
      />
      <div className="about">
        {only !== undefined && <p className="quiet">{description}</p>}
        <p className="hint">
          {only !== undefined && `Default ${settingText(setting.default, unit)}. `}
          {only !== undefined && rangeText(only) !== '' && `${rangeText(only)}. `}
          Takes effect: {effect}.
        </p>
        <div className="source">
          <Source setting={setting} />
          {!isReadOnly && !isAtDefault && (
            <button
              type="button"
              className="button ghost"
              onClick={() => {
                let { draft } = state
                for (const field of fields) {
                  draft = state.form.over(draft).with(field.path, rawOf(field, defaults))
                }
                state.replace(draft)
              }}
            >
              Back to the default<span className="vh"> of {name}</span>
            </button>
          )}
        </div>
      </div>
    </div>
  )
}

/** What a setting of one field means stands beside it; parts of an object say it below their control. */
function partHint(fields: readonly Field[], path: string, name: string): string | undefined {
  const field = fields.find((one) => one.path === path)
  if (field === undefined) return undefined
  if (path === name) return ''
  const range = rangeText(field)
  return range === '' ? field.description : `${range}. ${field.description}`
}

function Source({
  setting: { name, pinned, isDefault, changedAt, changedBy },
}: {
  readonly setting: Setting
}) {
  if (pinned !== null) {
    return (
      <span className="state warn">
        <Icon name="lock" />
        <span className="text whitespace-normal">
          Pinned by {pinned.source} on node {pinned.node}: change it there.
        </span>
      </span>
    )
  }
  return (
    <span className="hint">
      <code>{name}</code>{' '}
      {changedAt === null || isDefault ? (
        'has its default'
      ) : (
        <>
          set <Time at={changedAt} as="ago" /> ago by <bdi>{changedBy ?? 'somebody'}</bdi>
        </>
      )}
    </span>
  )
}
