import Foundation
import ODataModel
import ObjectAPI
import OfflineOData
import Synchronization
import Testing

/// The number of SQL statements that find a tree. A sample of its size unless `OUTPOST_PROOFS` is set.
@Suite("A large composite graph")
struct CompositeGraphSizeTests {
    private static let parts = ProcessInfo.processInfo.environment["OUTPOST_PROOFS"] == nil ? 300 : 10_000

    @Test("is found by one statement for each relation and level")
    func statements() async throws {
        let service = try await CrmService()
        let texts = StatementLog()
        var profile = DatabaseProfile(protection: .unencrypted)
        profile.storeOptions.runtime.trace = .statements { texts.add($0) }
        let crm = try await CrmDatabase.open(at: service.path("large"), profile)
        let parts = Self.parts
        let ada = try await crm.transaction { changes in
            let ada = try changes.create(Customer(lastName: "Lovelace", region: "West"))
            for number in 1...parts {
                try changes.create(SalesOrder(amount: ODataDecimal(Int64(number))), in: \.salesOrders, of: ada)
            }
            return ada
        }
        texts.clear()
        try await crm.submitPending(ada)
        let found = texts.all.filter { $0.contains("SELECT parent, child") }
        #expect(!found.isEmpty)
        #expect(found.count <= 6, "\(found.count) statements")
        #expect(try await crm.refresh(ada).objectState.replayPending > 0)
        #expect(try await crm.store.changes.held().isEmpty)
    }
}

/// The statements that a store has run.
private final class StatementLog: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock { $0 } }

    func add(_ text: String) { texts.withLock { $0.append(text) } }

    func clear() { texts.withLock { $0 = [] } }
}
