import Foundation
import HTTPTypes
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Limits from the metadata apply to downloads")
struct StatedLimitTests {
    /// Returns the requested page sizes.
    private static func sizes(_ service: OddService) -> [String] {
        service.requests.filter { $0.target.hasPrefix("Items?") || $0.target == "Items" }.compactMap { request in
            let prefer = HTTPField.Name("Prefer").flatMap { request.fields[$0] }
            return prefer?.components(separatedBy: "maxpagesize=").last.map { String($0.prefix { $0.isNumber }) }
        }
    }

    @Test("pages are requested with at most sap:maxpagesize rows", arguments: [(nil, 100), (30, 30)])
    func pageSize(wanted: Int?, expected: Int) async throws {
        var options = OfflineStore.Options()
        if let wanted { options.sync.downloadPageSize = wanted }
        let attribute = #"xmlns:sap="http://www.sap.com/Protocols/SAPData" sap:maxpagesize="100""#
        let service = OddService(
            OddService.schema().replacing(
                #"<EntitySet Name="Items""#, with: #"<EntitySet \#(attribute) Name="Items""#))
        let store = try await service.clone(options)
        try await store.download()
        #expect(Set(Self.sizes(service)) == ["\(expected)"], "\(service.lines)")
        // Pages requested by number, as in V2, have the same size.
        options.service.capabilities.supportsNext = false
        let older = OddService(OddService.olderSchema(set: #"sap:maxpagesize="100""#))
        let counting = try await older.store([:], options)
        older.answer { $0.target.contains("$skip") ? .json(#"{"d":{"results":[]}}"#) : nil }
        try await counting.download()
        #expect(older.lines.contains { $0.contains("$top=\(expected)") }, "\(older.lines)")
    }

    @Test(
        "a delta link older than sap:delta-link-validity is replaced by a full read",
        arguments: [(3599, true), (3600, false), (90_000, false)])
    func validity(age: Int, isUsed: Bool) async throws {
        let service = OddService(
            OddService.olderSchema(set: #"sap:delta-link-validity="3600""#), rows: [1: #"{"ID":1,"Name":"a"}"#])
        let rule: OddService.Rule = { request in
            if request.target.contains("deltatoken") {
                return .json(#"{"d":{"results":[],"__delta":"Items?!deltatoken=2"}}"#)
            }
            guard request.target.hasPrefix("Items") && !request.target.contains("$count") else { return nil }
            return .json(##"{"d":{"results":[{"ID":1,"Name":"a"}],"__delta":"Items?!deltatoken=1"}}"##)
        }
        service.answer(rule)
        let later = LockedFlag()
        var options = OfflineStore.Options()
        options.runtime.environment.now = { ODataDateTimeOffset(seconds: 1_000_000 + (later.isSet ? Int64(age) : 0)) }
        let store = try await service.clone(options)
        #expect(try await store.observe.status().queries.map(\.hasDeltaLink) == [true])
        later.set()
        service.answer(rule)
        let report = try await store.download()
        #expect(report.queries.map(\.method) == [isUsed ? .delta : .refresh])
        #expect(service.lines.contains { $0.contains("deltatoken=1") } == isUsed, "\(service.lines)")
        // The new delta link has not expired.
        service.answer(rule)
        #expect(try await store.download().queries.map(\.method) == [.delta])
    }

    @Test("keys are filtered one at a time if required, with the query's own filter")
    func singleKeys() async throws {
        let schema = OddService.olderSchema().replacing(
            #"<Property Name="ID" Type="Edm.Int32" Nullable="false"/>"#,
            with: #"<Property Name="ID" Type="Edm.Int32" Nullable="false" sap:filter-restriction="single-value"/>"#)
        let rows = [1, 2, 3].map { #"{"ID":\#($0),"Name":"a"}"# }
        let service = OddService(schema, rows: [:])
        let leavesOut = LockedFlag()
        let rule: OddService.Rule = { request in
            guard request.target.hasPrefix("Items?"), request.method == "GET" else { return nil }
            func page(_ rows: [String]) -> OddService.Answer {
                .json(#"{"d":{"results":[\#(rows.joined(separator: ","))]}}"#)
            }
            if request.target.contains("ID eq 2") { return page([rows[1]]) }
            if request.target.contains("ID eq") { return page([]) }
            return page(leavesOut.isSet ? [rows[0]] : rows)
        }
        service.answer(rule)
        let store = try await service.store(["q": "Items?$filter=Name eq 'a'"])
        try await store.download()
        leavesOut.set()
        service.answer(rule)
        try await store.download()
        let filters = service.lines.filter { $0.contains("ID eq") }
        #expect(filters.count == 2 && !filters.contains { $0.contains(" or ") }, "\(service.lines)")
        #expect(try await store.rows("Items?$orderby=ID").map { $0["ID"] } == [1, 2])
    }

    @Test("a defining query that breaks a filter restriction is not sent, and its failure names the restriction")
    func definingQuery() async throws {
        let service = OddService(
            OddService.olderSchema(#"<Property Name="Plant" Type="Edm.String" sap:filter-restriction="interval"/>"#))
        let store = try await service.store(["q": "Items?$filter=Plant eq 'a' or Plant eq 'b'"])
        service.answer { _ in nil }
        let error = await #expect(throws: (any Error).self) { try await store.download() }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("sap:filter-restriction=interval") && text.contains("Plant"), "\(text)")
        #expect(!service.lines.contains { $0.contains("Plant") }, "\(service.lines)")
    }
}
