import type { Command } from 'commander'
import { registerEndpointsCreate } from './endpoints-create.ts'
import { registerEndpointsList } from './endpoints-list.ts'
import { registerEndpointsShow } from './endpoints-show.ts'
import { registerEndpointsSwitches } from './endpoints-switches.ts'

export function registerEndpoints(program: Command): void {
  const endpoints = program.command('endpoints').description('create, look at and switch endpoints')
  registerEndpointsCreate(endpoints)
  registerEndpointsList(endpoints)
  registerEndpointsShow(endpoints)
  registerEndpointsSwitches(endpoints)
}
