import Foundation
import GRDB
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import OfflineOData
import Testing

@Suite("A changed model")
struct MetadataTests {
    /// Returns the service after its database was altered.
    private func altered(_ shop: Shop, _ sql: String) async throws -> Shop {
        try await shop.sql(sql)
        return try await Shop(at: shop.directory)
    }

    private func refresh(_ store: OfflineStore, to shop: Shop) async throws -> MetadataRefresh {
        try store.close()
        let reopened = try await shop.reopen()
        return try await reopened.maintenance.refreshMetadata { _, _ in try shop.client() }
    }

    @Test("that is the same changes nothing")
    func same() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let refresh = try await store.maintenance.refreshMetadata()
        #expect(refresh.differences.isEmpty)
        #expect(refresh.store === store)
    }

    @Test("that is compatible is migrated in place: rows and queue stay, new properties are not loaded yet")
    func compatible() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Customers('C0001')", ["City": "Mine"])
        try await store.create(
            "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
        let newer = try await altered(shop, "ALTER TABLE Customers ADD COLUMN Phone VARCHAR(20)")
        let refresh = try await refresh(store, to: newer)
        #expect(!refresh.isRebuilt)
        #expect(refresh.differences.contains { $0.path.hasSuffix("Customer/Phone") && $0.kind == .added })
        let migrated = refresh.store
        #expect(try await migrated.rows("Customers").count == 40)
        let customer = try #require(try await migrated.rows("Customers('C0001')").first)
        #expect(customer["City"] == "Mine")
        #expect(customer["Phone"] == nil, "not loaded is not null (rule 12)")
        try await migrated.update("Customers('C0002')", ["Phone": "123"])
        // The ETags of a served database are digests of its rows, so a new column changes all of them.
        let report = try await migrated.upload(options: UploadOptions(conflictPolicy: .clientWins))
        #expect(report.failed.map(\.description) == [])
        try await migrated.download()
        try await newer.expectEqual(migrated)
    }

    @Test(
        "with new properties, edited before they are loaded, causes no conflict after one edit is withdrawn (rule 8)",
        arguments: [true, false])
    func editedBeforeLoaded(folds: Bool) async throws {
        let shop = try await Shop()
        let store = try await shop.clone(through: PlainService(base: shop.client(), hasETags: false))
        let newer = try await altered(shop, "ALTER TABLE Customers ADD COLUMN Phone VARCHAR(20) DEFAULT 'theirs'")
        try store.close()
        let migrated = try await newer.reopen().maintenance.refreshMetadata { _, _ in
            try PlainService(base: newer.client(), hasETags: false)
        }.store
        try await migrated.update("Customers('C0002')", ["Phone": "first"])
        try await migrated.update("Customers('C0002')", ["Phone": "second"])
        if !folds {
            try await migrated.changes.cancel([try #require(try await migrated.observe.status().pending.first).id])
        }
        var options = UploadOptions()
        options.foldsRequests = folds
        let report = try await migrated.upload(options: options)
        #expect(report.failed.map(\.description) == [])
        #expect(try await newer.count("SELECT COUNT(*) FROM Customers WHERE Phone = 'second'") == 1)
    }

    @Test("with longer keys keeps pending changes and their rows")
    func recodedKeys() async throws {
        func metadata(_ scale: Int) -> String {
            """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="T">
            <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Decimal" Precision="12" Scale="\(scale)" Nullable="false"/>
            <Property Name="Text" Type="Edm.String"/></EntityType>
            <EntityContainer Name="C"><EntitySet Name="Things" EntityType="T.Thing"/></EntityContainer></Schema>
            </edmx:DataServices></edmx:Edmx>
            """
        }
        let transport = PagesTransport(answers: [
            "$metadata": metadata(2),
            "Things": #"{"@odata.context":"$metadata#Things","value":[{"ID":1.5,"Text":"a"},{"ID":150,"Text":"b"}]}"#,
        ])
        let folder = Folder()
        let root = "http://values.test/"
        let store = try await OfflineStore.create(
            at: folder.url.appendingPathComponent("store").path, protection: .unencrypted, serviceRoot: root,
            remote: ODataClient(serviceRoot: root, transport: transport))
        try await store.download()
        try await store.update("Things(1.5)", ["Text": "mine"])
        transport.answers.withLock { $0["$metadata"] = metadata(4) }
        let refresh = try await store.maintenance.refreshMetadata {
            try ODataClient(serviceRoot: $0, transport: transport, model: $1)
        }
        #expect(!refresh.isRebuilt)
        for isDownloaded in [false, true] {
            if isDownloaded { try await refresh.store.download() }
            #expect(try await refresh.store.rows("Things?$orderby=ID").map { $0["Text"] } == ["mine", "b"])
            #expect(try await refresh.store.rows("Things(1.5)").map { $0["Text"] } == ["mine"])
        }
        #expect(try await refresh.store.observe.status().pending.map(\.entityText) == ["Things(1.5)"])
        #expect(try await refresh.store.changes.undoAll() == 1)
        #expect(try await refresh.store.rows("Things(1.5)").map { $0["Text"] } == ["a"])
    }

    @Test(
        "with another binding of expanded properties expands them again", arguments: [true, false],
        [true, false])
    func otherParts(isBoundElsewhere: Bool, isReversed: Bool) async throws {
        let plain = try await Studio()
        let changed = try await Studio { metadata in
            guard isBoundElsewhere else {
                return metadata.replacingOccurrences(
                    of: #"<ReferentialConstraint Property="AlbumID" ReferencedProperty="ID"/>"#, with: "")
            }
            return metadata.replacingOccurrences(
                of: #"<NavigationPropertyBinding Path="Notes" Target="Notes"/>"#,
                with: #"<NavigationPropertyBinding Path="Notes" Target="Remarks"/>"#
            ).replacingOccurrences(
                of: #"<EntitySet Name="Pictures""#,
                with: """
                    <EntitySet Name="Remarks" EntityType="Studio.Note">
                      <NavigationPropertyBinding Path="Album" Target="Albums"/>
                    </EntitySet>
                    <EntitySet Name="Pictures"
                    """)
        }
        if isBoundElsewhere {
            try await changed.service.create("Remarks", ["ID": 1, "AlbumID": 1, "Text": "first"])
        } else {
            try await changed.link("Albums(1)/Notes", to: "Notes(1)")
        }
        let (former, newer) = isReversed ? (changed, plain) : (plain, changed)
        let store = try await former.clone([try DefiningQuery("albums", "Albums?$expand=Notes")])
        #expect(try await store.rows("Albums(1)/Notes").map { $0["Text"] } == ["first"])
        try store.close()
        let client = try newer.client()
        let reopened = try await OfflineStore.open(
            at: store.directory, protection: .unencrypted, connect: { _, _ in client })
        let refresh = try await reopened.maintenance.refreshMetadata()
        #expect(refresh.isRebuilt || isReversed && !isBoundElsewhere)
        for _ in 1...2 {
            try await refresh.store.download()
            #expect(try await refresh.store.rows("Albums(1)/Notes").map { $0["Text"] } == ["first"])
        }
        let sets = newer.service.model.container.entitySets.map(\.name)
        for set in ["Notes", "Remarks"] where sets.contains(set) {
            guard set == "Remarks" || !sets.contains("Remarks") else {
                #expect(try await refresh.store.lacks(set))
                continue
            }
            #expect(try await refresh.store.rows(set).count == 1)
        }
        try await refresh.store.queries.remove("albums")
        #expect(try await refresh.store.lacks("Notes"))
    }

    @Test(
        "with new parts of stored values reads all rows again",
        arguments: [
            #"<Property Name="Note" Type="Edm.String"/></ComplexType>"#,
            #"</ComplexType><ComplexType Name="Long" BaseType="T.Line"><Property Name="Note" Type="Edm.String"/></ComplexType>"#,
        ])
    func newWithinValues(content: String) async throws {
        func metadata(_ end: String) -> String {
            """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="T">
            <ComplexType Name="Line"><Property Name="Text" Type="Edm.String"/>\(end)
            <EntityType Name="Header"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Lines" Type="Collection(T.Line)" Nullable="false"/></EntityType>
            <EntityContainer Name="C"><EntitySet Name="Headers" EntityType="T.Header"/></EntityContainer></Schema>
            </edmx:DataServices></edmx:Edmx>
            """
        }
        let type = content.contains("Long") ? ##""@odata.type":"#T.Long","## : ""
        let transport = PagesTransport(answers: [
            "$metadata": metadata("</ComplexType>"),
            "Headers": """
            {"@odata.context":"$metadata#Headers","value":[{"ID":1,"Lines":[{\(type)"Text":"a","Note":"theirs"}]}],\
            "@odata.deltaLink":"Headers?$deltatoken=1"}
            """,
            "Headers?$deltatoken=1": """
            {"@odata.context":"$metadata#Headers/$delta","value":[],"@odata.deltaLink":"Headers?$deltatoken=1"}
            """,
        ])
        let folder = Folder()
        let root = "http://values.test/"
        let store = try await OfflineStore.create(
            at: folder.url.appendingPathComponent("store").path, protection: .unencrypted, serviceRoot: root,
            remote: ODataClient(serviceRoot: root, transport: transport))
        try await store.download()
        transport.answers.withLock { $0["$metadata"] = metadata(content) }
        let refresh = try await store.maintenance.refreshMetadata {
            try ODataClient(serviceRoot: $0, transport: transport, model: $1)
        }
        #expect(!refresh.isRebuilt)
        try await refresh.store.download()
        let header = try #require(try await refresh.store.rows("Headers").first)
        guard case .collection(let lines)? = header["Lines"], case .complex(let line)? = lines.first else {
            Issue.record("no lines")
            return
        }
        #expect(line["Note"] == "theirs")
    }

    @Test(
        "keeps a locally changed row that the service removed until the change is undone",
        arguments: [true, false], [true, false])
    func goneBehindChange(isDeletion: Bool, isDownloaded: Bool) async throws {
        let shop = try await Shop()
        try await shop.sql(
            "INSERT INTO Customers(CustomerID, CompanyName, City, Country) VALUES ('A0001', 'Gone', 'Oslo', 'Norway')")
        let store = try await shop.clone()
        if isDeletion {
            try await store.delete("Customers('A0001')")
        } else {
            try await store.update("Customers('A0001')", ["City": "Mine"])
        }
        let newer = try await altered(
            shop, "DELETE FROM Customers WHERE CustomerID = 'A0001'; ALTER TABLE Products DROP COLUMN Stock")
        let rebuilt = try await refresh(store, to: newer).store
        if isDownloaded { try await rebuilt.download() }
        try await rebuilt.changes.undoAll()
        try await rebuilt.download()
        try await newer.expectEqual(rebuilt)
    }

    @Test("keeps requested indexes, also for $search, and they follow later changes")
    func indexes() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.indexes.create(on: "Customers", paths: ["City"])
        try await store.indexes.createSearch(on: "Customers")
        let before = try await store.indexes.all()
        let newer = try await altered(shop, "ALTER TABLE Customers ADD COLUMN Phone VARCHAR(20)")
        let migrated = try await refresh(store, to: newer).store
        #expect(try await migrated.indexes.all() == before)
        try await migrated.update("Customers('C0001')", ["City": "Quaxonia"])
        let found = try await migrated.rows("Customers?$search=Quaxonia")
        #expect(found.map { $0["CustomerID"] } == ["C0001"])
        let plan = try await migrated.indexes.explain(ODataURL(parsing: "Customers?$filter=City eq 'Oslo'"))
        #expect(plan.statements.flatMap(\.plan).contains { $0.contains("INDEX property") })
        try await migrated.update("Customers('C0001')", ["City": "Oslo"])
        #expect(try await migrated.rows("Customers?$search=Quaxonia").isEmpty)
    }

    @Test("never reuses a row number: a locally deleted row returns as itself (rule 11)")
    func numbers() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create("Customers", ["CustomerID": "Z9999", "CompanyName": "Last", "Country": "Norway"])
        try await store.upload()
        try await store.delete("Customers('Z9999')")
        let newer = try await altered(shop, "ALTER TABLE Customers ADD COLUMN Phone VARCHAR(20)")
        let migrated = try await refresh(store, to: newer).store
        try await migrated.create(
            "Customers", ["CustomerID": "Y0001", "CompanyName": "New", "Country": "Norway"])
        #expect(try await migrated.changes.undo([ODataURL(parsing: "Customers('Z9999')")]) == 1)
        let both = try await migrated.rows("Customers?$filter=CustomerID ge 'Y'&$orderby=CustomerID")
        #expect(both.map { $0["CompanyName"] } == ["New", "Last"])
    }

    @Test("that is incompatible rebuilds the store; the queue is kept and invalid requests are archived (rule 6)")
    func incompatible() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Customers('C0001')", ["City": "Mine"])
        try await store.update("Products(1)", ["Stock": 7])
        let newer = try await altered(shop, "ALTER TABLE Customers DROP COLUMN City")
        let refresh = try await refresh(store, to: newer)
        #expect(refresh.isRebuilt)
        #expect(refresh.refused.count == 1)
        let rebuilt = refresh.store
        #expect(try await rebuilt.rows("ErrorArchive").map { $0["Code"] } == ["ModelChanged"])
        #expect(try await rebuilt.rows("Products(1)").first?["Stock"] == 7, "what waits keeps its row")
        try await rebuilt.changes.discard()
        try await rebuilt.sync()
        #expect(try await rebuilt.observe.status().pending.isEmpty)
        try await newer.expectEqual(rebuilt)
    }

    @Test(
        "from another process is noticed: an open store must be reopened and writes nothing (rule 10)",
        arguments: ["ALTER TABLE Customers ADD COLUMN Area VARCHAR(20)", "ALTER TABLE Customers DROP COLUMN City"])
    func otherProcess(_ change: String) async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let attached = try await AttachedStores.open(["shop": store])
        let newer = try await altered(shop, change)
        let other = try await newer.reopen().maintenance.refreshMetadata { _, _ in try newer.client() }.store
        try await other.download()
        let country = try await other.rows("Customers('C0001')").first?["Country"]
        let customer = try ODataURL(parsing: "Customers('C0001')")
        await expectAllOutdated(store)
        await expectOutdated("observe") {
            var results = store.observe.results(of: customer).makeAsyncIterator()
            _ = try await results.next()
        }
        await expectOutdated("read attached") { _ = try await attached.rows("shop_Customers") }
        #expect(try await other.rows("Customers('C0001')").first?["Country"] == country)
        #expect(try await other.rows("Customers").count == 40)
        #expect(try await other.observe.status().pending.isEmpty)
        try attached.close()
        let reopened = try await newer.reopen()
        try await reopened.update("Customers('C0001')", ["Country": "New"])
        #expect(try await other.rows("Customers('C0001')").first?["Country"] == "New", "it has the same model")
        try await reopened.sync()
        try await newer.expectEqual(reopened)
    }

    @Test(
        "invalidates the previous store object",
        arguments: ["ALTER TABLE Customers ADD COLUMN Area VARCHAR(20)", "ALTER TABLE Customers DROP COLUMN City"])
    func former(_ change: String) async throws {
        let shop = try await Shop()
        let first = try await shop.clone()
        try await first.update("Customers('C0001')", ["CompanyName": "Mine"])
        try first.close()
        let newer = try await altered(shop, change)
        let store = try await newer.reopen()
        let migrated = try await store.maintenance.refreshMetadata { _, _ in try newer.client() }.store
        #expect(migrated !== store)
        await expectAllOutdated(store)
        #expect(try await migrated.observe.status().pending.map(\.entityText) == ["Customers('C0001')"])
        let links = try await migrated.observe.status().queries.filter { $0.entitySet == "Customers" }.map(
            \.hasDeltaLink)
        #expect(links == [false], "what is new is not loaded yet")
        // The ETags of a served database are digests of its rows, so another column changes all of them.
        let report = try await migrated.upload(options: UploadOptions(conflictPolicy: .clientWins))
        #expect(report.accepted.map(\.entityText) == ["Customers('C0001')"])
        try await migrated.download()
        try await newer.expectEqual(migrated)
        await expectAllOutdated(store)
    }

    /// Expects that all operations on a store of customers report an outdated model.
    private func expectAllOutdated(_ store: OfflineStore) async {
        await expectOutdated("read") { _ = try await store.rows("Customers?$orderby=CustomerID") }
        await expectOutdated("count") { _ = try await store.rows("Customers/$count") }
        await expectOutdated("explain") { _ = try await store.indexes.explain(ODataURL(parsing: "Customers('C0001')")) }
        await expectOutdated("original") {
            _ = try await store.changes.original(of: ODataURL(parsing: "Customers('C0001')"))
        }
        await expectOutdated("status") { _ = try await store.observe.status() }
        await expectOutdated("update") { try await store.update("Customers('C0001')", ["Country": "Old"]) }
        await expectOutdated("create") {
            try await store.create("Customers", ["CustomerID": "Z9999", "CompanyName": "Old", "Country": "Old"])
        }
        await expectOutdated("delete") { try await store.delete("Customers('C0002')") }
        await expectOutdated("batch") { _ = try await store.execute(moving(["C0001"], in: store)) }
        await expectOutdated("transaction") {
            try await store.changes.transaction { try $0.update("Customers('C0001')", ["Country": "Old"]) }
        }
        await expectOutdated("undo") { _ = try await store.changes.undoAll() }
        await expectOutdated("cancel") { try await store.changes.cancel([1]) }
        await expectOutdated("retry") { try await store.changes.retry() }
        await expectOutdated("accept") { try await store.changes.accept() }
        await expectOutdated("discard") { try await store.changes.discard() }
        await expectOutdated("add") {
            try await store.queries.add(DefiningQuery("more", "Customers?$filter=Country eq 'Peru'"))
        }
        await expectOutdated("download") { try await store.download() }
        await expectOutdated("upload") { try await store.upload() }
        await expectOutdated("sync") { _ = try await store.sync() }
        await expectOutdated("refreshMetadata") { _ = try await store.maintenance.refreshMetadata() }
    }

    /// Expects that an operation reports an outdated model.
    private func expectOutdated(_ what: String, _ body: () async throws -> Void) async {
        do {
            try await body()
            Issue.record("\(what) went through")
        } catch OfflineError.modelOutdated {
        } catch {
            Issue.record("\(what): \(error)")
        }
    }

    // MARK: After a change of the model

    /// Returns the number of pending changes, independently of the model.
    private func queued(in store: OfflineStore) async throws -> Int? {
        try await DatabaseQueue(path: store.directory + "/store.db").read {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM outpost_queue")
        }
    }

    /// Returns a batch that moves each customer by its own request. No customer was moved before.
    private func moving(_ customers: [String], in store: OfflineStore) throws -> ODataRequest {
        let shape = try #require(store.serviceModel.shape(ofSet: "Customers"))
        let items = try customers.map { id in
            BatchItem(
                id: id,
                request: ODataRequest(
                    .update, try ODataURL(parsing: "Customers('\(id)')"),
                    body: .entity(ODataEntity(shape: shape, ["City": "Mine"]))))
        }
        return ODataRequest(.create, ODataURL(path: ResourcePath([.batch])), body: .batch(items))
    }

    @Test("from another process does not affect a change committed just before")
    func committed() async throws {
        let shop = try await Shop()
        let other = OtherProcess(directory: shop.directory.appendingPathComponent("clone").path)
        var options = OfflineStore.Options()
        options.runtime.database.prepare = { database in
            guard !database.configuration.readonly else { return }
            database.add(transactionObserver: other, extent: .databaseLifetime)
        }
        let store = try await shop.store(options: options)
        try await store.download()
        other.isComing.set()
        try await store.create("Customers", ["CustomerID": "Z9999", "CompanyName": "Mine", "Country": "Norway"])
        #expect(!other.isComing.isSet)
        await expectOutdated("read") { _ = try await store.rows("Customers") }
        #expect(try await queued(in: store) == 1)
    }

    @Test("from another process during a batch keeps the responses of finished requests")
    func committedInBatch() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let directory = store.directory
        var batch = try moving(["C0001", "C0002"], in: store)
        batch.batchObserver = { _ in try? OtherProcess.bringsNewModel(to: directory) }
        guard case .batch(let results) = try await store.execute(batch).body else {
            Issue.record("no answers")
            return
        }
        #expect(results.map { (try? $0.result.get()) != nil } == [true, false])
        #expect(try await queued(in: store) == 1)
        await expectOutdated("batch") { _ = try await store.execute(moving(["C0003"], in: store)) }
        #expect(try await queued(in: store) == 1)
    }

    @Test("from another process does not hide the outcome of an immediate call", arguments: [false, true])
    func calledAtOnce(isLost: Bool) async throws {
        let desk = try await Desk()
        let clones = LockedNames()
        let store = try await desk.clone(before: { request in
            guard let directory = clones.names.first, request.method == .create else { return nil }
            try OtherProcess.bringsNewModel(to: directory)
            if isLost { throw TransportError.timedOut(host: "desk.test") }
            return nil
        })
        clones.append(store.directory)
        let call = try Desk.request("Close")
        let online = store.changes.provider(with: ChangeOptions(operationMode: .online))
        if isLost {
            await #expect(throws: TransportError.timedOut(host: "desk.test")) { _ = try await online.execute(call) }
        } else {
            _ = try await online.execute(call)
        }
        #expect(desk.calls.names == (isLost ? [] : ["Close"]))
        await expectOutdated("read") { _ = try await store.rows("Tickets") }
    }

    // MARK: State in memory

    private static let phone = "ALTER TABLE Customers ADD COLUMN Phone VARCHAR(20)"

    /// A delegate that records progress and whether the model of the store has phone numbers.
    private final class Listener: OfflineStoreDelegate {
        let heard = LockedNames()

        func offlineStore(_ store: OfflineStore, didUpdate progress: SyncProgress) {
            heard.append("\(progress.phase.rawValue) \(MetadataTests.knowsPhones(store))")
        }
    }

    private static func knowsPhones(_ store: OfflineStore) -> Bool {
        store.serviceModel.shape(ofSet: "Customers")?.property("Phone") != nil
    }

    @Test("keeps the state in memory: session parameters, delegate and progress observers")
    func memory() async throws {
        let shop = try await Shop()
        try await shop.store([try DefiningQuery("c", "Customers?$filter=City ne @city")]).close()
        let newer = try await altered(shop, Self.phone)
        let store = try await newer.reopen()
        try await store.queries.setParameter("city", to: "'Bergen'", keeping: .session)
        let listener = Listener()
        store.observe.setDelegate(listener)
        let reports = store.observe.progress()
        let migrated = try await store.maintenance.refreshMetadata().store
        #expect(migrated !== store)
        try await migrated.download()
        let wanted = try await shop.count("SELECT COUNT(*) FROM Customers WHERE City IS NOT 'Bergen'")
        #expect(try await migrated.rows("Customers").count == wanted)
        try migrated.close()
        #expect(listener.heard.names.first == "loadingMetadata false")
        #expect(Set(listener.heard.names).isSuperset(of: ["downloading true", "finished true"]))
        var phases: [SyncProgress.Phase] = []
        for await report in reports { phases.append(report.phase) }
        #expect(phases.first == .loadingMetadata && phases.contains(.downloading) && phases.last == .finished)
    }

    @Test("ends the observers of the previous store object, and new ones start", Patience.limit)
    func observation() async throws {
        let shop = try await Shop()
        try await shop.clone().close()
        let newer = try await altered(shop, Self.phone)
        let store = try await newer.reopen()
        let query = try ODataURL(parsing: "Customers?$orderby=CustomerID&$top=2")
        var results = store.observe.results(of: query).makeAsyncIterator()
        #expect(try await results.next()?.count == 2)
        let migrated = try await store.maintenance.refreshMetadata().store
        #expect(try await results.next() == nil)
        var again = migrated.observe.results(of: query).makeAsyncIterator()
        #expect(try await again.next()?.count == 2)
    }

    @Test("is refused over a connection with the old model, and nothing changes")
    func outdatedConnection() async throws {
        let shop = try await Shop()
        try await shop.clone().close()
        let newer = try await altered(shop, Self.phone)
        // The client receives the stored model and does not read it again.
        func open() async throws -> OfflineStore {
            try await OfflineStore.open(
                at: shop.directory.appendingPathComponent("clone").path, protection: .unencrypted
            ) { root, model in
                try ODataClient(serviceRoot: root, transport: newer.wire, model: model)
            }
        }
        let store = try await open()
        await #expect {
            _ = try await store.maintenance.refreshMetadata()
        } throws: { error in
            guard case OfflineError.connectionOutdated = error else { return false }
            return true
        }
        await #expect(throws: CancellationError.self) {
            _ = try await store.maintenance.refreshMetadata { _, _ in throw CancellationError() }
        }
        #expect(try await store.rows("Customers").count == 40)
        try store.close()
        // The stored model counts, not the one with which the object was created.
        let reopened = try await open()
        #expect(!Self.knowsPhones(reopened))
        #expect(try await !reopened.observe.events().map(\.kind).contains("metadata"))
        let refresh = try await reopened.maintenance.refreshMetadata { root, model in
            try ODataClient(serviceRoot: root, transport: newer.wire, model: model)
        }
        #expect(!refresh.differences.isEmpty && Self.knowsPhones(refresh.store))
        try await refresh.store.download()
        #expect(try await refresh.store.rows("Customers('C0001')").first?["Phone"] == ODataValue.null)
    }
}

/// Another process that refreshes the model of a store directly after a commit.
private final class OtherProcess: TransactionObserver, Sendable {
    /// Whether the next commit triggers the refresh.
    let isComing = LockedFlag()
    private let directory: String

    init(directory: String) { self.directory = directory }

    /// Increments the number by which other processes detect a new model; the tables stay unchanged.
    static func bringsNewModel(to directory: String) throws {
        try DatabaseQueue(path: directory + "/store.db").write { database in
            try database.execute(
                sql: "UPDATE outpost_setting SET value = CAST(CAST(value AS TEXT) + 1 AS BLOB) "
                    + "WHERE name = 'local.metadata.number'")
            try #require(database.changesCount == 1)
        }
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidRollback(_ db: Database) {}

    func databaseDidCommit(_ db: Database) {
        guard isComing.isSet else { return }
        isComing.clear()
        try? Self.bringsNewModel(to: directory)
    }
}
