/** What the overview says of an endpoint. */
interface EndpointNow {
  readonly name: string
  readonly state: string
  readonly circuit: string
}

/** Endpoints that nothing is sent to now, each with the reason in two words. */
export type Obstacles = ReadonlyMap<string, string>

/** A delivery that is due isn't sent while its endpoint is stopped: "due now" would be wrong. */
export function obstaclesOf(endpoints: readonly EndpointNow[]): Obstacles {
  const reasons = endpoints.map(({ name, state, circuit }): [string, string | null] => [
    name,
    state !== 'active' ? state : circuit === 'closed' ? null : 'circuit open',
  ])
  return new Map(reasons.filter((one): one is [string, string] => one[1] !== null))
}
