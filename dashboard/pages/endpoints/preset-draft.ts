import {
  applyPreset,
  type Preset,
  type PresetName,
  presetExtras,
  presets,
  saidOver,
} from '../../../src/core/endpoints/presets.ts'
import { type Draft, Form } from '../../forms/draft.ts'
import type { Field, Settings } from '../../forms/field.ts'
import { rawOf } from '../../forms/field-text.ts'

const sections = ['retry.', 'request.', 'circuit.', 'batch', 'holdOn', 'config.timeoutMs']

/** The draft with another preset in it: what came from the old one goes with it, and what was said over that stays, as the server has it. */
export function withPreset(fields: readonly Field[], saved: Settings, draft: Draft, wanted: string): Draft {
  const kept = new Map([...draft].filter(([path]) => !isOfPreset(path)))
  const named = new Form(fields, saved, kept).with('preset', wanted)
  const settings = settingsWith(saved, wanted)
  if (settings === null) return named
  let next = named
  for (const field of fields) {
    if (!isOfPreset(field.path)) continue
    next = new Form(fields, saved, next).with(field.path, rawOf(field, settings))
  }
  return next
}

function isOfPreset(path: string): boolean {
  return sections.some((section) => path.startsWith(section))
}

interface Policies extends Omit<Preset, 'timeoutMs'> {
  readonly preset: string
  readonly batch: unknown
  readonly holdOn?: unknown
  readonly config: { readonly timeoutMs: number }
}

/** Null for a preset that this version doesn't know. */
function settingsWith(saved: Settings, wanted: string): Settings | null {
  const { preset, retry, request, circuit, batch, holdOn, config } = saved as unknown as Policies
  if (!isPreset(preset) || !isPreset(wanted)) return null
  if (preset === wanted) return saved
  const { timeoutMs } = config
  const applied = applyPreset(wanted, saidOver(preset, { retry, request, circuit, timeoutMs }))
  const [old, extras] = [presetExtras(preset), presetExtras(wanted)]
  return {
    ...saved,
    retry: applied.retry,
    request: applied.request,
    circuit: applied.circuit,
    batch: JSON.stringify(batch) === JSON.stringify(old.batch) ? extras.batch : batch,
    holdOn: JSON.stringify(holdOn ?? []) === JSON.stringify(old.holdOn) ? extras.holdOn : holdOn,
    config: { ...config, timeoutMs: applied.timeoutMs },
  }
}

function isPreset(name: unknown): name is PresetName {
  return typeof name === 'string' && Object.hasOwn(presets, name)
}
