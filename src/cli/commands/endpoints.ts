import type { Command } from 'commander'
import { registerEndpointsCreate } from './endpoints-create.ts'
import { registerEndpointsDelete } from './endpoints-delete.ts'
import { registerEndpointsList } from './endpoints-list.ts'
import { registerEndpointsRequest } from './endpoints-request.ts'
import { registerEndpointsRotateSecret } from './endpoints-rotate-secret.ts'
import { registerEndpointsShow } from './endpoints-show.ts'
import { registerEndpointsSwitches } from './endpoints-switches.ts'
import { registerEndpointsTest } from './endpoints-test.ts'

export function registerEndpoints(program: Command): void {
  const endpoints = program.command('endpoints').description('create, show and control endpoints')
  registerEndpointsCreate(endpoints)
  registerEndpointsList(endpoints)
  registerEndpointsShow(endpoints)
  registerEndpointsSwitches(endpoints)
  registerEndpointsRotateSecret(endpoints)
  registerEndpointsTest(endpoints)
  registerEndpointsRequest(endpoints)
  registerEndpointsDelete(endpoints)
}
