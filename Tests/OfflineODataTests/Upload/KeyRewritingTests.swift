import HTTPTypes
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Rule 11: a service key reaches all")
struct KeyRewritingTests {
    @Test("also indirect references, if each key is part of the next")
    func throughKeys() async throws {
        let depot = try await Depot()
        let store = try await depot.clone()
        #expect(try await store.create("Headers", ["Title": "third"])?["ID"] == -1)
        try await store.create("Items", ["HeaderID": -1, "No": 1])
        try await store.create("Schedules", ["HeaderID": -1, "ItemNo": 1, "No": 1, "Day": "Monday"])
        try await store.update("Schedules(HeaderID=-1,ItemNo=1,No=1)", ["Day": "Tuesday"])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        let header = try #require(try await depot.service.rows("Headers?$filter=Title eq 'third'").first?["ID"])
        for provider in [depot.service, store] as [any ODataProvider] {
            #expect(try await provider.rows("Items").map { $0["HeaderID"] } == [header])
            let schedules = try await provider.rows("Schedules")
            #expect(schedules.map { $0["HeaderID"] } == [header])
            #expect(schedules.map { $0["Day"] } == ["Tuesday"])
        }
        #expect(try await store.rows("Schedules(HeaderID=-1,ItemNo=1,No=1)").count == 1, "by its old link too")
    }

    @Test("also entities in one change set whose keys include it")
    func throughKeysTogether() async throws {
        let depot = try await Depot()
        let store = try await depot.clone()
        try await store.changes.transaction { changes in
            try changes.create("Headers", ["Title": "third"])
            try changes.create("Items", ["HeaderID": -1, "No": 1])
            try changes.create("Schedules", ["HeaderID": -1, "ItemNo": 1, "No": 1, "Day": "Monday"])
        }
        await depot.wire.mend()
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(await depot.wire.requests.count == 1)
        let header = try #require(try await depot.service.rows("Headers?$filter=Title eq 'third'").first?["ID"])
        for provider in [depot.service, store] as [any ODataProvider] {
            #expect(try await provider.rows("Items").map { $0["HeaderID"] } == [header])
            let schedules = try await provider.rows("Schedules")
            #expect(schedules.map { $0["HeaderID"] } == [header])
            #expect(schedules.map { $0["ItemNo"] } == [1])
        }
    }

    @Test("also a foreign key that only a derived type has")
    func derivedTypes() async throws {
        let depot = try await Depot()
        let store = try await depot.clone()
        try await store.create("Headers", ["Title": "third"])
        try await store.change(.create, "Papers", "Letter", ["ID": 1, "Text": "Dear", "HeaderID": -1])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        let header = try #require(try await depot.service.rows("Headers?$filter=Title eq 'third'").first?["ID"])
        #expect(try await depot.service.rows("Papers").map { $0["HeaderID"] } == [header])
        #expect(try await store.rows("Papers").map { $0["HeaderID"] } == [header])
    }

    @Test("also rows that were deleted with a local entity and return")
    func deletedHere() async throws {
        let depot = try await Depot()
        let store = try await depot.clone(
            [DefiningQuery(entitySet: "Headers"), try DefiningQuery("boxes", "Boxes?$expand=Slips")])
        try await store.changes.provider(with: ChangeOptions(category: "now")).create("Headers", ["Title": "third"])
        try await store.change(.update, "Boxes(1)/Slips(1)", "Slip", ["HeaderID": -1])
        try await store.delete("Boxes(1)")
        #expect(try await store.upload(options: UploadOptions(categories: ["now"])).accepted.map(\.kind) == [.create])
        let header = try #require(try await depot.service.rows("Headers?$filter=Title eq 'third'").first?["ID"])
        #expect(try await store.rows("Boxes").isEmpty)
        #expect(try await store.changes.undo([ODataURL(parsing: "Boxes(1)")]) == 1)
        #expect(try await store.rows("Boxes(1)/Slips").map { $0["HeaderID"] } == [header])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.update])
        #expect(try await depot.service.rows("Boxes(1)/Slips").map { $0["HeaderID"] } == [header])
    }

