import Foundation
import ODataClient
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("A service with restrictions, and a client that respects them")
struct RestrictedServiceTests {
    private static let capabilities = "Org.OData.Capabilities.V1."

    /// Returns a depot with annotations on its sets.
    private func depot(_ annotations: [String: String]) async throws -> Depot {
        let targets = annotations.sorted { $0.key < $1.key }.map {
            "<Annotations Target=\"Depot.Container/\($0.key)\">\($0.value)</Annotations>"
        }
        return try await Depot {
            $0.replacingOccurrences(of: "</Schema>", with: targets.joined() + "</Schema>")
        }
    }

    private static func restriction(_ term: String, _ property: String, _ value: String = #"Bool="false""#) -> String {
        """
        <Annotation Term="\(capabilities)\(term)"><Record><PropertyValue Property="\(property)" \(value)/></Record></Annotation>
        """
    }

    @Test("is cloned without counts, filters and orders, and missing rows are confirmed by key")
    func reading() async throws {
        let depot = try await depot([
            "Headers": Self.restriction("CountRestrictions", "Countable")
                + Self.restriction("FilterRestrictions", "Filterable")
                + Self.restriction("SortRestrictions", "Sortable")
                + Self.restriction("ChangeTracking", "Supported"),
            "Papers": Self.restriction("ReadRestrictions", "Readable"),
            "Schedules": Self.restriction("FilterRestrictions", "RequiresFilter", #"Bool="true""#),
        ])
        let survey = try await ServiceSurvey.take(of: depot.client())
        #expect(survey.leftOut == ["Schedules", "Papers"])
        #expect(survey.parts.map(\.query.name) == ["Headers", "Items", "Boxes", "Boxes-related"])
        #expect(survey.parts.map(\.rows) == [nil, 0, 1, nil])
        let leavesOut = LockedFlag()
        let service = Gateway(
            base: try depot.client(),
            after: { request, response in
                guard leavesOut.isSet, request.url.description.hasPrefix("Headers"),
                    case .page(var page) = response.body
                else { return response }
                page.entities.removeAll { $0["Title"] == "second" }
                var answer = response
                answer.body = .page(page)
                return answer
            })
        let store = try await depot.clone(through: service)
        #expect(try await store.rows("Headers?$orderby=ID").map { $0["Title"] } == ["first", "second"])
        try await depot.service.delete("Headers(1)")
        // Neither row is in the next response: one was deleted, the other is found by its key.
        leavesOut.set()
        let report = try await store.download()
        #expect(report.queries.first { $0.name == "Headers" }?.method == .refresh)
        #expect(try await store.rows("Headers").map { $0["Title"] } == ["second"])
    }

    @Test("archives forbidden changes, uses PUT if required, and continues")
    func changing() async throws {
        let depot = try await depot([
            "Headers": Self.restriction(
                "UpdateRestrictions", "UpdateMethod", #"EnumMember="\#(Self.capabilities)HttpMethod/PUT""#),
            "Items": Self.restriction("InsertRestrictions", "Insertable"),
        ])
        // The error of a client that knows restrictions of which the store does not know.
        let service = Gateway(
            base: try depot.client(),
            before: { request in
                var requests = [request]
                if case .batch(let items) = request.body { requests = items.map(\.request) }
                guard requests.contains(where: { $0.method == .create && $0.url.description == "Papers" }) else {
                    return nil
                }
                throw CapabilityError(
                    feature: "insert", set: "Papers", term: "Org.OData.Capabilities.V1.InsertRestrictions")
            })
        let store = try await depot.clone(through: service)
        await #expect(throws: ODataError.self, "what is said of a whole set is refused here at once") {
            try await store.create("Items", ["HeaderID": 1, "No": 1])
        }
        try await store.create("Papers", ["ID": 1, "Text": "of his own"])
        try await store.changes.transaction { changes in
            try changes.create("Papers", ["ID": 2, "Text": "of his own"])
            try changes.create("Headers", ["Title": "with a paper"])
        }
        try await store.update("Headers(2)", ["Title": "changed"])
        let report = try await store.upload()
        #expect(report.accepted.map(\.entityText) == ["Headers(2)"])
        #expect(report.failed.map(\.failure?.status) == [403, 403, 403])
        #expect(try await depot.service.rows("Headers?$orderby=ID").map { $0["Title"] } == ["first", "changed"])
        #expect(try await store.observe.status().pending.isEmpty)
        // The refusal of one set does not make the engine avoid change sets.
        try await store.changes.discard()
        try await store.changes.transaction { changes in
            try changes.create("Headers", ["Title": "third"])
            try changes.create("Headers", ["Title": "fourth"])
        }
        await depot.wire.mend()
        #expect(try await store.upload().accepted.count == 2)
        #expect(await depot.wire.requests.map { $0.path?.hasSuffix("$batch") } == [true])
    }

    @Test(
        "gets whole entities for sets that require it, and single properties for the others", arguments: [false, true])
    func methodsOfSets(isTogether: Bool) async throws {
        func methods(_ method: String) -> String {
            Self.restriction(
                "UpdateRestrictions", "UpdateMethod", #"EnumMember="\#(Self.capabilities)HttpMethod/\#(method)""#)
        }
        let depot = try await depot(["Headers": methods("PUT"), "Papers": methods("PATCH")])
        try await depot.service.create("Papers", ["ID": 1, "Text": "first"])
        let store = try await depot.clone()
        for number in 1...2 {
            let text = ODataValue.string("changed \(number)")
            if isTogether {
                try await store.changes.transaction { changes in
                    try changes.update("Headers(2)", ["Title": text])
                    try changes.update("Papers(1)", ["Text": text])
                }
            } else {
                try await store.update("Headers(2)", ["Title": text])
                try await store.update("Papers(1)", ["Text": text])
            }
            let report = try await store.upload()
            #expect(report.failed.map(\.description) == [])
            #expect(report.accepted.count == 2)
            #expect(try await depot.service.rows("Headers(2)").map { $0["Title"] } == [text])
            #expect(try await depot.service.rows("Papers(1)").map { $0["Text"] } == [text])
        }
    }
}

@Suite("A part of a collection")
struct PartialQueryTests {
    @Test("contains the related rows of its own rows only, with the query's own values")
    func expanded() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([
            try DefiningQuery("some", "Orders?$orderby=OrderID&$top=3&$expand=Order_Lines"),
            try DefiningQuery("named", "Customers?$filter=CustomerID eq @it&@it='C0001'&$expand=Orders"),
        ])
        let orders = try await shop.database.rows("Orders?$orderby=OrderID&$top=3&$expand=Order_Lines")
        let lines = orders.reduce(0) { $0 + ($1.related["Order_Lines"].map(Self.count) ?? 0) }
        #expect(lines > 0)
        #expect(try await store.rows("Order_Lines").count == lines)
        #expect(try await store.rows("Customers").count == 1)
        let reached = try await shop.count(
            "SELECT COUNT(*) FROM Orders WHERE CustomerID = 'C0001' OR OrderID IN (SELECT OrderID FROM Orders ORDER BY 1 LIMIT 3)"
        )
        #expect(try await store.rows("Orders").count == reached)
        let survey = try await ServiceSurvey.take(of: shop.client(), queries: [DefiningQuery("some", "Orders?$top=3")])
        #expect(survey.rows == 3)
    }

    private static func count(_ related: RelatedEntities) -> Int {
        if case .many(let entities, _, _) = related { entities.count } else { 0 }
    }
}
