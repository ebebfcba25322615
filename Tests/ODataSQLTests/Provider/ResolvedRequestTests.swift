import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataSQL

/// A resolution that says something else than its URL shows which of the two a provider takes.
@Suite("A URL is resolved once")
struct ResolvedRequestTests {
    private func request(_ text: String, boundAs other: String, _ model: EntityDataModel) throws -> ODataRequest {
        ODataRequest(
            .read,
            ResolvedURL(
                url: try ODataURL(parsing: text), bound: try Binder(model: model).bind(ODataURL(parsing: other)),
                model: model))
    }

    private func count(_ request: ODataRequest, _ provider: any ODataProvider) async throws -> Int {
        guard case .page(let page) = try await provider.execute(request).body else { return -1 }
        return page.entities.count
    }

    /// Asks with a resolution against the provider's model, and with one against another model object.
    private func check(_ provider: any ODataProvider, other: EntityDataModel, _ set: String) async throws {
        let model = try await provider.model
        let (one, two) = ("\(set)?$top=1", "\(set)?$top=2")
        #expect(try await count(ODataRequest(.read, ODataURL(parsing: one)), provider) == 1)
        let fresh = "\(set)?$top=1&$skip=0"
        let resolved = try request(fresh, boundAs: two, model)
        for _ in 0..<2 { #expect(try await count(resolved, provider) == 2, "the resolution is used") }
        #expect(try await count(request(one, boundAs: two, other), provider) == 1, "of another model: resolved anew")
        var changed = resolved
        changed.url.options.top = 3
        #expect(try await count(changed, provider) == 3, "a changed URL is resolved anew")
    }

    @Test("by a store")
    func store() async throws {
        let traders = try Traders()
        let provider = StoreProvider(database: traders.queue, mapping: traders.mapping)
        try await check(provider, other: try EntityDataModel(schemas: traders.model.schemas), "Orders")
    }

    @Test("by a service with a model of its own, also for a caller with rights", arguments: [false, true])
    func service(hasAuthorization: Bool) async throws {
        let bazaar = try await Bazaar { definition in
            if hasAuthorization { definition.authorization = { _, _ in .full } }
        }
        for number in 1...3 {
            _ = try await bazaar.service.execute(
                bazaar.request(.create, "Categories", #"{"ID":\#(number),"Name":"Category \#(number)"}"#))
        }
        try await check(
            bazaar.service, other: try EntityDataModel(schemas: bazaar.service.model.schemas), "Categories")
    }

    @Test("by a database that is served, on each of its connections")
    func database() async throws {
        let fixture = try ForeignFixture(ServedDatabaseTests.people)
        let database = try await ServedDatabase.open(path: fixture.path)
        for _ in 0..<2 {
            try await check(database, other: try EntityDataModel(schemas: database.model.schemas), "person")
        }
    }

    @Test("The pages of a result share one resolution and one statement")
    func pages() async throws {
        let traders = try Traders()
        var options = StoreProvider.Options()
        options.maxPageSize = 1
        let provider = StoreProvider(database: traders.queue, mapping: traders.mapping, options: options)
        var ids: [ODataValue?] = []
        var link: String? = "Orders?$orderby=OrderID"
        while let next = link {
            var request = ODataRequest(.read, try ODataURL(parsing: next))
            request.resolve(in: traders.model)
            guard case .page(let page) = try await provider.execute(request).body else { break }
            ids += page.entities.map { $0["OrderID"] }
            link = page.nextLink
        }
        let all = try await provider.entities(all: "Orders?$orderby=OrderID")
        #expect(ids == all.map { $0["OrderID"] } && ids.count > 2)
    }

    @Test("A further page of a kept result is found, whichever connection of a served database reads it")
    func keptResult() async throws {
        let fixture = try ForeignFixture(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, c TEXT); INSERT INTO t VALUES (1,'a'),(2,'b'),(3,'c'),(4,'d'),(5,'e')"
        )
        var options = ServedDatabase.Options()
        options.maxPageSize = 1
        let database = try await ServedDatabase.open(path: fixture.path, options: options)
        for query in ["t?$apply=groupby((c))", "t?$apply=groupby((c))&$orderby=c desc"] {
            var values: [ODataValue?] = []
            var link: String? = query
            while let next = link, values.count < 10 {
                let page = try await database.page(next)
                values += page.entities.map { $0["c"] }
                link = page.nextLink
            }
            #expect(Set(values.compactMap { $0.map { "\($0)" } }).count == 5 && values.count == 5, "\(query)")
        }
    }

    @Test("A batch is not read, by whichever provider")
    func batch() async throws {
        let traders = try Traders()
        let providers: [any ODataProvider] = [
            StoreProvider(database: traders.queue, mapping: traders.mapping), try await Bazaar().service,
        ]
        for provider in providers {
            let error = await #expect(throws: ODataError.self) {
                _ = try await provider.execute(ODataRequest(.read, ODataURL(parsing: "$batch")))
            }
            #expect(error?.status == 405 && error?.allowedMethods == ["POST"])
        }
    }

    @Test("One setting has one name in all options of providers on a database")
    func settings() {
        func set(_ options: inout some ServingSettings) {
            options.maxPageSize = 7
            options.maxExpandedRows = 3
            options.isReadOnly = true
            options.valueSizeLimit = 10
        }
        var (store, service, served) = (
            StoreProvider.Options(), StoreService.Options(), ServedDatabase.Options()
        )
        set(&store)
        set(&service)
        set(&served)
        for options in [store.serving, service.serving, served.serving] {
            #expect(options.maxPageSize == 7 && options.maxExpandedRows == 3)
            #expect(options.isReadOnly && options.valueSizeLimit == 10)
        }
        #expect(StoreReader.Configuration(store.serving).maxPageSize == 7)
        #expect(StoreReader.Configuration(store.serving).maxExpandedRows == 3)
    }
}

extension StoreProvider {
    fileprivate func entities(all text: String) async throws -> [ODataEntity] {
        let url = try ODataURL(parsing: text)
        return try await database.read { try self.entities(url, in: $0) }
    }
}
