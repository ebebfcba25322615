import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Rule 11: a temporary key that equals a key of the service")
struct TemporaryKeyTests {
    @Test("A downloaded entity with the same key is another entity, and each keeps its references")
    func download() async throws {
        let depot = try await Depot()
        let store = try await depot.clone()
        #expect(try await store.create("Headers", ["Title": "ours"])?["ID"] == -1)
        try await store.create("Items", ["HeaderID": -1, "No": 1])
        try await depot.service.create("Headers", ["ID": -1, "Title": "theirs"])
        try await depot.service.create("Items", ["HeaderID": -1, "No": 9])
        try await store.download()
        #expect(try await store.rows("Headers?$filter=Title eq 'theirs'").map { $0["ID"] } == [-1])
        #expect(try await store.rows("Headers?$filter=Title eq 'ours'").map { $0["ID"] } == [-2])
        #expect(try await store.rows("Items?$filter=HeaderID eq -1").map { $0["No"] } == [9])
        #expect(try await store.rows("Items?$filter=HeaderID eq -2").map { $0["No"] } == [1])
        // The second download finds the entity with the key.
        try await depot.service.change(.update, "Headers(-1)", "Header", ["Title": "theirs, later"])
        try await store.download()
        #expect(try await store.rows("Headers(-1)").map { $0["Title"] } == ["theirs, later"])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        let ours = try #require(try await depot.service.rows("Headers?$filter=Title eq 'ours'").first?["ID"])
        #expect(ours != -1 && ours != -2)
        for provider in [depot.service, store] as [any ODataProvider] {
            #expect(try await provider.rows("Headers").count == 4)
            #expect(try await provider.rows("Headers(-1)").map { $0["Title"] } == ["theirs, later"])
            #expect(try await provider.rows("Items?$filter=No eq 1").map { $0["HeaderID"] } == [ours])
            #expect(try await provider.rows("Items?$filter=No eq 9").map { $0["HeaderID"] } == [-1])
        }
    }

