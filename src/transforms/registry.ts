import { type CompiledTransform, type Transform, TransformConfigError } from './transform.ts'

export type TransformLookup =
  | { readonly isFound: true; readonly transform: Transform }
  | { readonly isFound: false; readonly code: 'transform_unknown'; readonly message: string }

export interface TransformRegistry {
  /** Names of all transforms that a route may use. */
  readonly names: readonly string[]
  /** An unknown name is a result, not an exception, so that one invalid row does not affect others. */
  get(name: string): TransformLookup
  /** Compiles a route's transform, by its `type`. Throws a `TransformConfigError` that says what is wrong and where. */
  compile(config: unknown): CompiledTransform
}

/**
 * The transforms that routes may use.
 *
 * @example
 * const transforms = createTransformRegistry([noneTransform(), templateTransform()])
 * transforms.compile({ type: 'template', template: { id: '{{ order.id }}' } })
 */
export function createTransformRegistry(transforms: readonly Transform[]): TransformRegistry {
  const byName = new Map(transforms.map((transform) => [transform.name, transform]))
  const names = transforms.map(({ name }) => name)
  if (byName.size !== transforms.length) throw new Error(`Two transforms share a name: ${names.join(', ')}`)

  function get(name: string): TransformLookup {
    const transform = byName.get(name)
    if (transform !== undefined) return { isFound: true, transform }
    return {
      isFound: false,
      code: 'transform_unknown',
      message: `There is no transform "${name}". Use one of: ${names.join(', ')}.`,
    }
  }

  function compile(config: unknown): CompiledTransform {
    const lookup = get(typeOf(config))
    if (!lookup.isFound) throw new TransformConfigError('type', lookup.message)
    return lookup.transform.compile(config)
  }

  return { names, get, compile }
}

function typeOf(config: unknown): string {
  if (
    typeof config !== 'object' ||
    config === null ||
    !('type' in config) ||
    typeof config.type !== 'string'
  ) {
    throw new TransformConfigError(
      'type',
      'A transform is an object with a "type", like {"type": "template", …}.',
    )
  }
  return config.type
}
