import { useId } from 'react'

/** The key of pseudonyms is the person's to choose: without one the route can't be saved. */
const learning = { platformUrl: 'https://learn.example', actor: { from: 'hash', key: '' } } as const

const beginnings = {
  None: '',
  Template: { type: 'template', template: { id: '{{ id }}' } },
  JSONata: { type: 'jsonata', expression: '{ "id": id }' },
  CloudEvents: { type: 'cloudevents', source: '/shop' },
  xAPI: { type: 'xapi', ...learning },
  Caliper: { type: 'caliper', ...learning },
} as const

const missing = [
  ['error', 'an error'],
  ['null', 'null'],
  ['omit', 'left out'],
] as const

/** The transform as JSON, with a beginning for each kind, and what becomes of values that an event lacks. */
export function TransformField({
  text,
  isReadOnly,
  problem,
  onChange,
}: {
  readonly text: string
  readonly isReadOnly: boolean
  readonly problem: string | undefined
  readonly onChange: (text: string) => void
}) {
  const id = useId()
  const parsed = parse(text)
  const given = parsed?.['type']
  const kind = text.trim() === '' ? 'none' : typeof given === 'string' ? given : ''
  return (
    <section className="card">
      <header>
        <h2>Transform</h2>
        <div className="segments end flex-wrap" role="group" aria-label="Kind">
          {Object.entries(beginnings).map(([name, beginning]) => (
            <button
              key={name}
              type="button"
              disabled={isReadOnly}
              aria-pressed={name.toLowerCase() === kind}
              onClick={() => {
                if (name.toLowerCase() !== kind) onChange(beginning === '' ? '' : asText(beginning))
              }}
            >
              {name}
            </button>
          ))}
        </div>
      </header>
      <div className="body grid gap-3">
        <div className="field">
          <label htmlFor={id} className="vh">
            Transform
          </label>
          <textarea
            id={id}
            className="input mono min-h-56!"
            value={text}
            readOnly={isReadOnly}
            placeholder="Events are sent as they were published."
            spellCheck={false}
            aria-invalid={problem !== undefined}
            aria-describedby={`${id}-hint`}
            onChange={({ target }) => onChange(target.value)}
          />
          <span id={`${id}-hint`} className={problem === undefined ? 'hint' : 'problem'} role="status">
            {problem ??
              (text === ''
                ? 'Choose a kind of transform to change what is sent.'
                : kind === 'template'
                  ? 'JSON. Placeholders like {{ customer.vatId ?? null }} are fields of the event.'
                  : 'JSON.')}
          </span>
        </div>
        {kind === 'template' && parsed !== null && (
          <div className="flex items-center gap-2">
            <span className="quiet">A missing value is</span>
            <div className="segments" role="group" aria-label="A missing value is">
              {missing.map(([value, words]) => (
                <button
                  key={value}
                  type="button"
                  disabled={isReadOnly}
                  aria-pressed={(parsed['missing'] ?? 'error') === value}
                  onClick={() => onChange(asText({ ...parsed, missing: value }))}
                >
                  {words}
                </button>
              ))}
            </div>
          </div>
        )}
      </div>
    </section>
  )
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

function asText(value: object): string {
  return JSON.stringify(value, null, 2)
}
