import type { Check, Evidence, Verdict } from '../evidence.ts'
import { operationsEnd, operationsKeepToTheirPreview, replaysArrive } from './bulk-actions.ts'
import { noSecretLeaks, oneKeyIsOneMessage } from './callers.ts'
import { fewAreSentTwice } from './duplicates.ts'
import { deadLettersAreWhole, endingsAreFinal } from './letters.ts'
import { concurrencyHolds, pausesHold, ratesHold } from './limits.ts'
import { everyFaultStruck, monthsEndQuietly, nodesSurvive, stopsAreClean } from './nodes.ts'
import {
  deletesLeaveNothing,
  deliveredToTheRightLane,
  everythingIsSettledInTheEnd,
  noLaneIsForgotten,
  nothingVanishes,
  preparedTransactionsPublish,
  quarantineIsEmpty,
  rolledBackIsNeverSeen,
} from './nothing-lost.ts'
import { keysKeepTheirOrder } from './order.ts'
import { probesStandAlone } from './probes.ts'
import { neighboursAreNotSlowed } from './promptness.ts'
import {
  brokerRunsAreNotLost,
  brokerRunsOfAKeyAreInOrder,
  fewBrokerRunsAreBegunTwice,
  fewRunsAreBegunTwice,
  runsAreNotLost,
  runsOfAKeyAreInOrder,
} from './runs.ts'
import { ticksFireOnce } from './ticks.ts'

const checks: readonly Check[] = [
  nothingVanishes,
  deliveredToTheRightLane,
  everythingIsSettledInTheEnd,
  quarantineIsEmpty,
  deletesLeaveNothing,
  rolledBackIsNeverSeen,
  preparedTransactionsPublish,
  fewAreSentTwice,
  probesStandAlone,
  keysKeepTheirOrder,
  concurrencyHolds,
  ratesHold,
  pausesHold,
  deadLettersAreWhole,
  endingsAreFinal,
  neighboursAreNotSlowed,
  stopsAreClean,
  nodesSurvive,
  everyFaultStruck,
  monthsEndQuietly,
  operationsKeepToTheirPreview,
  operationsEnd,
  replaysArrive,
  oneKeyIsOneMessage,
  noSecretLeaks,
  noLaneIsForgotten,
  runsAreNotLost,
  fewRunsAreBegunTwice,
  brokerRunsAreNotLost,
  fewBrokerRunsAreBegunTwice,
  runsOfAKeyAreInOrder,
  brokerRunsOfAKeyAreInOrder,
  ticksFireOnce,
]

/** A run of this length has time for everything to happen. */
export const longRunMs = 120_000

export function judge(evidence: Evidence, chaosMs: number): Verdict[] {
  return checks.map((check) => withoutSilence(check(evidence), chaosMs))
}

/** A row that judged nothing is red, or says why there was nothing to judge. */
export function withoutSilence(verdict: Verdict, chaosMs: number): Verdict {
  const { unjudged, ...judged } = verdict
  if (verdict.checked > 0) return judged
  if (unjudged !== undefined) return verdict
  if (chaosMs < longRunMs) return { ...judged, unjudged: 'the run was shorter than two minutes' }
  return { ...judged, violations: [...verdict.violations, 'nothing was judged'] }
}
