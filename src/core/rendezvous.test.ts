import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { noOwner, preferredOwners, shardCount, shardOfLane } from './rendezvous.ts'

const anyNode = fc.integer({ min: 1, max: 2 ** 31 - 1 })
const anyNodes = fc.uniqueArray(fc.oneof(fc.integer({ min: 1, max: 100 }), anyNode), {
  minLength: 1,
  maxLength: 20,
})

describe('the spread of shards over nodes', () => {
  it('assigns each shard to a live node', () => {
    fc.assert(
      fc.property(anyNodes, (nodeIds) => {
        const owners = preferredOwners(nodeIds)
        expect(owners).toHaveLength(shardCount)
        expect([...new Set(owners)].filter((owner) => !nodeIds.includes(owner))).toEqual([])
      }),
    )
  })

  it('is the same on every node, in whatever order it knows the others', () => {
    fc.assert(
      fc.property(anyNodes, (nodeIds) => {
        expect(preferredOwners(nodeIds.toReversed())).toEqual(preferredOwners(nodeIds))
      }),
    )
  })

  it('moves shards only to a node that joins, and so only from a node that leaves', () => {
    fc.assert(
      fc.property(anyNodes, anyNode, (nodeIds, joining) => {
        fc.pre(!nodeIds.includes(joining))
        const before = preferredOwners(nodeIds)
        const after = preferredOwners([...nodeIds, joining])
        const movedElsewhere = after.filter((owner, shard) => owner !== before[shard] && owner !== joining)
        expect(movedElsewhere).toHaveLength(0)
      }),
    )
  })

  it('is fair: no node has more than twice its share, or less than a third, of up to eight in a row', () => {
    for (let count = 2; count <= 8; count += 1) {
      for (let first = 1; first <= 200; first += 1) {
        const nodeIds = Array.from({ length: count }, (_, index) => first + index)
        const owners = preferredOwners(nodeIds)
        for (const nodeId of nodeIds) {
          const owned = owners.filter((owner) => owner === nodeId).length
          expect(owned).toBeLessThan((2 * shardCount) / count)
          expect(owned).toBeGreaterThan(shardCount / count / 3)
        }
      }
    }
  })

  it('assigns no owner without live nodes', () => {
    expect(new Set(preferredOwners([]))).toEqual(new Set([noOwner]))
  })
})

describe('the shard of a lane', () => {
  it('is one of the shards, and neighbours lie in different ones', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (laneId) => {
        expect(shardOfLane(laneId)).toBe(laneId % shardCount)
        expect(shardOfLane(laneId + 1)).not.toBe(shardOfLane(laneId))
      }),
    )
  })
})