    @Test(
        "also a row with a downloaded twin under the new key",
        arguments: [true, false])
    func twinsOfDependents(isEdited: Bool) async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.changes.transaction { changes in
            let order = try changes.create(
                "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
            try changes.create(
                "Order_Lines",
                [
                    "OrderID": try order.value(of: "OrderID"), "LineNumber": 1, "ProductID": 3, "Quantity": 2,
                    "Price": .decimal(ODataDecimal(5)),
                ])
        }
        await shop.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        _ = try? await store.upload()
        await shop.wire.mend()
        try await store.download()
        #expect(try await store.rows("Order_Lines(OrderID=1201,LineNumber=1)").count == 1)
        if isEdited { try await store.update("Order_Lines(OrderID=1201,LineNumber=1)", ["Quantity": 7]) }
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.count == (isEdited ? 3 : 2))
        #expect(try await store.rows("Order_Lines?$filter=OrderID eq -1").isEmpty)
        try await store.download()
        try await shop.expectEqual(store)
        #expect(
            try await shop.count("SELECT Quantity FROM \"Order Lines\" WHERE OrderID = 1201") == (isEdited ? 7 : 2))
    }

    @Test("also requests of rows that refer to another entity now, or are deleted", arguments: ["moved", "deleted"])
    func former(fate: String) async throws {
        let depot = try await Depot()
        let store = try await depot.clone()
        try await store.create("Headers", ["Title": "third"])
        try await store.change(.create, "Papers", "Letter", ["ID": 1, "Text": "Dear", "HeaderID": -1])
        try await store.create("Items", ["HeaderID": -1, "No": 1])
        if fate == "moved" { try await store.change(.update, "Papers(1)", "Letter", ["HeaderID": 1]) }
        if fate == "deleted" {
            try await store.delete("Papers(1)")
            try await store.delete("Items(HeaderID=-1,No=1)")
        }
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        let header = try #require(try await depot.service.rows("Headers?$filter=Title eq 'third'").first?["ID"])
        let made = try #require(report.accepted.first { $0.entitySet == "Papers" })
        #expect(made.kind == .create && made.changes["HeaderID"] == header)
        let present: [String: [ODataValue?]] = fate == "deleted" ? [:] : ["Papers": [1], "Items": [header]]
        for set in ["Papers", "Items"] {
            #expect(try await depot.service.rows(set).map { $0["HeaderID"] } == present[set, default: []])
        }
    }

    @Test(
        "also a chain of references with any length", .timeLimit(.minutes(10)))
    func chain() async throws {
        let depot = try await Depot { metadata in
            let key = #"<PropertyRef Name="HeaderID"/><PropertyRef Name="No"/></Key>"#
            let binding = #"<NavigationPropertyBinding Path="Header" Target="Headers"/>"#
            return metadata.replacingOccurrences(
                of: key,
                with: key + """
                    <Property Name="PreviousNo" Type="Edm.Int32"/>
                    <NavigationProperty Name="Previous" Type="Depot.Item">
                      <ReferentialConstraint Property="HeaderID" ReferencedProperty="HeaderID"/>
                      <ReferentialConstraint Property="PreviousNo" ReferencedProperty="No"/>
                    </NavigationProperty>
                    """
            ).replacingOccurrences(
                of: binding,
                with: binding + #"<NavigationPropertyBinding Path="Previous" Target="Items"/>"#)
        }
        let count: Int64 = Patience.isInstrumented ? 300 : 800
        let store = try await depot.clone()
        try await store.changes.provider(with: ChangeOptions(category: "now")).create("Headers", ["Title": "third"])
        try await store.create("Items", ["HeaderID": -1, "No": 1])
        for number in 2...count {
            try await store.create(
                "Items", ["HeaderID": -1, "No": .integer(number), "PreviousNo": .integer(number - 1)])
        }
        let report = try await store.upload(options: UploadOptions(categories: ["now"]))
        #expect(report.accepted.map(\.entitySet) == ["Headers"])
        let header = try #require(try await depot.service.rows("Headers?$filter=Title eq 'third'").first?["ID"])
        let items = try await store.rows("Items?$orderby=No")
        #expect(items.count == Int(count) && items.allSatisfy { $0["HeaderID"] == header })
        let pending = try await store.observe.status().pending
        #expect(pending.count == Int(count) && pending.allSatisfy { $0.changes["HeaderID"] == header })
        #expect(try await store.rows("Items(HeaderID=-1,No=\(count))").count == 1, "by its old link too")
    }
}
