import { HoldfastError } from '../core/errors.ts'
import { parsePorts } from '../core/network/port-policy.ts'
import { createEgress, type Egress } from '../network/egress.ts'

export interface EgressSettings {
  readonly allowNetworks?: readonly string[]
  readonly allowPorts?: string
  readonly proxyUrl?: string
}

/** The outbound network rules from the SDK's options; throws `configuration_invalid` for invalid ones. */
export function createEgressFrom({ allowNetworks, allowPorts, proxyUrl }: EgressSettings): Egress {
  const ports = allowPorts === undefined ? undefined : parsePorts(allowPorts)
  if (ports === null) {
    throw new HoldfastError(
      'configuration_invalid',
      'allowPorts must be "usual", "any", or ports and ranges separated by commas, like 80,443,8000-8999.',
    )
  }
  if (allowNetworks !== undefined && !isTextList(allowNetworks)) {
    throw new HoldfastError(
      'configuration_invalid',
      'allowNetworks must be a list of networks, like ["10.0.0.0/8"].',
    )
  }
  return createEgress({
    ...(allowNetworks !== undefined && { allowNetworks }),
    ...(ports !== undefined && { ports }),
    ...(proxyUrl !== undefined && { proxyUrl }),
  })
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}
