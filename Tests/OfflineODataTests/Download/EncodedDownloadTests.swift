import Foundation
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Synchronization
import Testing

@Suite("A first download that reads rows directly from the bytes")
struct EncodedDownloadTests {
    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="T">
        <ComplexType Name="Place"><Property Name="City" Type="Edm.String"/><Property Name="Zip" Type="Edm.Int32"/></ComplexType>
        <EnumType Name="Colour"><Member Name="Red" Value="1"/><Member Name="Blue" Value="2"/></EnumType>
        <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int64" Nullable="false"/><Property Name="Text" Type="Edm.String"/>
        <Property Name="Flag" Type="Edm.Boolean"/><Property Name="Small" Type="Edm.Byte"/>
        <Property Name="Amount" Type="Edm.Decimal" Precision="20" Scale="4"/><Property Name="Real" Type="Edm.Double"/>
        <Property Name="Day" Type="Edm.Date"/><Property Name="Hour" Type="Edm.TimeOfDay"/>
        <Property Name="Moment" Type="Edm.DateTimeOffset"/><Property Name="Span" Type="Edm.Duration"/>
        <Property Name="Tag" Type="Edm.Guid"/><Property Name="Bytes" Type="Edm.Binary"/>
        <Property Name="Shade" Type="T.Colour"/><Property Name="Place" Type="T.Place"/>
        <Property Name="Words" Type="Collection(Edm.String)"/></EntityType>
        <EntityType Name="BigThing" BaseType="T.Thing"><Property Name="Extra" Type="Edm.String"/></EntityType>
        <EntityType Name="OpenThing" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Things" EntityType="T.Thing"/>
        <EntitySet Name="OpenThings" EntityType="T.OpenThing"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    /// Rows of every kind: different orders of members, escapes, nulls, missing properties, complex values,
    /// derived and open types.
    private static let things: [String] = [
        #"{"@odata.etag":"W/\"1\"","ID":1,"Text":"plain","Flag":true,"Small":255,"Amount":12.3400,"Real":1.5e3,"#
            + #""Day":"2026-11-22","Hour":"08:30:00.25","Moment":"2026-11-22T08:30:00+02:00","Span":"PT1H","#
            + #""Tag":"0f8fad5b-d9cb-469f-a165-70867728950e","Bytes":"AQID","Shade":"Blue","Place":null,"Words":["a","b"]}"#,
        #"{"Text":"said \"so\"\n—\u00e9\ud83d\ude00","ID":2,"@odata.etag":"W/\"2\"","Flag":null,"Real":"INF"}"#,
        #"{"ID":3,"Text":"","Amount":-0.0001,"Place":{"City":"Bern","Zip":3000},"Words":[],"@T.note":"kept aside"}"#,
        ##"{"@odata.type":"#T.BigThing","ID":4,"Text":"big","Extra":"more"}"##,
        #"{"ID":5,"@odata.id":"Things(5)","@odata.editLink":"Things(5)","Text":null,"Unknown":[{"x":1}],"Small":0}"#,
        #"{"ID":-9223372036854775808,"Text":"東京 商店","Moment":"0001-01-01T00:00:00Z","Amount":9999999999999999.9999}"#,
        #"{"ID":1,"Text":"the same key again","@odata.etag":"W/\"3\""}"#,
    ]
    private static let open: [String] = [
        ##"{"ID":1,"Name":"dynamic","Size@odata.type":"#Int64","Size":7}"##, #"{"ID":2}"#,
    ]

    private func page(_ set: String, _ rows: [String], _ end: String = "") -> String {
        "{\"@odata.context\":\"$metadata#\(set)\",\"value\":[\(rows.joined(separator: ","))]\(end)}"
    }

    private func store(
        _ pages: [String: String], chunk: Int = 65_536, decoding: Bool = false, in folder: URL
    ) async throws -> OfflineStore {
        var answers = pages
        answers["$metadata"] = Self.metadata
        let client = try ODataClient(
            serviceRoot: "http://bytes.test/", transport: PagesTransport(answers: answers, chunk: chunk))
        return try await OfflineStore.create(
            at: folder.appendingPathComponent(UUID().uuidString).path, protection: .unencrypted,
            serviceRoot: "http://bytes.test/", remote: decoding ? Decoding(remote: client) : client)
    }

    private func everything(_ store: OfflineStore) async throws -> [String] {
        var rows: [String] = []
        for set in ["Things", "OpenThings"] {
            rows += try await store.rows("\(set)?$orderby=ID").map { row in
                let dynamic = row.dynamicProperties.sorted { $0.key < $1.key }
                return "\(row.shape) \(row.values) \(row.control) \(dynamic)"
            }
        }
        return rows
    }

