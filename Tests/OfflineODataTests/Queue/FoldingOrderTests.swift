import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Folding keeps the order of dependent changes")
struct FoldingOrderTests {
    /// Folding with a policy under which local changes win. An action changes the version on which later
    /// changes are based.
    private let folding = UploadOptions(conflictPolicy: .clientWins, foldsRequests: true)

    @Test("does not move a change past an action on any entity", arguments: ["Albums(1)", "Albums(2)"])
    func action(bound: String) async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        try await store.update("Albums(1)", ["Name": "Before"])
        _ = try await store.execute(
            ODataRequest(
                .create, try ODataURL(parsing: "\(bound)/Studio.Rename"), body: .parameters(["Name": "Renamed"])))
        try await store.update("Albums(1)", ["Name": "Behind"])
        try await store.update("Albums(1)", ["Name": "Last"])
        let report = try await store.upload(options: folding)
        #expect(report.accepted.map(\.kind) == [.update, .call, .update])
        #expect(try await studio.service.rows("Albums(1)").first?["Name"] == "Last")
    }

    @Test("does not move a change past a relation of its own entity")
    func relation() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        for name in ["Before", "Behind"] {
            for entity in ["Albums(1)", "Albums(2)", "Tags(3)"] {
                try await store.update(entity, ["Name": .string(name)])
            }
            if name == "Before" { try await store.link("Albums(1)/Tags", to: "Tags(3)") }
        }
        let report = try await store.upload(options: folding)
        #expect(
            report.accepted.map(\.entityText)
                == ["Albums(1)", "Albums(2)", "Tags(3)", "Albums(1)/Tags", "Albums(1)", "Tags(3)"])
    }

    @Test("does not move a change before a transaction that it waits for")
    func changeSet() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create(
            "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
        try await store.changes.transaction { changes in
            try changes.create("Customers", ["CustomerID": "NEWCO", "CompanyName": "New", "Country": "Norway"])
            try changes.create(
                "Order_Lines",
                ["OrderID": -1, "LineNumber": 1, "ProductID": 3, "Quantity": 2, "Price": .decimal(ODataDecimal(5))])
        }
        try await store.update("Orders(-1)", ["CustomerID": "NEWCO"])
        let report = try await store.upload(options: folding)
        #expect(report.accepted.map(\.entitySet) == ["Orders", "Customers", "Order_Lines", "Orders"])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test(
        "does not fold a creation into its deletion if a download brought the entity meanwhile",
        arguments: [true, false])
    func broughtMeanwhile(isGone: Bool) async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create("Customers", ["CustomerID": "NEWCO", "CompanyName": "Mine", "Country": "Norway"])
        try await shop.sql(
            "INSERT INTO Customers(CustomerID, CompanyName, Country) VALUES ('NEWCO', 'Theirs', 'Norway')")
        try await store.download()
        try await store.delete("Customers('NEWCO')")
        if isGone {
            try await shop.sql("DELETE FROM Customers WHERE CustomerID = 'NEWCO'")
            try await store.download()
        }
        try await store.upload(options: UploadOptions(foldsRequests: true))
        try await store.download()
        #expect(try await shop.count("SELECT COUNT(*) FROM Customers WHERE CustomerID = 'NEWCO'") == (isGone ? 0 : 1))
        try await shop.expectEqual(store)
    }
}
