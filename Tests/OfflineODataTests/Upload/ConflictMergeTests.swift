import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Synchronization
import Testing

@Suite("Rule 41: a conflict is a property that both sides changed to different values")
struct ConflictMergeTests {
    private let merge = UploadOptions(conflictPolicy: .merge)
    private let customer = "Customers('C0002')"

    private func there(_ shop: Shop, _ id: String = "C0002") async throws -> String? {
        try await shop.text("SELECT CompanyName || ', ' || City FROM Customers WHERE CustomerID = '\(id)'")
    }

    private func change(_ column: String, to value: String, _ shop: Shop, _ id: String = "C0002") async throws {
        try await shop.sql("UPDATE Customers SET \(column) = '\(value)' WHERE CustomerID = '\(id)'")
    }

    @Test("Changes of different properties are merged, with and without ETags", arguments: [true, false])
    func different(hasETags: Bool) async throws {
        let shop = try await Shop()
        let store = try await shop.clone(through: PlainService(base: try shop.client(), hasETags: hasETags))
        try await store.update(customer, ["City": "Mine"])
        try await change("CompanyName", to: "Theirs", shop)
        let report = try await store.upload(options: merge)
        #expect(report.failed.map(\.description) == [])
        #expect(report.accepted.count == 1)
        #expect(try await there(shop) == "Theirs, Mine")
        #expect(try await store.rows(customer).first?["CompanyName"] == "Theirs")
        try await store.download()
        try await store.rows(customer).forEach { #expect($0["City"] == "Mine") }
    }

    @Test("Changes of the same property are a conflict that names it, and nothing is sent")
    func same() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update(customer, ["City": "Mine", "Country": "Mine"])
        try await change("City", to: "Theirs", shop)
        let failure = try #require(try await store.upload(options: merge).failed.first?.failure)
        #expect(failure.conflict == .changed && failure.target == "City")
        #expect(failure.message.contains("City"))
        #expect(failure.theirs?["City"] == "Theirs")
        #expect(try await shop.text("SELECT City || Country FROM Customers WHERE CustomerID = 'C0002'") != "TheirsMine")
    }

