import { useCallback, useState } from 'react'
import { useDraft } from '../parts/use-draft.ts'
import { type Draft, Form } from './draft.ts'
import type { Field, Raw, Settings } from './field.ts'

export interface FormState {
  readonly form: Form
  readonly draft: Draft
  /** Fields that were left or submitted: only their problems are shown. */
  readonly touched: ReadonlySet<string>
  /** What is entered is from before a reload or another page. */
  readonly isRestored: boolean
  readonly enter: (path: string, raw: Raw) => void
  readonly leave: (path: string) => void
  readonly replace: (draft: Draft) => void
  readonly reset: () => void
  /** Shows every problem. True when there is none. */
  readonly submit: () => boolean
}

type Entries = readonly (readonly [path: string, raw: Raw])[]

const nothing: Entries = []

/** The state of a form over fields. What is entered outlives the page under this key until it is saved or discarded; secrets don't. */
export function useForm(key: string, fields: readonly Field[], saved: Settings): FormState {
  const toKept = useCallback((entries: Entries) => entries.filter(([path]) => isKept(fields, path)), [fields])
  const kept = useDraft(`form:${key}`, nothing, toKept)
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const draft: Draft = new Map(kept.value)
  const form = new Form(fields, saved, draft)
  const replace = (next: Draft): void => kept.set([...next])
  return {
    form,
    draft,
    touched,
    isRestored: kept.isRestored,
    enter: (path, raw) => replace(form.with(path, raw)),
    leave: (path) => setTouched((before) => new Set([...before, path])),
    replace,
    reset: () => {
      kept.drop()
      setTouched(new Set())
    },
    submit: () => {
      setTouched((before) => new Set([...before, ...form.problems.keys()]))
      return form.problems.size === 0
    },
  }
}

/** Headers are secret unless they are said to be plain. */
function isKept(fields: readonly Field[], path: string): boolean {
  const field = fields.find((one) => one.path === path)
  return field !== undefined && field.isSecret !== true && field.kind !== 'headers'
}
