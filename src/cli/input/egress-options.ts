import type { Config } from '../../config/settings.ts'
import type { HoldfastOptions } from '../../sdk/holdfast.ts'

/** What the configuration says about the way out; nothing where it says nothing. */
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
