import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("A change set with entities that others changed")
struct ChangeSetConflictTests {
    private static let theirs = "UPDATE Products SET Stock = 99 WHERE ProductID"

    /// Returns a store that lost its change set before or after the execution; the service has no ETags.
    private func lost(
        _ shop: Shop, hasActed: Bool, _ changes: @escaping @Sendable (LocalTransaction) throws -> Void
    ) async throws -> OfflineStore {
        let isLost = LockedFlag()
        let service = Gateway(
            base: ForgetfulService(base: PlainService(base: try shop.client(), hasETags: false)),
            before: { request in
                guard !isLost.isSet, !hasActed, case .batch = request.body else { return nil }
                isLost.set()
                throw TransportError.connectionLost(host: "shop.test", reason: "the wire is cut")
            },
            after: { request, response in
                guard !isLost.isSet, case .batch = request.body else { return response }
                isLost.set()
                throw TransportError.connectionLost(host: "shop.test", reason: "the wire is cut")
            })
        let store = try await shop.clone(through: service)
        try await store.changes.transaction(changes)
        await #expect(throws: TransportError.self) { try await store.upload() }
        return store
    }

    @Sendable
    private static func twoStocks(_ changes: LocalTransaction) throws {
        try changes.update("Products(1)", ["Stock": 5])
        try changes.update("Products(2)", ["Stock": 7])
    }

    private func stock(_ shop: Shop, _ product: Int) async throws -> Int {
        try await shop.count("SELECT Stock FROM Products WHERE ProductID = \(product)")
    }

    @Test(
        "Rule 8: is a conflict if others changed a property that a later change of an entity needs",
        arguments: [false, true])
    func changedLater(isOurs: Bool) async throws {
        let shop = try await Shop()
        let store = try await shop.clone(through: PlainService(base: try shop.client(), hasETags: false))
        try await store.changes.transaction { changes in
            try changes.update("Customers('C0002')", ["City": "Mine"])
            try changes.update("Customers('C0002')", ["City": "Ours", "CompanyName": "Ours"])
        }
        if !isOurs { try await shop.sql("UPDATE Customers SET CompanyName = 'Theirs' WHERE CustomerID = 'C0002'") }
        let report = try await store.upload()
        #expect(report.failed.map(\.failure?.isConflict) == (isOurs ? [] : [true, true]))
        #expect(report.failed.last?.failure?.theirs?["CompanyName"] == (isOurs ? nil : "Theirs"))
        let name = try await shop.text("SELECT CompanyName FROM Customers WHERE CustomerID = 'C0002'")
        #expect(name == (isOurs ? "Ours" : "Theirs"))
        guard !isOurs else { return }
        try await store.changes.retry()
        #expect(try await store.upload(options: UploadOptions(conflictPolicy: .clientWins)).accepted.count == 2)
        #expect(try await shop.text("SELECT CompanyName FROM Customers WHERE CustomerID = 'C0002'") == "Ours")
    }

    // MARK: Deletions

    private static let line = "Order_Lines(OrderID=1003,LineNumber=1)"
    private static let lineGone = "DELETE FROM \"Order Lines\" WHERE OrderID = 1003 AND LineNumber = 1"