    @Test("An edit of a row with a reference to the service's entity keeps that reference")
    func editedReference() async throws {
        let depot = try await Depot()
        try await depot.service.change(.create, "Papers", "Letter", ["ID": 1, "Text": "Dear", "HeaderID": -1])
        let store = try await depot.clone()
        try await store.change(.update, "Papers(1)", "Letter", ["Text": "Dearest"])
        #expect(try await store.create("Headers", ["Title": "ours"])?["ID"] == -2)
        try await depot.service.create("Headers", ["ID": -1, "Title": "theirs"])
        try await store.download()
        #expect(try await store.rows("Papers").map { $0["HeaderID"] } == [-1])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        for provider in [depot.service, store] as [any ODataProvider] {
            #expect(try await provider.rows("Papers").map { $0["HeaderID"] } == [-1])
            #expect(try await provider.rows("Papers").map { $0["Text"] } == ["Dearest"])
        }
    }

    @Test(
        "A downloaded reference to an entity with that key stays, even if the entity is missing",
        arguments: [false, true])
    func laterReference(isChangedHere: Bool) async throws {
        let depot = try await Depot()
        try await depot.service.change(.create, "Papers", "Letter", ["ID": 2, "Text": "Dear", "HeaderID": 1])
        let store = try await depot.clone()
        #expect(try await store.create("Headers", ["Title": "ours"])?["ID"] == -1)
        try await store.change(.create, "Papers", "Letter", ["ID": 3, "Text": "Dear", "HeaderID": -1])
        try await depot.service.change(.create, "Papers", "Letter", ["ID": 1, "Text": "Dear", "HeaderID": -1])
        if isChangedHere { try await store.change(.update, "Papers(2)", "Letter", ["HeaderID": -1]) }
        try await store.download()
        if isChangedHere { try await store.change(.update, "Papers(1)", "Letter", ["Text": "Dearest"]) }
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        let ours = try #require(try await depot.service.rows("Headers?$filter=Title eq 'ours'").first?["ID"])
        let expected: [ODataValue?] = [-1, isChangedHere ? ours : 1, ours]
        for provider in [depot.service, store] as [any ODataProvider] {
            #expect(try await provider.rows("Papers?$orderby=ID").map { $0["HeaderID"] } == expected)
        }
        try await store.download()
        #expect(try await store.rows("Papers?$orderby=ID").map { $0["HeaderID"] } == expected)
    }

    @Test("A contained entity with the temporary key stays a separate entity")
    func contained() async throws {
        let depot = try await Depot()
        let store = try await depot.clone([
            DefiningQuery(entitySet: "Headers"), try DefiningQuery("boxes", "Boxes?$expand=Slips"),
        ])
        try await store.change(.create, "Boxes(1)/Slips", "Slip", ["HeaderID": 2])
        #expect(try await store.rows("Boxes(1)/Slips(-1)").map { $0["HeaderID"] } == [2])
        try await depot.service.change(.create, "Boxes(1)/Slips", "Slip", ["No": -1, "HeaderID": 1])
        try await store.download()
        #expect(try await store.rows("Boxes(1)/Slips(-1)").map { $0["HeaderID"] } == [1])
        #expect(try await store.rows("Boxes(1)/Slips(-2)").map { $0["HeaderID"] } == [2])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        for provider in [depot.service, store] as [any ODataProvider] {
            #expect(try await provider.rows("Boxes(1)/Slips?$filter=HeaderID eq 2").count == 1)
            #expect(try await provider.rows("Boxes(1)/Slips(-1)").map { $0["HeaderID"] } == [1])
        }
    }

    @Test("A local creation whose temporary key the service assigns elsewhere stays a separate entity")
    func upload() async throws {
        let depot = try await Depot()
        let service = depot.service
        let gateway = Gateway(
            base: service,
            before: { request in
                guard request.method == .create, case .entity(var entity) = request.body,
                    entity["Title"] == "first of ours"
                else { return nil }
                entity["ID"] = -2
                var other = request
                other.body = .entity(entity)
                return try await service.execute(other)
            })
        let store = try await depot.clone(through: gateway)
        #expect(try await store.create("Headers", ["Title": "first of ours"])?["ID"] == -1)
        #expect(try await store.create("Headers", ["Title": "second of ours"])?["ID"] == -2)
        try await store.create("Items", ["HeaderID": -1, "No": 1])
        try await store.create("Items", ["HeaderID": -2, "No": 2])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        let second = try #require(
            try await service.rows("Headers?$filter=Title eq 'second of ours'").first?["ID"])
        for provider in [service, store] as [any ODataProvider] {
            #expect(try await provider.rows("Headers(-2)").map { $0["Title"] } == ["first of ours"])
            #expect(try await provider.rows("Headers").count == 4)
            #expect(try await provider.rows("Items?$filter=No eq 1").map { $0["HeaderID"] } == [-2])
            #expect(try await provider.rows("Items?$filter=No eq 2").map { $0["HeaderID"] } == [second])
        }
    }

    @Test("The key is never a number that a local row uses for an entity of the service", arguments: [true, false])
    func referred(isMadeHere: Bool) async throws {
        let depot = try await Depot()
        try await depot.service.change(
            .create, "Papers", "Letter", ["ID": 1, "Text": "Dear", "HeaderID": isMadeHere ? 1 : -1])
        let store = try await depot.clone()
        if isMadeHere {
            try await store.changes.provider(with: ChangeOptions(category: "later")).change(
                .update, "Papers(1)", "Letter", ["HeaderID": -1])
        }
        try await store.changes.provider(with: ChangeOptions(category: "now")).create("Headers", ["Title": "ours"])
        #expect(try await store.upload(options: UploadOptions(categories: ["now"])).accepted.count == 1)
        #expect(try await store.rows("Papers").map { $0["HeaderID"] } == [-1])
        #expect(try await store.upload().failed.map { $0.failure?.message } == [])
        for provider in [depot.service, store] as [any ODataProvider] {
            #expect(try await provider.rows("Papers").map { $0["HeaderID"] } == [-1])
        }
    }
}
