import { describe } from 'vitest'
import { overPostgres } from '../support/processes/fleet-link.ts'
import { describeWorkerFaults } from './worker-faults.ts'

describe('workers over PostgreSQL', () => describeWorkerFaults(overPostgres))
