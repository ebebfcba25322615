import HTTPTypes
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("A change set that a service may have accepted, or does not accept")
struct ChangeSetDoubtTests {
    private static let line = "Order_Lines(OrderID=1003,LineNumber=1)"

    /// Returns a store that lost its change set before or after the execution.
    private func lost(_ shop: Shop, hasActed: Bool) async throws -> OfflineStore {
        let isMended = LockedFlag()
        let service = Gateway(
            base: PlainService(base: try shop.client()),
            before: { request in
                guard !isMended.isSet, !hasActed, case .batch = request.body else { return nil }
                isMended.set()
                throw TransportError.connectionLost(host: "shop.test", reason: "the wire is cut")
            },
            after: { request, response in
                guard !isMended.isSet, hasActed, case .batch = request.body else { return response }
                isMended.set()
                throw TransportError.connectionLost(host: "shop.test", reason: "the wire is cut")
            })
        let store = try await shop.clone(through: service)
        try await store.changes.transaction { changes in
            try changes.delete(Self.line)
            try changes.update("Products(1)", ["Stock": 5])
        }
        await #expect(throws: TransportError.self) { try await store.upload() }
        return store
    }

    @Test("Rule 1: has an unknown outcome if the evidence differs: a deletion may be another client's")
    func disagreement() async throws {
        let shop = try await Shop()
        let stock = try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1")
        let store = try await lost(shop, hasActed: false)
        try await shop.sql("DELETE FROM \"Order Lines\" WHERE OrderID = 1003 AND LineNumber = 1")
        let report = try await store.upload()
        #expect(report.accepted.isEmpty)
        #expect(report.failed.map(\.state) == [.inDoubt, .inDoubt])
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1") == stock)
        #expect(try await store.rows("Products(1)").first?["Stock"] == 5, "it is not forgotten")
    }

    @Test("Rule 1: succeeded if all its changes are there, and is repeated if none is", arguments: [true, false])
    func agreement(hasActed: Bool) async throws {
        let shop = try await Shop()
        let store = try await lost(shop, hasActed: hasActed)
        let report = try await store.upload()
        #expect(report.failed.map(\.description) == [])
        #expect(report.accepted.count == 2)
        try await store.download()
        try await shop.expectEqual(store)
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1") == 5)
    }

    // MARK: Refusals of the batch itself

    /// Returns a service that loses the response to the first change set and refuses later ones.
    private func losing(_ base: any ODataProvider, then error: ODataError, _ isMended: LockedFlag) -> Gateway {
        let isLost = LockedFlag()
        return Gateway(
            base: base,
            before: { request in
                guard isLost.isSet, !isMended.isSet, case .batch = request.body else { return nil }
                throw error
            },
            after: { request, response in
                guard !isLost.isSet, case .batch = request.body else { return response }
                isLost.set()
                throw TransportError.connectionLost(host: "shop.test", reason: "the wire is cut")
            })
    }

    private func categoryAndStock(_ store: OfflineStore, _ stock: Int64 = 5) async throws {
        try await store.changes.transaction { changes in
            try changes.create("Categories", ["Name": .string("New \(stock)")])
            try changes.update("Products(1)", ["Stock": .integer(stock)])
        }
    }

    @Test("Rule 1: is not split if it may have acted and a proxy refuses it now")
    func refusedOnTheWay() async throws {
        let shop = try await Shop()
        let isMended = LockedFlag()
        let error = ODataError(status: 404, code: "", message: "Nothing here.")
        let store = try await shop.clone(
            options: .ofConfirmedRepeats, through: losing(try shop.client(), then: error, isMended))
        try await categoryAndStock(store)
        for _ in 1...2 { _ = try? await store.upload() }
        #expect(try await store.observe.status().pending.map(\.state) == [.sending, .sending])
        isMended.set()
        #expect(try await store.upload().accepted.count == 2)
        #expect(try await shop.count("SELECT COUNT(*) FROM Categories") == 6)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test(
        "Rule 1: is searched if it may have acted and the service no longer accepts batches",
        arguments: [404, 405, 501])
    func refusedLater(status: Int) async throws {
        let shop = try await Shop()
        let error = ODataError(status: status, code: "NoBatch", message: "There are no batches here.")
        let store = try await shop.clone(through: losing(try shop.client(), then: error, LockedFlag()))
        try await categoryAndStock(store)
        await #expect(throws: TransportError.self) { try await store.upload() }
        let report = try await store.upload()
        #expect(report.failed.map(\.state) == [.inDoubt], "nothing tells the key of the category")
        #expect(report.failed.map(\.entitySet) == ["Categories"])
        #expect(try await shop.count("SELECT COUNT(*) FROM Categories") == 6)
    }

