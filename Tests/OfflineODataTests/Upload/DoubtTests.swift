import Foundation
import HTTPTypes
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("An upload with unknown outcome")
struct DoubtTests {
    private static let order: [String: ODataValue] = [
        "CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000)),
    ]

    @Test("accepts a creation although reading it again fails, and does not repeat it")
    func readAgainFails() async throws {
        let shop = try await Shop()
        let isUploading = LockedFlag()
        let service = Gateway(
            base: PlainService(base: try shop.client()),
            before: { request in
                guard request.method == .read, isUploading.isSet else { return nil }
                throw ODataError(status: 503, code: "Busy", message: "Come again.")
            },
            after: { request, response in
                guard request.method == .create else { return response }
                var answer = ODataResponse(status: 204, etag: response.etag)
                answer.location = response.location
                return answer
            })
        let store = try await shop.clone(through: service)
        try await store.create("Orders", Self.order)
        isUploading.set()
        for _ in 1...2 { _ = try? await store.upload() }
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 201)
        #expect(try await store.observe.status().pending.map(\.entityText) == [])
        #expect(try await store.rows("Orders(1201)").count == 1)
    }

    @Test(
        "does not repeat a creation that a gateway timed out",
        arguments: [408, 502, 503, 504])
    func gatewayTimeout(status: Int) async throws {
        let shop = try await Shop()
        let isLost = LockedFlag()
        let service = Gateway(
            base: PlainService(base: try shop.client()),
            after: { request, response in
                guard request.method == .create, !isLost.isSet else { return response }
                isLost.set()
                throw ODataError(status: status, code: "Gateway", message: "The service did not answer.")
            })
        let store = try await shop.clone(through: service)
        try await store.create("Orders", Self.order)
        await #expect(throws: ODataError.self) { try await store.upload() }
        #expect(try await store.upload().failed.map(\.state) == [.inDoubt])
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 201)
    }

    @Test("does not include a request that a busy service refused with Retry-After")
    func notLetIn() async throws {
        let shop = try await Shop()
        let isBusy = LockedFlag()
        let service = Gateway(
            base: PlainService(base: try shop.client()),
            before: { request in
                guard request.method == .create, isBusy.isSet else { return nil }
                throw ODataError(status: 503, code: "Busy", message: "Come again.", retryAfter: 1)
            })
        let store = try await shop.clone(through: service)
        try await store.create("Orders", Self.order)
        isBusy.set()
        await #expect(throws: ODataError.self) { try await store.upload() }
        isBusy.clear()
        #expect(try await store.upload().accepted.count == 1)
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 201)
    }

    @Test(
        "Rule 1: stays unknown if a refused repeat was not marked as recognised",
        arguments: [400, 403, 409, 412, 413, 500])
    func refusedRepeat(status: Int) async throws {
        let shop = try await Shop()
        let store = try await shop.clone(
            options: .ofConfirmedRepeats,
            through: losing(
                try shop.client(), then: ODataError(status: status, code: "", message: "The database is down.")))
        try await store.create("Orders", Self.order)
        await #expect(throws: TransportError.self) { try await store.upload() }
        let report = try await store.upload()
        #expect(report.failed.map(\.state) == [.inDoubt])
        #expect(report.failed.map { $0.failure?.message } == ["The database is down."])
        try await store.changes.accept()
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("Rule 1: ends if a refused repeat was marked as recognised")
    func recognisedRepeat() async throws {
        let shop = try await Shop()
        let error = ODataError(status: 403, code: "No", message: "Not you.", repeatabilityResult: .accepted)
        let store = try await shop.clone(
            options: .ofConfirmedRepeats, through: losing(try shop.client(), then: error))
        try await store.create("Orders", Self.order)
        await #expect(throws: TransportError.self) { try await store.upload() }
        #expect(try await store.upload().failed.map(\.state) == [.refused])
    }

    @Test(
        "Rule 1: is resolved by the key if a refused repeat was not marked as recognised",
        arguments: [true, false])
    func refusedRepeatWithKey(hasActed: Bool) async throws {
        let shop = try await Shop()
        let store = try await shop.clone(
            through: losing(
                try shop.client(), hasActed: hasActed, then: ODataError(status: 500, code: "", message: "No.")))
        try await store.create("Customers", ["CustomerID": "NEWCO", "CompanyName": "New", "Country": "Norway"])
        await #expect(throws: TransportError.self) { try await store.upload() }
        let report = try await store.upload()
        #expect(report.accepted.count == (hasActed ? 1 : 0))
        #expect(report.failed.map(\.state) == (hasActed ? [] : [.refused]))
    }

    @Test("Rule 2: stays unknown if the service no longer knows repeatable requests")
    func repeatabilityGone() async throws {
        let shop = try await Shop()
        let error = ODataError(
            status: 501, code: "NotImplemented", message: "What is that?", repeatabilityResult: .rejected)
        let store = try await shop.clone(through: losing(try shop.client(), then: error))
        try await store.create("Orders", Self.order)
        await #expect(throws: TransportError.self) { try await store.upload() }
        #expect(try await store.upload().failed.map(\.state) == [.inDoubt])
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 201)
    }

    /// Returns a service that loses the first creation before or after its execution. Later creations with a
    /// repeatability id are refused.
    private func losing(_ base: any ODataProvider, hasActed: Bool = true, then error: ODataError) -> Gateway {
        let isLost = LockedFlag()
        let loss = TransportError.connectionLost(host: "shop.test", reason: "the wire is cut")
        return Gateway(
            base: base,
            before: { request in
                guard request.method == .create else { return nil }
                if isLost.isSet {
                    guard request.repeatability != nil else { return nil }
                    throw error
                }
                guard !hasActed else { return nil }
                isLost.set()
                throw loss
            },
            after: { request, response in
                guard request.method == .create, !isLost.isSet else { return response }
                isLost.set()
                throw loss
            })
    }

    @Test("finds a created entity by a named correlation property (rule 1)", arguments: [true, false])
    func correlation(hasActed: Bool) async throws {
        let shop = try await Shop()
        let isCut = LockedFlag()
        // The loss occurs before or after the execution, which the client cannot distinguish.
        let lose: @Sendable (ODataRequest) throws -> Void = { request in
            guard isCut.isSet, request.method == .create else { return }
            throw TransportError.connectionLost(host: "shop.test", reason: "the wire is cut")
        }
        let service = Gateway(
            base: PlainService(base: try shop.client()),
            before: { request in
                if !hasActed { try lose(request) }
                return nil
            },
            after: { request, response in
                if hasActed { try lose(request) }
                return response
            })
        let store = try await shop.clone(through: service)
        try await store.create("Categories", ["Name": "Correlated-1"])
        try await store.create(
            "Products", ["Name": "X", "CategoryID": -1, "Price": .decimal(ODataDecimal(1)), "Stock": 1])
        isCut.set()
        await #expect(throws: TransportError.self) { try await store.upload() }
        isCut.clear()
        #expect(try await store.observe.status().pending.map(\.state) == [.sending, .pending])
        await shop.wire.mend()
        var options = UploadOptions()
        options.correlationProperties = ["Categories": "Name"]
        #expect(try await store.upload(options: options).accepted.map(\.entitySet) == ["Categories", "Products"])
        let requests = await shop.wire.requests
        #expect(requests.contains { $0.method == .get && $0.path?.contains("Correlated-1") == true })
        #expect(requests.filter { $0.method == .post }.count == (hasActed ? 1 : 2))
        #expect(try await shop.count("SELECT COUNT(*) FROM Categories WHERE Name = 'Correlated-1'") == 1)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("is archived and not sent if it is too old")
    func expired() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Products(1)", ["Stock": 5])
        var options = UploadOptions()
        options.expiresAfter = .seconds(3600)
        #expect(try await store.upload(options: options).accepted.count == 1)
        try await store.update("Products(1)", ["Stock": 6])
        options.expiresAfter = .seconds(-1)
        await shop.wire.mend()
        #expect(try await store.upload(options: options).accepted.isEmpty)
        #expect(await shop.wire.requests.isEmpty)
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1") == 5)
        #expect(try await store.rows("ErrorArchive").map { $0["Code"] } == ["Expired"])
        try await store.changes.retry()
        #expect(try await store.upload().accepted.count == 1)
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1") == 6)
    }

    @Test("does not accept a deletion that met a change by others (rule 5)")
    func deleteConflict() async throws {
        let shop = try await Shop()
        let store = try await shop.clone(through: PlainService(base: shop.client()))
        try await store.delete("Order_Lines(OrderID=1003,LineNumber=1)")
        try await shop.sql("UPDATE \"Order Lines\" SET Quantity = 99 WHERE OrderID = 1003 AND LineNumber = 1")
        let failed = try await store.upload().failed
        #expect(failed.map(\.failure?.isConflict) == [true])
        try await store.changes.discard()
        #expect(try await store.rows("Order_Lines(OrderID=1003,LineNumber=1)").first?["Quantity"] == 99)
    }

    @Test("recognises an entity that was deleted locally and downloaded again")
    func deletedAndBroughtAgain() async throws {
        let shop = try await Shop()
        let store = try await shop.clone(through: PlainService(base: shop.client()))
        try await store.create("Customers", ["CustomerID": "NEW01", "CompanyName": "New", "Country": "Norway"])
        await shop.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        _ = try? await store.upload()
        await shop.wire.mend()
        _ = try await store.execute(ODataRequest(.delete, try ODataURL(parsing: "Customers('NEW01')")))
        try await store.download()
        await shop.wire.cut { _, request in request.method == .delete ? .lostOnTheWay : nil }
        _ = try? await store.upload()
        await shop.wire.mend()
        #expect(try await store.observe.status().pending.map(\.kind) == [.delete])
        try await store.changes.undoAll()
        #expect(try await store.rows("Customers('NEW01')").count == 1)
        try await store.sync()
        try await shop.expectEqual(store)
    }

    @Test("that is accepted after a download shows later changes by others after the next download")
    func acceptedLate() async throws {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        options.service.capabilities.supportsRepeatableRequests = false
        let store = try await shop.store(options: options)
        try await store.download()
        try await store.create("Customers", ["CustomerID": "NEW01", "CompanyName": "Mine", "Country": "Norway"])
        await shop.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        _ = try? await store.upload()
        await shop.wire.mend()
        try await shop.sql("UPDATE Customers SET CompanyName = 'Theirs' WHERE CustomerID = 'NEW01'")
        #expect(try await store.upload().failed.map(\.state) == [.inDoubt])
        try await store.download()
        try await store.changes.accept()
        try await store.download()
        #expect(try await store.rows("Customers('NEW01')").first?["CompanyName"] == "Theirs")
        try await shop.expectEqual(store)
        #expect(try await store.download().queries.allSatisfy { $0.method == .delta })
    }

    @Test(
        "never replaces a downloaded version with an older one after a repeat without an entity",
        arguments: [true, false])
    func leanRepeat(isTogether: Bool) async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let options = ChangeOptions(prefersNoContent: true)
        if isTogether {
            try await store.changes.transaction(options: options) { changes in
                for product in [5, 6] { try changes.update("Products(\(product))", ["Stock": 77]) }
            }
        } else {
            try await store.changes.provider(with: options).update("Products(5)", ["Stock": 77])
        }
        await shop.wire.cut { _, request in request.method == .patch || request.method == .post ? .answerLost : nil }
        await #expect(throws: TransportError.self) { try await store.upload() }
        await shop.wire.mend()
        try await shop.sql("UPDATE Products SET Stock = 99 WHERE ProductID = 5")
        try await store.download()
        #expect(try await store.upload().failed.map(\.description) == [])
        #expect(try await store.rows("Products(5)").first?["Stock"] == 99)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("compares after a repeat without an entity if the entity cannot be read")
    func unreadableRepeat() async throws {
        let shop = try await Shop()
        let isClosed = LockedFlag()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard isClosed.isSet, request.method == .read, request.url.description == "Products(5)" else {
                    return nil
                }
                throw ODataError(status: 403, code: "No", message: "No.")
            })
        let store = try await shop.clone(through: service)
        try await store.changes.provider(with: ChangeOptions(prefersNoContent: true)).update(
            "Products(5)", ["Stock": 77])
        await shop.wire.cut { _, request in request.method == .patch ? .answerLost : nil }
        await #expect(throws: TransportError.self) { try await store.upload() }
        await shop.wire.mend()
        try await shop.sql("UPDATE Products SET Stock = 99 WHERE ProductID = 5")
        try await store.download()
        isClosed.set()
        #expect(try await store.upload().failed.map(\.description) == [])
        isClosed.clear()
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("that is accepted during a first download stops nothing, and the next download compares")
    func acceptedWhileLoading() async throws {
        let shop = try await Shop(pageSize: 10)
        let isAccepting = LockedFlag()
        let service = Gateway(
            base: try shop.client(),
            after: { request, response in
                guard isAccepting.isSet, request.link?.contains("skiptoken") == true else { return response }
                isAccepting.clear()
                // Another process accepts the server version after the page with it was received.
                let other = try await shop.reopen()
                #expect(try await other.changes.accept() == 1)
                try other.close()
                return response
            })
        var options = OfflineStore.Options()
        options.service.capabilities.supportsRepeatableRequests = false
        let store = try await shop.store(
            [DefiningQuery(entitySet: "Customers")], options: options, through: service)
        try await store.create("Customers", ["CustomerID": "A0001", "CompanyName": "Mine", "Country": "Norway"])
        await shop.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        _ = try? await store.upload()
        await shop.wire.mend()
        try await shop.sql("UPDATE Customers SET CompanyName = 'Theirs' WHERE CustomerID = 'A0001'")
        #expect(try await store.upload().failed.map(\.state) == [.inDoubt])
        isAccepting.set()
        let first = try await store.download()
        #expect(!isAccepting.isSet)
        #expect(first.queries.map(\.method) == [.first] && first.isComplete)
        #expect(try await store.rows("Customers").count == 41)
        #expect(try await store.observe.status().queries.map(\.hasDeltaLink) == [false])
        #expect(try await store.download().queries.map(\.method) == [.refresh])
        #expect(try await store.rows("Customers('A0001')").first?["CompanyName"] == "Theirs")
        #expect(try await store.download().queries.map(\.method) == [.delta])
    }

    @Test("keeps a creation with an unreadable success as unknown and continues")
    func unreadable() async throws {
        let shop = try await Shop()
        let service = Gateway(
            base: try shop.client(),
            after: { request, response in
                guard request.method == .create else { return response }
                throw InvalidResponseError(status: 201, problem: .malformed("at byte 1"), url: "Orders")
            })
        let store = try await shop.clone(through: service)
        try await store.create("Orders", Self.order)
        try await store.update("Products(5)", ["Stock": 77])
        let report = try await store.upload()
        #expect(report.failed.map(\.state) == [.inDoubt])
        #expect(report.accepted.map(\.entitySet) == ["Products"])
    }

    @Test(
        "ends if the service reports a conflict every time although the client wins",
        Patience.limit)
    func endlessConflict() async throws {
        let shop = try await Shop()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard request.method == .update else { return nil }
                throw ODataError(status: 412, code: "Conflict", message: "No.")
            })
        let store = try await shop.clone(through: service)
        try await store.update("Products(5)", ["Stock": 77])
        let report = try await store.upload(options: UploadOptions(conflictPolicy: .clientWins))
        #expect(report.failed.map(\.failure?.status) == [412])
    }

    @Test("continues if the other version may not be read")
    func forbiddenTheirs() async throws {
        let shop = try await Shop()
        let isUploading = LockedFlag()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard isUploading.isSet, request.url.description.hasPrefix("Customers") else { return nil }
                throw ODataError(status: request.method == .read ? 403 : 412, code: "No", message: "No.")
            })
        let store = try await shop.clone(through: service)
        try await store.update("Customers('C0002')", ["City": "Mine"])
        try await store.update("Products(5)", ["Stock": 77])
        isUploading.set()
        let report = try await store.upload()
        #expect(report.failed.map(\.entitySet) == ["Customers"])
        #expect(report.accepted.map(\.entitySet) == ["Products"])
    }

    @Test("treats an update of a missing entity as a conflict for the policy")
    func goneUpdate() async throws {
        let shop = try await Shop()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard request.method == .update else { return nil }
                throw ODataError(status: 404, code: "NotFound", message: "Gone.")
            })
        let store = try await shop.clone(through: service)
        try await store.update("Order_Lines(OrderID=1003,LineNumber=1)", ["Quantity": 5])
        try await shop.sql("DELETE FROM \"Order Lines\" WHERE OrderID = 1003 AND LineNumber = 1")
        let report = try await store.upload(options: UploadOptions(conflictPolicy: .serverWins))
        #expect(report.failed.map(\.entityText) == [])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("learns the key from Location if the returned entity lacks it (rule 11)")
    func bodyWithoutKey() async throws {
        let shop = try await Shop()
        let service = Gateway(
            base: try shop.client(),
            after: { request, response in
                guard request.method == .create, case .entity(var entity) = response.body else { return response }
                entity.values[0] = nil
                var response = response
                response.body = .entity(entity)
                return response
            })
        let store = try await shop.clone(through: service)
        try await store.create("Orders", Self.order)
        try await store.upload()
        #expect(try await store.rows("Orders(1201)").count == 1)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("stores an arrived response although its task is cancelled (rule 3)")
    func cancelled() async throws {
        let shop = try await Shop()
        let service = Gateway(
            base: PlainService(base: try shop.client()),
            after: { request, response in
                if request.method == .create { withUnsafeCurrentTask { $0?.cancel() } }
                return response
            })
        let store = try await shop.clone(through: service)
        try await store.create("Orders", Self.order)
        await Task { _ = try? await store.upload() }.value
        #expect(try await store.observe.status().pending.map(\.entityText) == [])
        #expect(try await store.upload().failed.map(\.entityText) == [])
        #expect(try await store.rows("Orders(1201)").count == 1)
    }

    @Test(
        "stores an arrived action response although its task is cancelled (rule 3)",
        arguments: ["Close", "Reopen"], [true, false])
    func cancelledAction(name: String, isSet: Bool) async throws {
        let desk = try await Desk()
        let store = try await desk.clone(
            around: {
                Gateway(
                    base: PlainService(base: $0),
                    after: { request, response in
                        if request.method == .create { withUnsafeCurrentTask { $0?.cancel() } }
                        return response
                    })
            })
        if isSet {
            try await store.changes.transaction { changes in
                try changes.perform(Desk.request(name))
                try changes.create("Tickets", ["ID": 7])
            }
        } else {
            try await store.call(name)
        }
        await Task { _ = try? await store.upload() }.value
        #expect(try await store.observe.status().pending.map(\.description) == [])
        #expect(try await store.upload().failed.map(\.description) == [])
        #expect(desk.calls.names == [name])
    }

    @Test("Rule 2: the time of first sending is that of the first transmission, not of a failed connection")
    func firstSent() async throws {
        let shop = try await Shop()
        let isLater = LockedFlag()
        var options = OfflineStore.Options()
        options.runtime.environment.now = {
            EngineEnvironment.system.now().advanced(by: .seconds(isLater.isSet ? 0 : -60 * 86_400))
        }
        let store = try await shop.store(options: options)
        try await store.download()
        try await store.create("Orders", Self.order)
        await shop.wire.cut { _, _ in .lostOnTheWay }
        await #expect(throws: TransportError.self) { try await store.upload() }
        #expect(try await store.observe.status().pending.map(\.firstSent) == [nil])
        await shop.wire.mend()
        isLater.set()
        // The creation was never sent, so it is folded with the later change.
        try await store.update("Orders(-1)", ["Freight": .decimal(ODataDecimal(9))])
        let report = try await store.upload(options: UploadOptions(foldsRequests: true))
        #expect(report.accepted.map(\.kind) == [.create])
        let posts = await shop.wire.requests.filter { $0.method == .post }
        let name = try #require(HTTPField.Name("Repeatability-First-Sent"))
        let sent = try #require(posts.first?.headerFields[name])
        #expect(posts.count == 1 && sent.hasSuffix("GMT"))
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        let date = try #require(formatter.date(from: sent))
        #expect(abs(date.timeIntervalSince1970 - Double(EngineEnvironment.system.now().seconds)) < 3600)
    }

    @Test("Rule 2: a change set without a connection was not sent, nor any part of it")
    func firstSentTogether() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.changes.transaction { changes in
            try changes.update("Products(1)", ["Stock": 5])
            try changes.update("Products(2)", ["Stock": 7])
        }
        await shop.wire.cut { _, _ in .lostOnTheWay }
        await #expect(throws: TransportError.self) { try await store.upload() }
        #expect(await shop.wire.requests.map { $0.path?.hasSuffix("$batch") } == [true])
        let pending = try await store.observe.status().pending
        #expect(pending.map(\.state) == [.pending, .pending])
        #expect(pending.map(\.firstSent) == [nil, nil])
        #expect(Set(pending.compactMap(\.requestID)).count == 2, "each has its own, from the start")
        await shop.wire.mend()
        #expect(try await store.upload().accepted.count == 2)
    }

    @Test("accepts a relation that the service already has")
    func relationThere() async throws {
        let studio = try await Studio()
        let isAgain = LockedFlag()
        let service = Gateway(
            base: PlainService(base: try studio.client()),
            before: { request in
                guard case .reference = request.body, isAgain.isSet else { return nil }
                throw ODataError(status: 409, code: "AlreadyThere", message: "They are related already.")
            })
        let store = try await studio.clone(through: service)
        try await store.link("Albums(2)/Tags", to: "Tags(3)")
        await studio.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        await #expect(throws: TransportError.self) { try await store.upload() }
        await studio.wire.mend()
        isAgain.set()
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.link])
        try await store.link("Albums(2)/Tags", to: "Tags(1)")
        #expect(try await store.upload().failed.map { $0.failure?.code } == ["AlreadyThere"], "it is not there")
    }
}
