import type { PresetName } from './presets.ts'
import type { SettingInputs } from './setting-fields.ts'

/** Fields that every endpoint has, whatever its transport. */
export interface CommonEndpointInput extends SettingInputs {
  /** The name of the endpoint: 1 to 63 characters of a–z, 0–9, ".", "_" and "-". */
  readonly name: string
  /** The tenant that owns the endpoint. An event with a tenant is delivered only to endpoints of that tenant. */
  readonly tenant?: string | null | undefined
  /** Tags to find and control several endpoints together; at most 20. */
  readonly tags?: readonly string[] | undefined
  /** Contact for incidents. */
  readonly contact?: string | null | undefined
  /** A preset of retry, circuit and timeout; `standard` by default. */
  readonly preset?: PresetName | undefined
  /** Event types to deliver, like `["order.*"]`; creates a route for each. */
  readonly eventTypes?: readonly string[] | undefined
}