    @Test("is split for now if a proxy refuses it, and sent as one the next time")
    func passingRefusal() async throws {
        let shop = try await Shop()
        let isRefusing = LockedFlag()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard isRefusing.isSet, case .batch = request.body else { return nil }
                throw ODataError(status: 404, code: "", message: "Nothing here.")
            })
        let store = try await shop.clone(through: service)
        for isRefused in [true, false] {
            if isRefused { isRefusing.set() } else { isRefusing.clear() }
            try await categoryAndStock(store, isRefused ? 5 : 6)
            await shop.wire.mend()
            #expect(try await store.upload().failed.map(\.description) == [])
            let changes = await shop.wire.requests.filter { $0.method != .get }
            #expect(changes.map { $0.path?.hasSuffix("$batch") } == (isRefused ? [false, false] : [true]))
        }
    }

    @Test("has an unknown outcome if the service accepted only a part of it")
    func partly() async throws {
        let shop = try await Shop()
        let base = PlainService(base: try shop.client())
        let service = Gateway(
            base: base,
            before: { request in
                guard case .batch(let items) = request.body else { return nil }
                let first = try await base.execute(items[0].request)
                let error = ODataError(status: 400, code: "No", message: "Not this.")
                return ODataResponse(
                    body: .batch([
                        BatchResult(id: items[0].id, result: .success(first)),
                        BatchResult(id: items[1].id, result: .failure(error)),
                    ]))
            })
        let store = try await shop.clone(through: service)
        try await categoryAndStock(store)
        let report = try await store.upload()
        #expect(report.failed.map(\.state) == [.inDoubt, .inDoubt])
        #expect(report.failed.allSatisfy { $0.failure?.message.contains("Not this.") == true })
    }

    @Test("a redirected response to a change within a batch is no success")
    func redirectedPart() async throws {
        let shop = try await Shop()
        let item = BatchItem(id: "1", request: ODataRequest(.delete, try ODataURL(parsing: "Products(1)")))
        let batch = ODataRequest(.create, ODataURL(path: ResourcePath([.batch])), body: .batch([item]))
        var message = HTTPResponse(status: .ok)
        message.headerFields[.contentType] = "application/json"
        let body = #"{"responses":[{"id":"1","status":302,"headers":{"location":"http://other.test/"}}]}"#
        let decoder = ResponseDecoder(
            serviceRoot: try ServiceRoot(Shop.serviceRoot), model: shop.database.model)
        let response = try await decoder.decode(message, body: ByteStream(Array(body.utf8)), to: batch)
        guard case .batch(let results) = response.body, case .failure = results.first?.result else {
            Issue.record("\(response.body)")
            return
        }
    }

    // MARK: Refusals of a repeat

    /// Returns a store with an executed change set; each of its requests is refused when it is repeated.
    private func refused(
        _ depot: Depot, _ error: ODataError, _ change: (OfflineStore) async throws -> Void
    ) async throws -> OfflineStore {
        let isLost = LockedFlag()
        let service = Gateway(
            base: try depot.client(),
            before: { request in
                guard isLost.isSet, case .batch(let items) = request.body,
                    items.contains(where: { $0.request.repeatability != nil })
                else { return nil }
                return ODataResponse(body: .batch(items.map { BatchResult(id: $0.id, result: .failure(error)) }))
            },
            after: { request, response in
                guard !isLost.isSet, case .batch = request.body else { return response }
                isLost.set()
                throw TransportError.connectionLost(host: "depot.test", reason: "the wire is cut")
            })
        let store = try await depot.clone(through: service)
        // The first upload confirms that the service recognises repeated requests.
        try await store.create("Boxes", ["ID": 7])
        try await store.upload()
        try await change(store)
        await #expect(throws: TransportError.self) { try await store.upload() }
        return store
    }

    @Test(
        "Rule 1: has an unknown outcome if a refused repeat was not marked as recognised",
        arguments: [400, 403, 404, 405, 412, 500, 501])
    func refusedRepeat(status: Int) async throws {
        let depot = try await Depot()
        let store = try await refused(depot, ODataError(status: status, code: "", message: "No.")) { store in
            try await letter(1, store)
        }
        let report = try await store.upload()
        #expect(report.failed.map(\.state) == [.inDoubt, .inDoubt])
        #expect(try await depot.service.rows("Headers?$filter=Title eq 'third'").count == 1)
    }

    @Test("Rule 2: has an unknown outcome if the service no longer knows repeatable requests")
    func repeatabilityGone() async throws {
        let depot = try await Depot()
        let error = ODataError(status: 501, code: "No", message: "What is that?", repeatabilityResult: .rejected)
        let store = try await refused(depot, error) { store in
            try await store.changes.transaction { changes in
                try changes.create("Headers", ["Title": "third"])
                try changes.create("Headers", ["Title": "fourth"])
            }
        }
        #expect(try await store.upload().failed.map(\.state) == [.inDoubt, .inDoubt])
        #expect(try await depot.service.rows("Headers").count == 4)
    }

    @Test("Rule 1: is resolved by its keys if a refused repeat was not marked as recognised")
    func refusedRepeatWithKeys() async throws {
        let depot = try await Depot()
        let store = try await refused(depot, ODataError(status: 500, code: "", message: "No.")) { store in
            try await store.changes.transaction { changes in
                try changes.create("Boxes", ["ID": 8])
                try changes.update("Headers(1)", ["Title": "changed"])
            }
        }
        #expect(try await store.upload().accepted.count == 2)
    }

    // MARK: Services without references in bodies

    /// Returns a service that refuses references in bodies without a statement in its metadata.
    private func withoutBind(_ depot: Depot, _ status: Int, _ refusals: LockedNames) throws -> Gateway {
        Gateway(
            base: PlainService(base: try depot.client()),
            before: { request in
                guard case .batch(let items) = request.body else { return nil }
                let holdsReference = items.contains { item in
                    guard case .entity(let entity) = item.request.body else { return false }
                    return entity.related.values.contains { if case .references = $0 { true } else { false } }
                }
                guard holdsReference else { return nil }
                refusals.append(String(status))
                let error = ODataError(status: status, code: "NoBind", message: "There is no bind here.")
                return ODataResponse(body: .batch(items.map { BatchResult(id: $0.id, result: .failure(error)) }))
            })
    }

    private func letter(_ number: Int64, _ store: OfflineStore) async throws {
        let shape = try #require(store.model.shape(QualifiedName("Depot", "Letter")))
        try await store.changes.transaction { changes in
            let header = try changes.create("Headers", ["Title": "third"])
            try changes.create(
                ODataEntity(shape: shape, ["ID": .integer(number), "HeaderID": try header.value(of: "ID")]),
                in: "Papers")
        }
    }

    @Test(
        "is split if the service accepts no references in bodies, stated or detected",
        arguments: [nil, 400, 501])
    func withoutBind(status: Int?) async throws {
        let depot = try await Depot()
        let refusals = LockedNames()
        var options = OfflineStore.Options()
        if status == nil { options.service.capabilities.supportsBind = false }
        let store = try await depot.clone(
            options: options, through: try withoutBind(depot, status ?? 400, refusals))
        for number in 1...2 as ClosedRange<Int64> {
            try await letter(number, store)
            let report = try await store.upload()
            #expect(report.failed.map { $0.failure?.message } == [])
            #expect(report.accepted.map(\.entitySet) == ["Headers", "Papers"])
        }
        let headers = try await depot.service.rows("Headers?$filter=Title eq 'third'&$orderby=ID").map { $0["ID"] }
        #expect(headers.count == 2)
        #expect(try await depot.service.rows("Papers?$orderby=ID").map { $0["HeaderID"] } == headers)
        // The reason of a 400 is uncertain, so the request is tried again; a 501 is definite.
        #expect(refusals.names == (status.map { $0 == 400 ? ["400", "400"] : ["501"] } ?? []))
    }

    @Test("is one change set if only PATCH is unknown to the service")
    func withoutPatch() async throws {
        let depot = try await Depot()
        let service = Gateway(
            base: PlainService(base: try depot.client()),
            before: { request in
                guard case .batch(let items) = request.body, items.contains(where: { $0.request.method == .update })
                else { return nil }
                let error = ODataError(status: 501, code: "NoPatch", message: "There is no PATCH here.")
                return ODataResponse(body: .batch(items.map { BatchResult(id: $0.id, result: .failure(error)) }))
            })
        let store = try await depot.clone(through: service)
        let shape = try #require(store.model.shape(QualifiedName("Depot", "Letter")))
        for number in 1...2 as ClosedRange<Int64> {
            try await store.changes.transaction { changes in
                let header = try changes.create("Headers", ["Title": "third"])
                try changes.create(
                    ODataEntity(shape: shape, ["ID": .integer(number), "HeaderID": try header.value(of: "ID")]),
                    in: "Papers"
                )
                try changes.update("Headers(1)", ["Title": .string("changed \(number)")])
            }
            await depot.wire.mend()
            let report = try await store.upload()
            #expect(report.failed.map { $0.failure?.message } == [])
            #expect(report.accepted.count == 3)
            let posts = await depot.wire.requests.filter { $0.method == .post }
            #expect(posts.map { $0.path?.hasSuffix("$batch") } == [true])
        }
    }

    @Test("is one change set if the service accepts references in bodies")
    func withBind() async throws {
        let depot = try await Depot()
        let store = try await depot.clone()
        try await letter(1, store)
        await depot.wire.mend()
        #expect(try await store.upload().accepted.count == 2)
        #expect(await depot.wire.requests.count == 1)
        let headers = try await depot.service.rows("Headers?$filter=Title eq 'third'").map { $0["ID"] }
        #expect(try await depot.service.rows("Papers").map { $0["HeaderID"] } == headers)
    }
}
