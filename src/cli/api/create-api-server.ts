import { Authenticator } from '../../api/access/authenticator.ts'
import { ApiServer } from '../../api/api-server.ts'
import type { DemoSwitch } from '../../api/demo-switch.ts'
import type { Holdfast } from '../../sdk/holdfast.ts'
import type { Session } from '../process/session.ts'

export interface CreatedApi {
  readonly server: ApiServer
  readonly authenticator: Authenticator
}

/** Creates the API server of this process, on the configured host and port. */
export function createApiServer(
  { config, logger }: Session,
  holdfast: Holdfast,
  demo?: DemoSwitch,
): CreatedApi {
  const database = () => holdfast.database
  const authenticator = new Authenticator({ database, adminKey: config.adminKey })
  const { host, port, trustedProxies, environment, traceUrl } = config
  const options = {
    holdfast,
    database,
    authenticator,
    logger,
    host,
    port,
    trustedProxies,
    environment,
    traceUrl,
    opensLater: true,
    ...(demo !== undefined && { demo }),
  }
  return { authenticator, server: new ApiServer(options) }
}

/** A link that signs in once. The token is in the fragment (`#…`), so that it appears in no log. */
export async function createSignInUrl({ server, authenticator }: CreatedApi): Promise<string> {
  return `${server.url}/sign-in#${await authenticator.createSignInToken()}`
}
