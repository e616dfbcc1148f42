import type { Config } from '../../config/settings.ts'
import type { HoldfastOptions } from '../../sdk/holdfast-options.ts'

/** The outbound network rules of the configuration; empty if it has none. */
export function egressOptions({
  allowNetworks,
  allowPorts,
  proxyUrl,
}: Config): Pick<HoldfastOptions, 'allowNetworks' | 'allowPorts' | 'proxyUrl'> {
  return {
    ...(allowNetworks !== null && { allowNetworks }),
    ...(allowPorts !== null && { allowPorts }),
    ...(proxyUrl !== null && { proxyUrl }),
  }
}