    @Test(
        "is sent without a deletion that others already made",
        arguments: [true, false], [1, 2])
    func deletedByOthers(hasETags: Bool, products: Int64) async throws {
        let shop = try await Shop()
        let client = try shop.client()
        let store = try await shop.clone(through: hasETags ? client : PlainService(base: client, hasETags: false))
        try await store.changes.transaction { changes in
            try changes.delete(Self.line)
            for product in 1...products { try changes.update("Products(\(product))", ["Stock": 5]) }
        }
        try await shop.sql(Self.lineGone)
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.count == 1 + Int(products), "the deletion too")
        #expect(report.givenUp.isEmpty)
        #expect(try await stock(shop, 1) == 5)
        #expect(try await store.observe.status().pending.isEmpty)
        guard hasETags else { return }
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("still meets other changes if it is sent without a deletion that others made")
    func deletedAndChangedByOthers() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.changes.transaction { changes in
            try changes.delete(Self.line)
            try changes.update("Products(1)", ["Stock": 5])
        }
        try await shop.sql("\(Self.theirs) = 1; \(Self.lineGone)")
        let report = try await store.upload()
        #expect(report.accepted.map(\.kind) == [.delete])
        #expect(report.failed.map(\.failure?.conflict) == [.changed])
        #expect(try await stock(shop, 1) == 99)
    }

    @Test("is a conflict if it also changes an entity that others deleted")
    func changedAndDeleted() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.changes.transaction { changes in
            try changes.update(Self.line, ["Quantity": 7])
            try changes.delete(Self.line)
        }
        try await shop.sql(Self.lineGone)
        let failed = try await store.upload().failed
        #expect(failed.map(\.kind) == [.update, .delete])
        #expect(failed.first?.failure?.conflict == .deleted)
    }

    // MARK: Required ETags

    /// Returns a service that refuses changes without a precondition.
    private func strict(
        _ base: any ODataProvider, after: @escaping @Sendable (ODataRequest, ODataResponse) -> ODataResponse = { $1 }
    ) -> Gateway {
        let error = ODataError(status: 428, code: "PreconditionRequired", message: "Say which version.")
        let isUnguarded: @Sendable (ODataRequest) -> Bool = { request in
            request.ifMatch == nil && [.update, .replace, .delete].contains(request.method)
        }
        return Gateway(
            base: base,
            before: { request in
                guard case .batch(let items) = request.body else {
                    if isUnguarded(request) { throw error }
                    return nil
                }
                guard items.contains(where: { isUnguarded($0.request) }) else { return nil }
                return ODataResponse(body: .batch(items.map { BatchResult(id: $0.id, result: .failure(error)) }))
            },
            after: { after($0, $1) })
    }

    /// The changes of one entity in a change set.
    enum Twice: CaseIterable, Sendable {
        case updated, createdAndUpdated, updatedAndDeleted
    }

    @Test("that changes an entity twice is accepted by a service that requires versions", arguments: Twice.allCases)
    func requiredETag(twice: Twice) async throws {
        let shop = try await Shop()
        let store = try await shop.clone(through: strict(try shop.client()))
        try await store.changes.transaction { changes in
            switch twice {
            case .updated:
                for stock in 5...6 as ClosedRange<Int64> {
                    try changes.update("Products(1)", ["Stock": .integer(stock)])
                }
            case .createdAndUpdated:
                try changes.create("Categories", ["Name": "First"])
                try changes.update("Categories(-1)", ["Name": "Second"])
            case .updatedAndDeleted:
                try changes.update(Self.line, ["Quantity": 7])
                try changes.delete(Self.line)
            }
        }
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.count == 2)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test(
        "with unknown versions is accepted by a service that requires them",
        arguments: [true, false], [true, false])
    func unknownETag(isAlone: Bool, compares: Bool) async throws {
        let shop = try await Shop()
        let service = strict(try shop.client(), after: { $1.withoutETagsInPage })
        let store = try await shop.clone(through: service)
        if isAlone {
            try await store.update("Products(1)", ["Stock": 5])
        } else {
            try await store.changes.transaction(Self.twoStocks)
        }
        var options = UploadOptions()
        options.comparesWithoutETags = compares || !isAlone
        let report = try await store.upload(options: options)
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(try await stock(shop, 1) == 5)
    }

    // MARK: Unknown outcomes

    @Test(
        "Rule 8: is a conflict if others changed everything since its response was lost",
        arguments: [true, false])
    func changedAll(hasActed: Bool) async throws {
        let shop = try await Shop()
        let store = try await lost(shop, hasActed: hasActed, Self.twoStocks)
        try await shop.sql("\(Self.theirs) IN (1, 2)")
        let report = try await store.upload()
        #expect(report.accepted.isEmpty)
        #expect(report.failed.map(\.state) == [.refused, .refused])
        #expect(report.failed.map { $0.failure?.theirs?["Stock"] } == [99, 99])
        #expect(try await stock(shop, 1) == 99)
        #expect(try await stock(shop, 2) == 99)
    }

    @Test("Rule 8: is compared again before it is repeated, and waits as a whole for a conflict")
    func changedOne() async throws {
        let shop = try await Shop()
        let store = try await lost(shop, hasActed: false, Self.twoStocks)
        try await shop.sql("\(Self.theirs) = 2")
        let failed = try await store.upload().failed
        #expect(failed.map(\.state) == [.refused, .refused])
        #expect(failed.map { $0.failure?.theirs?["Stock"] } == [nil, 99])
        #expect(try await stock(shop, 1) == 19)
        #expect(try await stock(shop, 2) == 99)
        try await store.changes.retry()
        #expect(try await store.upload().accepted.count == 2)
        #expect(try await stock(shop, 1) == 5)
        #expect(try await stock(shop, 2) == 7)
    }

    @Test("Rule 1: succeeded if one of its changes proves it, despite later changes by others")
    func acted() async throws {
        let shop = try await Shop()
        let store = try await lost(shop, hasActed: true, Self.twoStocks)
        try await shop.sql("\(Self.theirs) = 2")
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.count == 2)
        #expect(try await stock(shop, 1) == 5)
        #expect(try await stock(shop, 2) == 99)
    }

    @Test(
        "Rule 1: has an unknown outcome if others changed the evidence, and its creations are not repeated",
        arguments: [true, false])
    func creation(hasActed: Bool) async throws {
        let shop = try await Shop()
        let store = try await lost(shop, hasActed: hasActed) { changes in
            try changes.create(
                "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
            try changes.update("Products(1)", ["Stock": 5])
        }
        try await shop.sql("\(Self.theirs) = 1")
        let report = try await store.upload()
        #expect(report.accepted.isEmpty)
        #expect(report.failed.map(\.state) == [.inDoubt, .inDoubt])
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == (hasActed ? 201 : 200))
        #expect(try await stock(shop, 1) == 99)
    }

    @Test("Rule 1: is recognised as sent or repeated if nobody else changed the entities", arguments: [true, false])
    func undisturbed(hasActed: Bool) async throws {
        let shop = try await Shop()
        let store = try await lost(shop, hasActed: hasActed) { changes in
            try changes.create(
                "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
            try changes.update("Products(1)", ["Stock": 5])
        }
        let report = try await store.upload()
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 201)
        #expect(try await stock(shop, 1) == 5)
        // The assigned key was lost with the response.
        let codes: [String?] = hasActed ? ["NoKey"] : []
        #expect(report.failed.map { $0.failure?.code } == codes)
    }

    // MARK: Policies

    @Test("is sent on top of the server version in one round for any number of conflicts")
    func clientWins() async throws {
        let shop = try await Shop()
        let service = ForgetfulService(base: PlainService(base: try shop.client(), hasETags: false))
        let store = try await shop.clone(through: service)
        try await store.changes.transaction { changes in
            for product in 1...8 { try changes.update("Products(\(product))", ["Stock": 500]) }
        }
        try await shop.sql("\(Self.theirs) <= 8")
        await shop.wire.mend()
        let report = try await store.upload(options: UploadOptions(conflictPolicy: .clientWins))
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.count == 8)
        #expect(try await shop.count("SELECT COUNT(*) FROM Products WHERE Stock = 500") == 8)
        let requests = await shop.wire.requests
        #expect(requests.filter { $0.path?.hasSuffix("$batch") == true }.count == 1)
        #expect(requests.filter { $0.method == .get }.count == 16, "each is looked at before the round and after it")
    }

    @Test("is sent on top of the server version even after a dependent refusal (424)")
    func failedDependency() async throws {
        let shop = try await Shop()
        let dependent = ODataError(status: 424, code: "FailedDependency", message: "Another one was refused.")
        let service = Gateway(
            base: try shop.client(),
            after: { _, response in
                guard case .batch(var results) = response.body, case .failure? = results.last?.result else {
                    return response
                }
                results[0].result = .failure(dependent)
                var response = response
                response.body = .batch(results)
                return response
            })
        let store = try await shop.clone(through: service)
        try await store.changes.transaction(Self.twoStocks)
        try await shop.sql("\(Self.theirs) = 2")
        let report = try await store.upload(options: UploadOptions(conflictPolicy: .clientWins))
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.count == 2)
        #expect(try await stock(shop, 1) == 5)
        #expect(try await stock(shop, 2) == 7)
    }

    @Test("is withdrawn if the server wins, and unchanged entities keep their values")
    func serverWins() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.changes.transaction { changes in
            try changes.update("Products(1)", ["Stock": 5])
            try changes.update("Customers('C0002')", ["City": "Mine"])
            try changes.create("Categories", ["Name": "First"])
        }
        try await shop.sql("UPDATE Customers SET City = 'Theirs' WHERE CustomerID = 'C0002'")
        let report = try await store.upload(options: UploadOptions(conflictPolicy: .serverWins))
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(try await store.rows("Products(1)").first?["Stock"] == 19)
        #expect(try await store.rows("Customers('C0002')").first?["City"] == "Theirs")
        #expect(try await store.rows("Categories").count == 5)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("is withdrawn only with its own relations if the server wins")
    func relations() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([
            try DefiningQuery("a", "Albums?$expand=Tags"), DefiningQuery(entitySet: "Tags"),
        ])
        try await store.changes.transaction { changes in
            try changes.update("Albums(1)", ["Name": "Mine"])
            try changes.perform(
                ODataRequest(.create, try ODataURL(parsing: "Albums(2)/Tags/$ref"), body: .reference("Tags(3)")))
        }
        try await store.link("Albums(2)/Tags", to: "Tags(1)")
        try await studio.service.update("Albums(1)", ["Name": "Theirs"])
        let report = try await store.upload(options: UploadOptions(conflictPolicy: .serverWins))
        #expect(report.failed.map { $0.failure?.message } == [])
        for provider in [studio.service, store] as [any ODataProvider] {
            #expect(try await provider.rows("Albums(1)").first?["Name"] == "Theirs")
            #expect(try await provider.rows("Albums(2)/Tags").map { $0["Name"] } == ["red"])
        }
        #expect(try await store.observe.status().pending.isEmpty)
    }
}

/// A service that does not recognise repeated requests and returns no ETags, not even in change sets.
private struct ForgetfulService: ODataProvider {
    let base: any ODataProvider

    var model: EntityDataModel { get async throws { try await base.model } }

    var traits: ProviderTraits { .standard }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        guard case .batch(var items) = request.body else { return try await base.execute(request) }
        for index in items.indices {
            items[index].request.repeatability = nil
            items[index].request.ifMatch = nil
        }
        var request = request
        request.body = .batch(items)
        var response = try await base.execute(request)
        guard case .batch(let results) = response.body else { return response }
        response.body = .batch(results.map(Self.forgetting))
        return response
    }

    private static func forgetting(_ result: BatchResult) -> BatchResult {
        guard case .success(var response) = result.result else { return result }
        response.etag = nil
        response.repeatabilityResult = nil
        if case .entity(var entity) = response.body {
            entity.control.etag = nil
            response.body = .entity(entity)
        }
        return BatchResult(id: result.id, result: .success(response))
    }
}
