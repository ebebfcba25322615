import Foundation
import GRDB
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("A row with local changes")
struct MembershipTests {
    @Test("leaves with the last query that holds it (rule 12)")
    func handedOver() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([
            DefiningQuery("norway", "Customers?$filter=Country eq 'Norway'"),
            DefiningQuery("bergen", "Customers?$filter=City eq 'Bergen'"),
        ])
        try await store.update("Customers('C0001')", ["CompanyName": "Mine"])
        try await shop.sql("UPDATE Customers SET Country = 'Sweden' WHERE CustomerID = 'C0001'")
        try await store.download(["bergen"])
        try await store.download(["norway"])
        #expect(try await store.upload().failed.count == 1)
        try await store.changes.discard()
        #expect(try await store.rows("Customers('C0001')").first?["Country"] == "Sweden", "it still is in Bergen")
        try await shop.sql("UPDATE Customers SET City = 'Malmö' WHERE CustomerID = 'C0001'")
        try await store.download(["bergen"])
        #expect(try await store.rows("Customers?$filter=CustomerID eq 'C0001'").isEmpty)
    }

    /// Returns a store with Norway's customers, in which the first download of all customers was interrupted
    /// after its first page.
    private func cloneBesideBrokenDownload(_ shop: Shop) async throws -> OfflineStore {
        let store = try await shop.clone([DefiningQuery("norway", "Customers?$filter=Country eq 'Norway'")])
        try await store.queries.add(DefiningQuery("all", "Customers"))
        await shop.wire.cut { _, request in request.path?.contains("skiptoken") == true ? .lostOnTheWay : nil }
        await #expect(throws: TransportError.self) { try await store.download(["all"]) }
        await shop.wire.mend()
        return store
    }

    @Test("stays visible if the only other query with it is incomplete, and joins that query later (rule 12)")
    func handedOverToLoading() async throws {
        let shop = try await Shop(pageSize: 10)
        let store = try await cloneBesideBrokenDownload(shop)
        try await store.update("Customers('C0001')", ["CompanyName": "Mine"])
        try await shop.sql("UPDATE Customers SET Country = 'Sweden' WHERE CustomerID = 'C0001'")
        try await store.download(["norway"])
        #expect(try await store.rows("Customers('C0001')").map { $0["CompanyName"] } == ["Mine"])
        try await store.download()
        #expect(try await store.rows("Customers").count == 40)
        try await store.changes.undoAll()
        try await store.queries.remove("all")
        #expect(try await store.rows("Customers?$filter=CustomerID eq 'C0001'").isEmpty)
    }

    @Test("is removed with its changes if the only other query with it never completes", arguments: [true, false])
    func handedOverToRemoved(isUndone: Bool) async throws {
        let shop = try await Shop(pageSize: 10)
        let store = try await cloneBesideBrokenDownload(shop)
        try await store.update("Customers('C0001')", ["CompanyName": "Mine"])
        try await shop.sql("UPDATE Customers SET Country = 'Sweden' WHERE CustomerID = 'C0001'")
        try await store.download(["norway"])
        try await store.queries.remove("all")
        #expect(try await store.rows("Customers('C0001')").map { $0["CompanyName"] } == ["Mine"])
        if isUndone {
            try await store.changes.undoAll()
        } else {
            #expect(try await store.upload(options: UploadOptions(conflictPolicy: .clientWins)).accepted.count == 1)
        }
        try await store.download()
        #expect(try await store.rows("Customers?$filter=CustomerID eq 'C0001'").isEmpty)
    }

    @Test("moves to the complete one of its other queries when its owner releases it")
    func handedOverToComplete() async throws {
        let shop = try await Shop(pageSize: 10)
        let store = try await cloneBesideBrokenDownload(shop)
        try await store.queries.add(DefiningQuery("bergen", "Customers?$filter=City eq 'Bergen'"))
        try await store.download(["bergen"])
        try await shop.sql("UPDATE Customers SET Country = 'Sweden' WHERE CustomerID = 'C0001'")
        try await store.download(["norway"])
        #expect(try await store.rows("Customers?$filter=CustomerID eq 'C0001'").count == 1)
    }

    @Test("is removed like an unchanged row when two queries read everything anew (rule 15)", Patience.limit)
    func handedOverWhileRefreshing() async throws {
        let shop = try await Shop()
        // C0001 is in both queries. B0001 delays the second query until it checks C0001 again.
        try await shop.sql(
            "INSERT INTO Customers(CustomerID, CompanyName, City, Country) VALUES ('B0001', 'Far', 'Bergen', 'Sweden')")
        let isExpired = LockedFlag()
        let shared = try await shop.count(
            "SELECT COUNT(*) FROM Customers WHERE Country = 'Norway' AND City = 'Bergen'")
        let directory = shop.directory
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                if isExpired.isSet, request.link?.contains("deltatoken") == true {
                    throw ODataError(status: 410, code: "Gone", message: "The link has expired.")
                }
                let text = request.link ?? request.url.description
                guard isExpired.isSet, text.contains("Bergen"), text.contains("B0001") else { return nil }
                // The response waits until the first query has released the shared rows.
                let file = try DatabaseQueue(path: directory.appendingPathComponent("clone/store.db").path)
                while try await file.read({ try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM outpost_member") })
                    == shared
                {
                    try await Task.sleep(for: .milliseconds(10))
                }
                return nil
            })
        let store = try await shop.store(
            [
                DefiningQuery("norway", "Customers?$filter=Country eq 'Norway'"),
                DefiningQuery("bergen", "Customers?$filter=City eq 'Bergen'"),
            ], through: service)
        try await store.download(["norway"])
        try await store.download(["bergen"])
        try await shop.sql(
            """
            DELETE FROM "Order Lines" WHERE OrderID IN (SELECT OrderID FROM Orders WHERE CustomerID = 'C0001');
            DELETE FROM Orders WHERE CustomerID = 'C0001';
            DELETE FROM Customers WHERE CustomerID IN ('B0001', 'C0001')
            """)
        isExpired.set()
        try await store.download()
        #expect(try await store.rows("Customers?$filter=CustomerID in ('B0001', 'C0001')").isEmpty)
    }

    @Test("without a query is removed once its changes are uploaded")
    func released() async throws {
        let shop = try await Shop()
        let isTold = LockedFlag()
        let service = Gateway(
            base: try shop.client(),
            after: { _, response in
                guard isTold.isSet, case .page(var page) = response.body else { return response }
                // Many services report only once that an entity has left a result.
                page.removed = []
                var response = response
                response.body = .page(page)
                return response
            })
        let store = try await shop.clone(
            [DefiningQuery("norway", "Customers?$filter=Country eq 'Norway'")], through: service)
        try await store.update("Customers('C0001')", ["CompanyName": "Mine"])
        try await shop.sql("UPDATE Customers SET Country = 'Sweden' WHERE CustomerID = 'C0001'")
        try await store.download()
        isTold.set()
        #expect(try await store.rows("Customers('C0001')").count == 1)
        try await store.sync(options: UploadOptions(conflictPolicy: .clientWins))
        #expect(try await shop.text("SELECT CompanyName FROM Customers WHERE CustomerID = 'C0001'") == "Mine")
        #expect(try await store.rows("Customers?$filter=CustomerID eq 'C0001'").isEmpty)
    }

    @Test("counts as changed by the service only if the service changed it")
    func countedOnce() async throws {
        let shop = try await Shop()
        let store = try await shop.clone(
            [DefiningQuery(entitySet: "Orders")], through: PlainService(base: shop.client()))
        try await store.update("Orders(1001)", ["Freight": 7])
        try await store.delete("Orders(1002)")
        #expect(try await store.download().updated == 0)
        #expect(try await store.rows("Orders?$filter=outpost.upsertedLastDownload()").isEmpty)
        try await shop.sql("UPDATE Orders SET OrderedAt = '2026-01-01 09:00:00' WHERE OrderID = 1001")
        #expect(try await store.download().updated == 1)
        let found = try await store.rows("Orders?$filter=outpost.upsertedLastDownload()")
        #expect(found.map { $0["OrderID"] } == [1001])
        #expect(found.first?["Freight"] == .decimal(ODataDecimal(7)), "and the change stays on top")
        #expect(try await store.download().updated == 0)
    }

    @Test("that was created locally without a query is removed once its changes are uploaded")
    func releasedAfterMending() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([DefiningQuery("many", "Products?$filter=Stock gt 1000000")])
        let made = try await store.create(
            "Products", ["Name": "X", "CategoryID": 1, "Price": .decimal(ODataDecimal(1)), "Stock": 1])
        #expect(made?["ProductID"] == -1)
        try await store.update("Products(-1)", ["Stock": -4])
        try await store.sync()
        #expect(try await store.observe.status().failed.count == 1)
        try await store.update("Products(-1)", ["Stock": 4])
        try await store.sync()
        #expect(try await store.observe.status().failed.map(\.entityText) == [])
        #expect(try await store.rows("Products").isEmpty)
    }

    @Test(
        "that was created locally without a query is removed even if other sets are refused or omitted",
        arguments: [true, false])
    func releasedBesideOthers(isRefused: Bool) async throws {
        let shop = try await Shop()
        let isRefusing = LockedFlag()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                let url = request.link ?? request.url.description
                guard isRefusing.isSet, url.contains("Categories") else { return nil }
                throw ODataError(status: 403, code: "No", message: "Not for you.")
            })
        let store = try await shop.clone(
            [DefiningQuery("many", "Products?$filter=Stock gt 1000000"), DefiningQuery("others", "Categories")],
            through: service)
        try await store.create(
            "Products", ["Name": "X", "CategoryID": 1, "Price": .decimal(ODataDecimal(1)), "Stock": 1])
        #expect(try await store.upload().accepted.count == 1)
        #expect(try await store.rows("Products").count == 1)
        if isRefused {
            isRefusing.set()
            await #expect(throws: OfflineError.self) { try await store.download() }
        } else {
            try await store.download(["many"])
        }
        #expect(try await store.rows("Products").isEmpty)
    }

    /// The way in which an interrupted first download ends.
    enum Ending: CaseIterable {
        case beginsAgain
        case beginsAgainBehindChange
        case isRemoved
    }

    @Test(
        "that was created locally and downloaded is removed if the first download restarts without it",
        arguments: Ending.allCases)
    func releasedByBrokenDownload(ending: Ending) async throws {
        let shop = try await Shop(pageSize: 3)
        let (isCut, isExpired) = (LockedFlag(), LockedFlag())
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard request.link?.contains("skiptoken") == true else { return nil }
                if !isCut.isSet {
                    isCut.set()
                    throw TransportError.connectionLost(host: "shop.test", reason: "the wire is cut")
                }
                if !isExpired.isSet {
                    isExpired.set()
                    throw ODataError(status: 410, code: "Gone", message: "The link has expired.")
                }
                return nil
            },
            after: { _, response in
                guard case .page(var page) = response.body else { return response }
                // Many services do not report that an entity has left a result.
                page.removed = []
                var response = response
                response.body = .page(page)
                return response
            })
        let store = try await shop.clone([DefiningQuery("one", "Categories?$filter=CategoryID eq 1")], through: service)
        try await store.create("Customers", ["CustomerID": "A0001", "CompanyName": "New", "Country": "Norway"])
        #expect(try await store.upload().accepted.count == 1)
        try await store.queries.add(DefiningQuery("norway", "Customers?$filter=Country eq 'Norway'"))
        await #expect(throws: TransportError.self) { try await store.download(["norway"]) }
        #expect(try await store.rows("Customers").count == 1, "what is seen stays seen")
        try await shop.sql("UPDATE Customers SET Country = 'Sweden' WHERE CustomerID = 'A0001'")
        if ending == .isRemoved {
            try await store.queries.remove("norway")
        } else {
            if ending == .beginsAgainBehindChange {
                try await store.update("Customers('A0001')", ["City": "Mine"])
            }
            try await store.download()
            #expect(isExpired.isSet)
            let uploaded = try await store.upload(options: UploadOptions(conflictPolicy: .clientWins))
            #expect(uploaded.accepted.count == (ending == .beginsAgainBehindChange ? 1 : 0))
        }
        try await store.download()
        if ending == .isRemoved {
            #expect(try await store.lacks("Customers"))
            try await store.queries.add(DefiningQuery("norway", "Customers?$filter=Country eq 'Norway'"))
            try await store.download()
        }
        #expect(try await store.rows("Customers?$filter=CustomerID eq 'A0001'").isEmpty)
        #expect(try await store.rows("Customers").count == 5)
    }

    @Test("that was uploaded during an interrupted first download stays when the download continues")
    func keptBehindResumedDownload() async throws {
        let shop = try await Shop(pageSize: 10)
        let store = try await shop.store([DefiningQuery(entitySet: "Customers")])
        await shop.wire.cut { _, request in request.path?.contains("skiptoken") == true ? .lostOnTheWay : nil }
        await #expect(throws: TransportError.self) { try await store.download() }
        await shop.wire.mend()
        try await store.create("Customers", ["CustomerID": "A0001", "CompanyName": "New", "Country": "Norway"])
        #expect(try await store.upload().accepted.count == 1)
        #expect(try await store.download().received == 30, "the first page did not travel again")
        #expect(try await store.rows("Customers").count == 41)
        try await store.download()
        #expect(try await store.rows("Customers").count == 41)
        #expect(try await store.rows("Customers?$filter=outpost.isLocal()").isEmpty)
    }

    /// The time at which the deletion of a downloaded row is undone.
    enum Deletion: CaseIterable {
        case takenBackAtOnce
        case takenBackBehindDownload
        case refused
        case refusedBehindUpdate
    }

    @Test(
        "that was uploaded and deleted during a first download returns when the deletion is undone",
        arguments: Deletion.allCases)
    func deletedDuringFirstDownload(deletion: Deletion) async throws {
        let shop = try await Shop(pageSize: 10)
        let store = try await shop.store([DefiningQuery(entitySet: "Customers")])
        try await store.create("Customers", ["CustomerID": "A0001", "CompanyName": "New", "Country": "Norway"])
        #expect(try await store.upload().accepted.count == 1)
        await shop.wire.cut { _, request in request.path?.contains("skiptoken") == true ? .lostOnTheWay : nil }
        await #expect(throws: TransportError.self) { try await store.download() }
        await shop.wire.mend()
        if deletion == .refusedBehindUpdate {
            try await store.update("Customers('A0001')", ["City": "Mine"])
        } else {
            try await store.delete("Customers('A0001')")
        }
        if deletion == .takenBackAtOnce {
            try await store.changes.undoAll()
            #expect(try await store.rows("Customers").map { $0["CustomerID"] } == ["A0001"], "what was seen stays seen")
        }
        #expect(try await store.download().received == 31, "the first page did not travel again")
        if deletion == .refusedBehindUpdate { try await store.delete("Customers('A0001')") }
        if deletion == .takenBackBehindDownload { try await store.changes.undoAll() }
        try await shop.sql("INSERT INTO Orders(CustomerID, OrderedAt) VALUES ('A0001', '2026-01-01 09:00:00')")
        let report = try await store.sync().upload
        #expect(report.failed.count == ([.refused, .refusedBehindUpdate].contains(deletion) ? 1 : 0))
        try await store.changes.discard()
        try await store.download()
        #expect(try await store.rows("Customers?$filter=CustomerID eq 'A0001'").count == 1)
        #expect(try await store.rows("Customers").count == 41)
    }

    @Test("with an undone deletion is in all its queries again, also after a repair")
    func deletedAndRepaired() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([
            DefiningQuery("norway", "Customers?$filter=Country eq 'Norway'"),
            DefiningQuery("bergen", "Customers?$filter=City eq 'Bergen'"),
        ])
        try await store.delete("Customers('C0001')")
        #expect(try await store.maintenance.repair() == [])
        try await store.changes.undoAll()
        for query in ["norway", "bergen"] {
            #expect(try await store.rows("Customers('C0001')").count == 1)
            try await store.queries.remove(query)
        }
        #expect(try await store.lacks("Customers?$filter=CustomerID eq 'C0001'"))
    }

    @Test("that was deleted locally stays deleted until that is undone, even if its query brings it again")
    func deletedAndBack() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([DefiningQuery("norway", "Customers?$filter=Country eq 'Norway'")])
        let all = try await store.rows("Customers").count
        try await store.delete("Customers('C0001')")
        for country in ["Sweden", "Norway"] {
            try await shop.sql("UPDATE Customers SET Country = '\(country)' WHERE CustomerID = 'C0001'")
            try await store.download()
            #expect(try await store.rows("Customers").count == all - 1)
        }
        try await store.changes.undoAll()
        #expect(try await store.rows("Customers?$filter=CustomerID eq 'C0001'").count == 1)
        try await store.download()
        #expect(try await store.rows("Customers").count == all)
    }

    @Test("is one row if a download brings it before the response to its creation")
    func twins() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create(
            "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
        await shop.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        _ = try? await store.upload()
        await shop.wire.mend()
        try await store.download()
        try await store.update("Orders(1201)", ["Freight": .decimal(ODataDecimal(9))])
        #expect(try await store.upload().failed.map(\.entityText) == [])
        #expect(try await store.rows("Orders(1201)").first?["Freight"] == .decimal(ODataDecimal(9)))
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("is compared with the server version after the previous change if there are no ETags (rule 8)")
    func normalised() async throws {
        let shop = try await Shop()
        let service = Gateway(
            base: PlainService(base: try shop.client(), hasETags: false),
            after: { request, response in
                guard request.method == .create, case .entity(var entity) = response.body else { return response }
                try await shop.sql("UPDATE Customers SET City = 'OSLO' WHERE CustomerID = 'NEWCO'")
                entity["City"] = "OSLO"
                entity.markUnchanged()
                var response = response
                response.body = .entity(entity)
                return response
            })
        let store = try await shop.clone(through: service)
        try await store.create(
            "Customers", ["CustomerID": "NEWCO", "CompanyName": "New", "City": "Oslo", "Country": "Norway"])
        try await store.update("Customers('NEWCO')", ["City": "Bergen"])
        #expect(try await store.upload().failed.map(\.entityText) == [])
    }

    @Test("is compared by values if the service gave no ETag with its pages (rule 8)")
    func withoutETagInPages() async throws {
        let shop = try await Shop()
        let service = Gateway(base: try shop.client(), after: { $1.withoutETagsInPage })
        let store = try await shop.clone(through: service)
        try await store.update("Customers('C0002')", ["City": "Mine"])
        try await shop.sql("UPDATE Customers SET City = 'Theirs' WHERE CustomerID = 'C0002'")
        #expect(try await store.upload().failed.map(\.entityText) == ["Customers('C0002')"])
    }
}
