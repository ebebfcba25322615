import Foundation
import ODataModel
import ObjectAPI
import Testing

/// Sequences of edits, submissions, refusals, lost answers and restarts by seed. A sample unless `OUTPOST_PROOFS` is
/// set.
@Suite("A sequence of edits, lost responses and restarts")
struct ReplaySequenceTests {
    private static let seeds = ProcessInfo.processInfo.environment["OUTPOST_PROOFS"] == nil ? 20 : 2000
    /// Seeds that run one after the other within a test.
    private static let batches = stride(from: 0, to: seeds, by: 10).map { $0..<min($0 + 10, seeds) }

    @Test("loses no edit and sends none twice", arguments: batches)
    func sequences(seeds: Range<Int>) async throws {
        for seed in seeds {
            var run = try await ReplaySequence(seed: UInt64(seed))
            for _ in 0..<40 { try await run.step() }
            try await run.settle()
        }
    }
}

/// A generator of random numbers from a seed (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

/// One sequence. After each event, every object has the value of its last edit, and its counters have not decreased.
private struct ReplaySequence {
    private let seed: UInt64
    private let service: CrmService
    private var crm: CrmDatabase
    private var random: SeededNumbers
    private var objects: [Customer]
    private var counters: [SurrogateKey: Int64] = [:]
    private var edits = 0
    private var created: Set<String> = []

    init(seed: UInt64) async throws {
        self.seed = seed
        service = try await CrmService()
        crm = try await service.synchronized()
        random = SeededNumbers(state: seed)
        objects = try await crm.customers.all()
    }

    mutating func step() async throws {
        let index = Int.random(in: objects.indices, using: &random)
        switch Int.random(in: 0..<14, using: &random) {
        case 0...3:
            edits += 1
            objects[index].city = "City \(edits)"
            objects[index] = try await crm.save(objects[index])
        case 4:
            guard objects.count < 6 else { return }
            edits += 1
            let name = "Name \(edits)"
            objects.append(try await crm.create(Customer(lastName: name, region: "West")))
            created.insert(name)
        case 5...6: try await crm.submitPending(objects[index])
        case 7: try await crm.submitAllPending()
        case 8...9: try await crm.synchronize()
        case 10:
            service.refuseAll()
            try await crm.synchronize()
            service.mend()
        case 11:
            service.loseAnswers()
            // Without a submitted change, nothing is lost.
            _ = try? await crm.synchronize()
            service.mend()
        case 12: try await cancel(index)
        default:
            try crm.close()
            crm = try await service.database()
        }
        try await compare()
    }

    private mutating func cancel(_ index: Int) async throws {
        let name = objects[index].lastName
        do {
            guard let object = try await crm.cancelPending(objects[index]) else {
                objects.remove(at: index)
                created.remove(name)
                return
            }
            objects[index] = object
        } catch let error as ObjectError {
            guard case .alreadySubmitted = error else { throw error }
        }
    }

    private mutating func compare() async throws {
        for index in objects.indices {
            let object = try await crm.refresh(objects[index])
            #expect(object.city == objects[index].city, "seed \(seed)")
            let state = object.objectState
            if let key = state.surrogateKey {
                #expect(state.replayCounter >= counters[key] ?? 0, "seed \(seed)")
                counters[key] = state.replayCounter
            }
            #expect(state.replayPending <= state.replayCounter && state.replayFailure <= state.replayCounter)
            objects[index] = object
        }
    }

    /// Everything is sent: the service has each object once, with its last value.
    mutating func settle() async throws {
        service.mend()
        try await crm.synchronize()
        try await crm.submitAllPending()
        try await crm.synchronize()
        try await crm.submitAllPending()
        try await crm.synchronize()
        #expect(try await crm.hasPendingChanges() == false, "seed \(seed)")
        let rows = try await service.rows("Customers")
        for object in objects {
            let found = rows.filter { $0["LastName"] == .string(object.lastName) }
            #expect(found.count == 1, "seed \(seed): \(object.lastName)")
            let city = found.first?["City"].flatMap { $0.isNull ? nil : $0.lexicalText }
            #expect(city == object.city, "seed \(seed): \(object.lastName)")
        }
        #expect(rows.count == objects.count, "seed \(seed)")
    }
}
