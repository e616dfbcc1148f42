import type { CommonEndpointInput } from '../core/endpoints/common-endpoint-input.ts'
import type { builtInDescriptions } from './descriptions.ts'
import type { ConfigInputOf, TransportDescription, TransportNameOf } from './transport-description.ts'

type BuiltIn = (typeof builtInDescriptions)[number]
type EndpointOf<Description> = Description extends TransportDescription<infer Endpoint> ? Endpoint : never

/** An endpoint as users write it; its `transport` determines its `config`. */
export type EndpointInput = EndpointOf<BuiltIn>

export type BuiltInTransportName = BuiltIn['name']

/** A transport of your own has a hyphen in its name, so that none that comes with Holdfast will ever have the same. */
export type CustomTransportName = `${string}-${string}`

/**
 * An endpoint that is reached over a transport of your own: `new Holdfast({ transports })`.
 *
 * @example await holdfast.endpoints.create<CustomEndpointInput>({ name: 'orders', transport: 'acme-topic', config: { topic: 'orders' } })
 */
export interface CustomEndpointInput extends CommonEndpointInput {
  /** The transport. */
  readonly transport: CustomTransportName
  /** The transport's settings. */
  readonly config?: object | undefined
}

type ConfigChanges<Endpoint> = Endpoint extends EndpointInput ? Partial<ConfigInputOf<Endpoint>> : never

/** Fields that are left out, or undefined, stay unchanged. Objects such as `retry` and `config` may be given in part. */
export interface EndpointChanges extends Partial<Omit<CommonEndpointInput, 'name'>> {
  /** The transport. */
  readonly transport?: BuiltInTransportName | undefined
  /** Changes to the transport's settings. */
  readonly config?: ConfigChanges<EndpointInput> | undefined
}

/** The same for a transport of your own. */
export type CustomEndpointChanges = Partial<Omit<CustomEndpointInput, 'name'>>

type Shown<Endpoint> = Endpoint extends EndpointInput | CustomEndpointInput
  ? {
      readonly transport: TransportNameOf<Endpoint>
      /** `{ isSet: true }` is shown in place of a secret. Sent back, it means the stored one. */
      readonly config: ConfigInputOf<Endpoint> & { readonly timeoutMs: number }
    }
  : never

/** The transport of an endpoint as shown: `transport` determines `config`. */
export type ShownTransport = Shown<EndpointInput | CustomEndpointInput>

/** An endpoint as shown, with further fields. */
export type WithTransport<Endpoint> = Omit<Endpoint, 'transport' | 'config'> & ShownTransport