    @Test("The same change on both sides is accepted without being sent")
    func agreed() async throws {
        let shop = try await Shop()
        let sent = LockedList()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                if request.method == .update { sent.append(request) }
                return nil
            })
        let store = try await shop.clone(through: service)
        try await store.update(customer, ["City": "Ours"])
        try await change("City", to: "Ours", shop)
        try await change("CompanyName", to: "Theirs", shop)
        #expect(try await store.upload(options: merge).accepted.count == 1)
        #expect(sent.requests.count == 1, "the first one, which was refused")
        #expect(try await there(shop) == "Theirs, Ours")
        try await store.download()
        try await shop.expectEqual(store)
    }

    /// The names of the policies, for arguments of tests.
    static let policies = ["fail", "merge", "mine", "theirs", "closure"]

    private static func policy(_ name: String) -> ConflictPolicy {
        switch name {
        case "merge": .merge
        case "mine": .clientWins
        case "theirs": .serverWins
        case "closure":
            .custom { _ in
                Issue.record("nobody is to be asked")
                return .fail
            }
        default: .fail
        }
    }

    @Test(
        "Another ETag with equal values is no conflict for any policy",
        arguments: policies, [false, true])
    func changedETags(policy: String, isDownloaded: Bool) async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update(customer, ["City": "Mine"])
        try await store.delete("Order_Lines(OrderID=1003,LineNumber=1)")
        try store.close()
        // The new columns change all ETags.
        try await shop.sql(
            "ALTER TABLE Customers ADD COLUMN Z TEXT; ALTER TABLE \"Order Lines\" ADD COLUMN Z TEXT")
        let later = try await Shop(at: shop.directory)
        let again = try await later.reopen()
        if isDownloaded { try await again.download() }
        let report = try await again.upload(options: UploadOptions(conflictPolicy: Self.policy(policy)))
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.update, .delete])
        #expect(report.givenUp.isEmpty)
        #expect(try await shop.text("SELECT City FROM Customers WHERE CustomerID = 'C0002'") == "Mine")
    }

    @Test("A property that is not loaded is not compared", arguments: policies)
    func notLoaded(policy: String) async throws {
        let shop = try await Shop()
        let store = try await shop.clone([try DefiningQuery("c", "Customers?$select=City")])
        try await store.update(customer, ["City": "Mine"])
        try await change("CompanyName", to: "Theirs", shop)
        let report = try await store.upload(options: UploadOptions(conflictPolicy: Self.policy(policy)))
        #expect(report.accepted.count == 1)
        #expect(try await there(shop) == "Theirs, Mine")
    }

    @Test("A deletion and a change are a conflict, in both directions", arguments: [true, false])
    func deletion(isOurs: Bool) async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let line = "Order_Lines(OrderID=1003,LineNumber=1)"
        if isOurs {
            try await store.delete(line)
            try await shop.sql("UPDATE \"Order Lines\" SET Quantity = 77 WHERE OrderID = 1003 AND LineNumber = 1")
        } else {
            try await store.update(line, ["Quantity": 77])
            try await shop.sql("DELETE FROM \"Order Lines\" WHERE OrderID = 1003 AND LineNumber = 1")
        }
        let failure = try #require(try await store.upload(options: merge).failed.first?.failure)
        #expect(failure.conflict == (isOurs ? .changed : .deleted))
        let left = try await shop.count("SELECT COUNT(*) FROM \"Order Lines\" WHERE OrderID = 1003 AND LineNumber = 1")
        #expect(left == (isOurs ? 1 : 0))
    }

    @Test("Two deletions are no conflict", arguments: policies)
    func twoDeletions(policy: String) async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.delete("Order_Lines(OrderID=1003,LineNumber=1)")
        try await shop.sql("DELETE FROM \"Order Lines\" WHERE OrderID = 1003 AND LineNumber = 1")
        let report = try await store.upload(options: UploadOptions(conflictPolicy: Self.policy(policy)))
        #expect(report.accepted.count == 1 && report.failed.isEmpty)
    }

    @Test("The merged change has the new ETag and gives up after five newer changes by others", arguments: [5, 6])
    func races(count: Int) async throws {
        let shop = try await Shop()
        let tries = Mutex<[String?]>([])
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard request.method == .update else { return nil }
                let number = tries.withLock { tries in
                    tries.append(request.ifMatch)
                    return tries.count
                }
                if number <= count {
                    try await shop.sql("UPDATE Customers SET CompanyName = 'T\(number)' WHERE CustomerID = 'C0002'")
                }
                return nil
            })
        let store = try await shop.clone(through: service)
        try await store.update(customer, ["City": "Mine"])
        let report = try await store.upload(options: merge)
        let etags = tries.withLock { $0 }
        #expect(etags.count == 6 && Set(etags).count == 6 && !etags.contains(nil))
        #expect(report.accepted.count == (count == 5 ? 1 : 0))
        #expect(report.failed.map(\.failure?.conflict) == (count == 5 ? [] : [.changed]))
        let city = try await shop.text("SELECT City FROM Customers WHERE CustomerID = 'C0002'")
        #expect((city == "Mine") == (count == 5))
    }

    @Test("Pending changes behind a merged change are merged or become conflicts")
    func behind() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update(customer, ["City": "One"])
        try await store.update(customer, ["Country": "Two"])
        try await store.update(customer, ["CompanyName": "Three"])
        try await change("CompanyName", to: "Theirs", shop)
        let report = try await store.upload(options: merge)
        #expect(report.accepted.count == 2)
        #expect(report.failed.map(\.failure?.target) == ["CompanyName"])
        #expect(try await there(shop) == "Theirs, One")
        #expect(try await shop.text("SELECT Country FROM Customers WHERE CustomerID = 'C0002'") == "Two")
    }

    @Test("A change set is merged or conflicts as a whole", arguments: [true, false])
    func changeSet(isConflict: Bool) async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.changes.transaction { changes in
            try changes.update("Customers('C0002')", ["City": "Mine"])
            try changes.update("Customers('C0002')", ["Country": "Mine"])
            try changes.update("Customers('C0003')", ["City": "Mine"])
        }
        try await change("CompanyName", to: "Theirs", shop)
        try await change(isConflict ? "City" : "CompanyName", to: "Theirs", shop, "C0003")
        let report = try await store.upload(options: merge)
        #expect(report.accepted.count == (isConflict ? 0 : 3))
        #expect(report.failed.count == (isConflict ? 3 : 0))
        if !isConflict {
            #expect(try await there(shop) == "Theirs, Mine")
            #expect(try await there(shop, "C0003") == "Theirs, Mine")
            try await store.download()
            try await shop.expectEqual(store)
        } else {
            #expect(try await there(shop)?.hasSuffix("Mine") == false)
        }
    }

    @Test("In a change set, a later change of a merged entity meets the changes by others")
    func behindInChangeSet() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.changes.transaction { changes in
            try changes.update("Customers('C0002')", ["City": "Mine"])
            try changes.update("Customers('C0002')", ["CompanyName": "Mine"])
        }
        try await change("CompanyName", to: "Theirs", shop)
        #expect(try await store.upload(options: merge).failed.count == 2)
        #expect(try await there(shop)?.hasPrefix("Theirs") == true)
        #expect(try await there(shop)?.hasSuffix("Mine") == false)
        // A discarded change shows the server version, not the merged one.
        try await store.changes.discard()
        #expect(try await store.rows(customer) == shop.database.rows(customer))
    }

    @Test("Each entity set has the policy from the store options, or that of the upload")
    func bySet() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        var options = store.options
        options.sync.conflictPolicies = ["Customers": .merge, "Products": .serverWins]
        try store.setOptions(options)
        try await store.update(customer, ["City": "Mine"])
        try await store.update("Products(1)", ["Stock": 501])
        try await store.update("Employees(1)", ["Name": "Mine"])
        try await change("CompanyName", to: "Theirs", shop)
        try await shop.sql("UPDATE Products SET Name = 'Theirs' WHERE ProductID = 1")
        try await shop.sql("UPDATE Employees SET HiredOn = '2001-02-03' WHERE EmployeeID = 1")
        let report = try await store.upload()
        #expect(report.accepted.map(\.entitySet) == ["Customers"])
        #expect(report.givenUp.map(\.entitySet) == ["Products"])
        #expect(report.failed.map(\.entitySet) == ["Employees"])
    }

    @Test("A stream is one value: equal bytes are no conflict, and different ones are", arguments: ["two", "three"])
    func stream(theirs: String) async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try DefiningQuery("p", "Pictures", retrievesStreams: true)])
        try await store.replaceStream("Pictures(1)/$value", "two")
        try await studio.service.replaceStream("Pictures(1)/$value", theirs)
        let report = try await store.upload(options: merge)
        #expect(report.accepted.count == (theirs == "two" ? 1 : 0))
        #expect(report.failed.map(\.failure?.isConflict) == (theirs == "two" ? [] : [true]))
        #expect(try await studio.service.stream("Pictures(1)/$value") == theirs)
    }

    @Test("A closure of the app can delegate conflicts to the merge")
    func closure() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update(customer, ["City": "Mine"])
        try await change("CompanyName", to: "Theirs", shop)
        let policy = ConflictPolicy.custom { versions in
            guard case .merged(let changes) = versions.merge() else { return .fail }
            return .merged(changes)
        }
        #expect(try await store.upload(options: UploadOptions(conflictPolicy: policy)).accepted.count == 1)
        #expect(try await there(shop) == "Theirs, Mine")
    }
}