    @Test("stores the same rows as a read with entities", arguments: [1, 7, 100, 65_536])
    func same(chunk: Int) async throws {
        let folder = Folder()
        let pages = ["Things": page("Things", Self.things), "OpenThings": page("OpenThings", Self.open)]
        let direct = try await store(pages, chunk: chunk, in: folder.url)
        let report = try await direct.download()
        #expect(report.received == 9)
        let decoded = try await store(pages, decoding: true, in: folder.url)
        try await decoded.download()
        let rows = try await everything(direct)
        #expect(rows.count == 8)
        for (ours, theirs) in zip(rows, try await everything(decoded)) { #expect(ours == theirs) }
        let first = try #require(try await direct.rows("Things?$filter=ID eq 1").first)
        #expect(first["Text"] == .string("the same key again"))
        #expect(first["Day"] == .date(try #require(ODataDate(year: 2026, month: 11, day: 22))))
        #expect(first.control.etag == "W/\"3\"")
    }

    @Test("does not load properties in rows that lack them")
    func notLoaded() async throws {
        let folder = Folder()
        let pages = ["Things": page("Things", Self.things), "OpenThings": page("OpenThings", [])]
        let store = try await store(pages, in: folder.url)
        try await store.download()
        let second = try #require(try await store.rows("Things?$filter=ID eq 2").first)
        #expect(second["Flag"] == .null)
        #expect(second["Amount"] == nil)
    }

    @Test("a page of many parts may have a relative next link")
    func links() async throws {
        let folder = Folder()
        let rows = (0..<20_000).map { "{\"ID\":\($0),\"Text\":\"number \($0)\"}" }
        let pages = [
            "Things": page("Things", Array(rows[..<15_000]), ",\"@odata.nextLink\":\"Things?$skiptoken=x\""),
            "Things?$skiptoken=x": page("Things", Array(rows[15_000...])), "OpenThings": page("OpenThings", []),
        ]
        let store = try await store(pages, in: folder.url)
        let report = try await store.download()
        #expect(report.inserted == 20_000)
        #expect(try await store.rows("Things?$filter=ID ge 14999 and ID le 15000").count == 2)
    }

    @Test("a link to the next page that leads to the same page is an error", Patience.limit)
    func circle() async throws {
        let folder = Folder()
        let pages = [
            "Things": page("Things", ["{\"ID\":1}"], ",\"@odata.nextLink\":\"Things?$skiptoken=x\""),
            "Things?$skiptoken=x": page("Things", ["{\"ID\":2}"], ",\"@odata.nextLink\":\"Things?$skiptoken=x\""),
            "OpenThings": page("OpenThings", []),
        ]
        let store = try await store(pages, in: folder.url)
        let error = await #expect(throws: ODataError.self) { try await store.download() }
        #expect(error?.code == "UnexpectedAnswer")
    }

    @Test(
        "a truncated page is an error and is read again by the next download",
        arguments: [
            #"{"@odata.context":"$metadata#Things","value":[{"ID":1,"Text":"a"},{"ID":2,"Te"#,
            #"{"@odata.context":"$metadata#Things","value":[{"ID":1,"Text":"a"}"#,
        ])
    func broken(text: String) async throws {
        let folder = Folder()
        let answers = ["Things": text, "OpenThings": page("OpenThings", []), "$metadata": Self.metadata]
        let transport = PagesTransport(answers: answers)
        let store = try await OfflineStore.create(
            at: folder.url.appendingPathComponent("broken").path, protection: .unencrypted,
            serviceRoot: "http://bytes.test/",
            remote: ODataClient(serviceRoot: "http://bytes.test/", transport: transport))
        let error = await #expect(throws: OfflineError.self) { try await store.download() }
        guard case .queriesRefused(let refusals, _)? = error else { throw try #require(error) }
        #expect(refusals.map(\.name) == ["Things"] && refusals.map(\.error.code) == ["InvalidResponse"])
        // Rows of an incomplete first download are not visible.
        #expect(try await store.rows("Things").isEmpty)
        transport.answers.withLock { $0["Things"] = page("Things", Self.things) }
        try await store.download()
        #expect(try await store.rows("Things").count == 6)
    }

    @Test("an error object within a page is the error of the service")
    func serviceError() async throws {
        let folder = Folder()
        let text = #"{"@odata.context":"$metadata#Things","value":[{"ID":1}],"error":{"code":"Disk","message":"full"}}"#
        let store = try await store(["Things": text, "OpenThings": page("OpenThings", [])], in: folder.url)
        let error = await #expect(throws: OfflineError.self) { try await store.download() }
        guard case .queriesRefused(let refusals, _)? = error else { throw try #require(error) }
        #expect(refusals.map(\.error.code) == ["Disk"])
    }
}

/// A provider that always requests decoded pages.
private struct Decoding: ODataProvider {
    let remote: any ODataProvider

    var model: EntityDataModel { get async throws { try await remote.model } }

    var traits: ProviderTraits { .standard }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        var request = request
        if request.method == .read { request.format = nil }
        return try await remote.execute(request)
    }
}
