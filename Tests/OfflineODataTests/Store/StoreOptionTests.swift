import Foundation
import HTTPTypes
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Options of a store")
struct StoreOptionTests {
    private func texts(_ store: OfflineODataProvider, _ query: String) async throws -> [String] {
        try await store.rows(query).map { row in
            guard case .string(let text)? = row["Text"] else { return "" }
            return text
        }
    }

    @Test("Indexes by type are made on each set of the type, and a type that is none is refused")
    func indexedTypes() async throws {
        let shop = try await Shop()
        let type = try #require(shop.database.model.entitySet("Customers")?.type)
        var options = OfflineODataProvider.Options()
        options.indexedTypes = ["\(type): City, CompanyName DESC"]
        let store = try await shop.store(options: options)
        #expect(try await store.indexes().map(\.set) == ["Customers"])
        #expect(
            try await store.explain(ODataURL(parsing: "Customers?$filter=City eq 'Oslo'")).statements
                .contains { $0.plan.contains { $0.contains("INDEX") } })
        options.indexedTypes = ["Shop.Nothing: City"]
        await #expect(throws: OfflineError.self) { _ = try await shop.store(named: "other", options: options) }
    }

    @Test("Keys without MaxLength are refused where that is asked for")
    func maxLength() async throws {
        let shop = try await Shop(with: "CREATE TABLE Codes(Code TEXT PRIMARY KEY, Name TEXT) WITHOUT ROWID;")
        var options = OfflineODataProvider.Options()
        options.requiresMaxLengthOfKeys = true
        await #expect(throws: OfflineError.self) {
            _ = try await shop.store([DefiningQuery(entitySet: "Codes")], options: options)
        }
        let store = try await shop.store([DefiningQuery(entitySet: "Products")], options: options)
        await #expect(throws: OfflineError.self) { try await store.add(DefiningQuery(entitySet: "Codes")) }
    }

    @Test("Changes that waited longer than the store allows are archived, not sent")
    func expiry() async throws {
        let shop = try await Shop()
        let isLater = LockedFlag()
        var options = OfflineODataProvider.Options()
        options.localChangeExpiry = 3600
        options.environment.now = { Environment.system.now() + (isLater.isSet ? 7200 : 0) }
        let store = try await shop.store(options: options)
        try await store.download()
        try await store.update("Products(1)", ["Stock": 5])
        isLater.set()
        #expect(try await store.upload().accepted.isEmpty)
        #expect(try await store.status().failed.map { $0.failure?.code } == ["Expired"])
    }

    @Test(
        "Values that the service gives are here right after the upload where that is asked for",
        arguments: [true, false])
    func earlyPopulation(isEarly: Bool) async throws {
        let shop = try await Shop(
            with: """
                CREATE TABLE Notes(NoteID INTEGER PRIMARY KEY, Text VARCHAR(40));
                INSERT INTO Notes VALUES (1, 'one');
                CREATE TRIGGER shout AFTER UPDATE OF Text ON Notes WHEN NEW.Text <> upper(NEW.Text)
                BEGIN UPDATE Notes SET Text = upper(NEW.Text) WHERE NoteID = NEW.NoteID; END;
                """)
        let service = Gateway(
            base: try shop.client(),
            after: { request, response in
                guard request.method == .update else { return response }
                return ODataResponse(status: 204, etag: response.etag)
            })
        var options = OfflineODataProvider.Options()
        options.populatesGeneratedValuesEarly = isEarly
        let store = try await shop.store([DefiningQuery(entitySet: "Notes")], options: options, through: service)
        try await store.download()
        try await store.update("Notes(1)", ["Text": "two"])
        #expect(try await store.upload().accepted.count == 1)
        #expect(try await texts(store, "Notes") == [isEarly ? "TWO" : "two"])
    }

    @Test("Formats of full and delta reads go along in Accept")
    func formats() async throws {
        let shop = try await Shop()
        var options = OfflineODataProvider.Options()
        options.definingQueryFormat = "application/json;q=1,application/xml;q=0.1"
        options.deltaQueryFormat = "application/json;odata.metadata=minimal"
        let store = try await shop.store([DefiningQuery(entitySet: "Products")], options: options)
        await shop.wire.mend()
        try await store.download()
        try await shop.sql("UPDATE Products SET Stock = 4 WHERE ProductID = 1")
        #expect(try await store.download().updated == 1)
        let accepts = await shop.wire.requests.filter { $0.path?.contains("$count") == false }
            .compactMap { $0.headerFields[.accept] }
        #expect(accepts.first == options.definingQueryFormat)
        #expect(accepts.last == options.deltaQueryFormat)
    }

    @Test("The first requests of all queries go in one batch where that is asked for, at first and later")
    func batch() async throws {
        let shop = try await Shop(pageSize: 20)
        var options = OfflineODataProvider.Options()
        options.batchesDefiningQueries = true
        let store = try await shop.store(
            [
                DefiningQuery(entitySet: "Products"), DefiningQuery(entitySet: "Customers"),
                DefiningQuery(entitySet: "Categories"),
            ],
            options: options)
        await shop.wire.mend()
        try await store.download()
        #expect(await shop.wire.requests.first?.path?.hasSuffix("$batch") == true)
        #expect(try await store.rows("Customers").count == 40, "the further pages came too")
        try await shop.sql("UPDATE Products SET Stock = 4711 WHERE ProductID = 1")
        await shop.wire.mend()
        let report = try await store.download()
        #expect(report.queries.map(\.method) == [.delta, .delta, .delta])
        #expect(report.updated == 1)
        #expect(await shop.wire.requests.count == 1)
    }

    @Test("Content-ID stands in the part or in the request within it", arguments: [true, false])
    func contentID(isWithin: Bool) async throws {
        let shop = try await Shop()
        let body = LockedNames()
        let recording = RecordingTransport(base: shop.wire, bodies: body)
        var options = OfflineODataProvider.Options()
        options.contentIDLocation = isWithin ? .operation : .mime
        let store = try await shop.store(options: options, through: try shop.client(over: recording))
        try await store.download()
        try await store.transaction { changes in
            try changes.update("Products(1)", ["Stock": 4711])
            try changes.update("Products(2)", ["Stock": 4712])
        }
        #expect(try await store.upload().accepted.count == 2)
        let batch = try #require(body.names.last { $0.contains("Content-ID") })
        let lines = batch.components(separatedBy: "\r\n")
        let start = try #require(lines.firstIndex { $0.hasPrefix("PATCH") })
        let id = try #require(lines.firstIndex { $0.hasPrefix("Content-ID: 1") })
        #expect((id > start) == isWithin)
        #expect(lines.filter { $0.hasPrefix("Content-ID: 1") }.count == 1)
    }

    @Test("A store need not keep everything by default")
    func noDefaults() async throws {
        let shop = try await Shop()
        var options = OfflineODataProvider.Options()
        options.downloadsEntitySetsByDefault = false
        let store = try await shop.store(options: options)
        #expect(try await store.definingQueries().isEmpty)
        try await store.add(DefiningQuery(entitySet: "Products"))
        #expect(try await store.download().inserted > 0)
        options.downloadsEntitySetsByDefault = true
        options.downloadsStreamsByDefault = true
        let other = try await shop.store(named: "other", options: options)
        #expect(try await other.definingQueries().allSatisfy(\.retrievesStreams))
    }
}

/// Keeps what is sent.
private struct RecordingTransport: HTTPTransport {
    let base: Wire
    let bodies: LockedNames

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        guard let body else { return try await base.send(request, body: nil, options: options) }
        let bytes = try await body.collect(limit: 1 << 20)
        bodies.append(String(decoding: bytes, as: UTF8.self))
        return try await base.send(request, body: ByteStream(bytes), options: options)
    }
}
