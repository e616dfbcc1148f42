import type { Answer, Input } from '../../api/call.ts'
import { FormDialog } from '../../forms/form-dialog.tsx'
import { useForm } from '../../forms/use-form.ts'
import { because } from '../../parts/call-dialog.tsx'
import { DeleteDialog } from '../../parts/delete-dialog.tsx'
import { undoBy } from '../../parts/undo.ts'
import { newRule, ruleFields } from './rule-fields.ts'
import { SilenceDialog } from './silence-dialog.tsx'

export type Rule = Answer<'alerts.listRules'>['data'][number]
export type RuleChoice =
  | { readonly dialog: 'new' }
  | { readonly dialog: 'edit' | 'delete' | 'silence'; readonly rule: Rule }

export function RuleDialog({
  choice,
  onClose,
}: {
  readonly choice: RuleChoice
  readonly onClose: () => void
}) {
  if (choice.dialog === 'new') return <RuleForm rule={null} onClose={onClose} />
  const { rule } = choice
  const { name } = rule
  if (choice.dialog === 'edit') return <RuleForm rule={rule} onClose={onClose} />
  if (choice.dialog === 'silence') {
    return (
      <SilenceDialog
        call="alerts.silenceRule"
        title={`Silence the rule ${name}?`}
        means="What it finds is shown here as before; nobody is told."
        silencedUntil={rule.silencedUntil}
        input={(until, note) => ({ params: { name }, body: { until, ...note } })}
        undo={() => undoBy('alerts.silenceRule', { params: { name }, body: { until: rule.silencedUntil } })}
        subject={name}
        onClose={onClose}
      />
    )
  }
  return (
    <DeleteDialog
      call="alerts.deleteRule"
      input={(reason) => ({ params: { name }, query: because(reason) })}
      name={name}
      what="the rule"
      reason="optional"
      means="What it has found ends without a notice. To stop it for a while, silence or disable it instead."
      onClose={onClose}
    />
  )
}

function RuleForm({ rule, onClose }: { readonly rule: Rule | null; readonly onClose: () => void }) {
  // All fields, so that what is entered for one kind isn't lost while another is chosen.
  const state = useForm(
    `alert-rule:${rule?.name ?? '+new'}`,
    rule === null ? newFields : allFields,
    rule ?? newRule,
  )
  const { form } = state
  const fields = ruleFields(form.rawAt('kind'), rule === null)
  return (
    <FormDialog
      call="alerts.putRule"
      input={(_form, reason) => {
        const { name = rule?.name, ...settings } = form.whole
        const shown = new Set(fields.map(({ path }) => path))
        const body = Object.fromEntries(Object.entries(settings).filter(([path]) => shown.has(path)))
        return {
          params: { name: String(name) },
          body: { threshold: 0, ...body, ...because(reason) } as unknown as Input<'alerts.putRule'>['body'],
        }
      }}
      state={state}
      fields={fields}
      isNew={rule === null}
      title={rule === null ? 'New alert rule' : `The rule ${rule.name}`}
      verb={rule === null ? 'Create rule' : 'Save rule'}
      pendingVerb="Saving…"
      reason="optional"
      said={({ name }) => `Saved ${name}.`}
      hint={(path) => (path === 'channels' ? 'Names of channels. Empty: all of them.' : undefined)}
      onClose={onClose}
    />
  )
}

const newFields = ruleFields(undefined, true)
const allFields = ruleFields(undefined, false)
