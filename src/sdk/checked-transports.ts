import { HoldfastError } from '../core/errors.ts'

const ownName = /^[a-z][a-z0-9]*-[a-z0-9-]+$/
const maxNameLength = 32

/** Checks custom transports. The hyphen in their names avoids conflicts with built-in transports of this and later versions. */
export function checkedTransports<Named extends { readonly name: string }>(
  transports: readonly Named[],
): readonly Named[] {
  const names = new Set<string>()
  for (const { name } of transports) {
    if (!ownName.test(name) || name.length > maxNameLength) {
      throw new HoldfastError(
        'invalid_options',
        `The option transports has one named "${name}". Call it by 3 to ${maxNameLength} characters of a–z, 0–9 and "-" with a hyphen in it, like "acme-queue": names without one are kept for transports of Holdfast.`,
        { transport: name },
      )
    }
    if (names.has(name)) {
      throw new HoldfastError('invalid_options', `The option transports has two that are named "${name}".`, {
        transport: name,
      })
    }
    names.add(name)
  }
  return transports
}
