import { ChoiceField } from './labelled-field.tsx'

export function CriticalityField({
  value,
  otherwise,
  isReadOnly,
  onChange,
}: {
  readonly value: string
  /** What holds when nothing is chosen here. */
  readonly otherwise: string
  readonly isReadOnly: boolean
  readonly onChange: (criticality: string) => void
}) {
  return (
    <ChoiceField
      label="Criticality"
      value={value}
      isReadOnly={isReadOnly}
      choices={[
        ['', otherwise],
        ['best_effort', 'Best effort'],
        ['standard', 'Standard'],
        ['critical', 'Critical'],
      ]}
      onChange={onChange}
    />
  )
}
