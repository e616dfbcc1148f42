import { PayloadError } from '../exact-json.ts'
import { type CompiledTemplate, compileTemplate, TemplateRenderError } from '../template/compile-template.ts'
import { parseTemplate } from '../template/parse-template.ts'
import { MessageScope } from '../template/template-scope.ts'
import { type TransformInput } from '../transform.ts'
import type { LearningConfig } from './learning-config.ts'
import { LearningError } from './learning-error.ts'

export interface Overrides {
  readonly verb?: unknown
  readonly object?: unknown
  readonly extensions?: unknown
}

const names = ['verb', 'object', 'extensions'] as const

/** Templates with which a route overrides the mapping, rendered for each event. Null if there are none. */
export function compileOverrides(
  config: LearningConfig['overrides'],
): ((input: TransformInput) => Overrides) | null {
  const templates = names.flatMap((name): [string, CompiledTemplate][] =>
    config[name] === undefined || config[name] === null
      ? []
      : [[name, compileTemplate(parseTemplate(config[name], `overrides.${name}`), 'omit', 'message')]],
  )
  if (templates.length === 0) return null
  return (input) => {
    const scope = new MessageScope(input)
    const rendered: [string, unknown][] = []
    for (const [name, template] of templates) rendered.push([name, renderOne(name, template, scope)])
    return Object.fromEntries(rendered)
  }
}

function renderOne(name: string, template: CompiledTemplate, scope: MessageScope): unknown {
  try {
    return JSON.parse(template.render(scope) ?? 'null') as unknown
  } catch (error) {
    if (!(error instanceof TemplateRenderError || error instanceof PayloadError)) throw error
    throw new LearningError('learning_override_failed', `overrides.${name}: ${error.message}`)
  }
}

/** Fields of `over` replace those of `base`, merged recursively. */
export function merged<Base>(base: Base, over: unknown): Base {
  if (over === undefined || over === null) return base
  if (!isObject(base) || !isObject(over)) return over as Base
  const result = { ...base } as Record<string, unknown>
  for (const [name, value] of Object.entries(over)) {
    Object.defineProperty(result, name, {
      value: merged(result[name], value),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return result as Base
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
