import HTTPTypes
import ODataModel
import ODataService
import OfflineOData
import Testing

@Suite("Downloads from services that deviate from the standard")
struct LenientDownloadTests {
    @Test(
        "Optional request parts are omitted after a refusal with any status (rule 39)",
        arguments: ["$orderby", "odata.maxpagesize", "track-changes"], [400, 403, 404, 406, 500, 501, 503])
    func addedParts(_ part: String, _ status: Int) async throws {
        let service = OddService()
        service.answer { request in
            let prefer = request.fields[.init("Prefer")!] ?? ""
            guard request.target.hasPrefix("Items"), request.target.contains(part) || prefer.contains(part) else {
                return nil
            }
            return .refusal(status)
        }
        let store = try await service.clone()
        #expect(try await store.rows("Items").count == 1)
    }

    @Test("An optional part is omitted after two refusals, and explained")
    func learned() async throws {
        let service = OddService()
        let rule: OddService.Rule = { $0.target.contains("$orderby") ? .refusal(500) : nil }
        service.answer(rule)
        let store = try await service.clone()
        #expect(try await store.queries.explainDownloads().first?.leftOut == [])
        try await store.download()
        #expect(try await store.queries.explainDownloads().first?.leftOut == ["$orderby"])
        service.answer(rule)
        try await store.download()
        #expect(!service.lines.contains { $0.contains("$orderby") })
    }

    @Test("A forbidden request is not repeated without optional parts")
    func unauthorized() async throws {
        let service = OddService()
        let store = try await service.store()
        service.answer { $0.target.hasPrefix("Items") ? .refusal(401) : nil }
        await #expect(throws: (any Error).self) { try await store.download() }
        #expect(service.lines.filter { $0.hasPrefix("GET Items") }.count == 1)
    }

    @Test("A missing row is requested by key if the service ignores filters")
    func ignoredFilter() async throws {
        let rows = [1: #"{"ID":1}"#, 2: #"{"ID":2}"#, 3: #"{"ID":3}"#]
        let service = OddService(rows: rows)
        let store = try await service.clone()
        service.answer { request in
            guard request.target.hasPrefix("Items?"), request.method == "GET" else { return nil }
            return .page([rows[1] ?? "", rows[2] ?? ""])
        }
        try await store.download()
        #expect(try await store.rows("Items").count == 3)
        // A deleted row is removed.
        service.rows[3] = nil
        try await store.download()
        #expect(try await store.rows("Items").count == 2)
    }

    @Test("An empty next link counts as no link", arguments: ["\"\"", "\" \"", "null"])
    func emptyLink(_ link: String) async throws {
        let service = OddService()
        service.answer { $0.target.hasPrefix("Items?") ? .page([#"{"ID":1}"#], ",\"@odata.nextLink\":\(link)") : nil }
        let store = try await service.clone()
        #expect(try await store.rows("Items").count == 1)
        #expect(!service.lines.contains("GET "))
    }

    @Test(
        "After a meaningless delta response, everything is read",
        arguments: [
            OddService.Answer.page([##"{"@odata.type":"#N.Other","ID":1}"##]), .refusal(500), .refusal(404),
            .json(#"{"value":"#), .json("[]"),
        ])
    func nonsense(_ answer: OddService.Answer) async throws {
        let other = """
            <EntityType Name="Other"><Key><PropertyRef Name="ID"/></Key>\
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
            """
        let service = OddService(OddService.schema(types: other))
        let rows = service.rows
        service.answer { request in
            if request.target.contains("deltatoken") { return answer }
            guard request.target.hasPrefix("Items?") else { return nil }
            return .page(Array(rows.values), ",\"@odata.deltaLink\":\"Items?$deltatoken=1\"")
        }
        let store = try await service.clone()
        let report = try await store.download()
        #expect(report.queries.first?.method == .refresh)
        #expect(try await store.rows("Items").count == 1)
    }

    @Test("A set without a key is omitted, and the others are downloaded")
    func keyless() async throws {
        let types = #"<EntityType Name="Loose"><Property Name="A" Type="Edm.String"/></EntityType>"#
        let service = OddService(
            OddService.schema(types: types, sets: #"<EntitySet Name="Loose" EntityType="N.Loose"/>"#))
        let survey = try await ServiceSurvey.take(of: service.client())
        #expect(survey.withoutKey == ["Loose"])
        let store = try await service.clone()
        #expect(try await store.rows("Items").count == 1)
        await #expect(throws: OfflineError.self) { try await store.queries.add(DefiningQuery("l", "Loose?$top=1")) }
    }

    @Test("A set or singleton without a declared type is named, and the others are downloaded")
    func untyped() async throws {
        let service = OddService(
            OddService.schema(
                sets: #"""
                    <EntitySet Name="People" EntityType="N.Person"/><Singleton Name="Me" Type="Other.Person"/>
                    """#))
        let survey = try await ServiceSurvey.take(of: service.client())
        #expect(survey.withoutType == ["People", "Me"])
        #expect(survey.parts.map(\.query.name) == ["Items"])
        let named = try await ServiceSurvey.take(of: service.client(), queries: [DefiningQuery("i", "Items")])
        #expect(named.withoutType == [])
        let store = try await service.clone()
        #expect(try await store.rows("Items").count == 1)
        #expect(try await store.queries.setsOfUnknownTypes() == ["People", "Me"])
        let person = """
            <EntityType Name="Person"><Key><PropertyRef Name="ID"/></Key>\
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
            """
        service.metadata = OddService.schema(
            types: person, sets: #"<EntitySet Name="People" EntityType="N.Person"/>"#)
        let client = try service.client()
        let renewed = try await store.maintenance.refreshMetadata { _, _ in client }.store
        #expect(try await renewed.queries.setsOfUnknownTypes() == [])
    }

    @Test(
        "Links of a service with another address of its own are followed below the given root",
        arguments: [
            "http://internal.host.invalid/svc/", "https://odd.test/svc/", "http://odd.test:8080/svc/",
            "https://internal.host.invalid:9443/svc/", "/svc/", "",
        ])
    func linksBehindProxy(base: String) async throws {
        let service = OddService()
        service.answer { request in
            guard request.target.hasPrefix("Items?") else { return nil }
            if request.target.contains("deltatoken") { return .page([#"{"ID":3}"#]) }
            guard request.target.contains("$skip=1") else {
                return .page([#"{"ID":1}"#], ",\"@odata.nextLink\":\"\(base)Items?$skip=1\"")
            }
            return .page([#"{"ID":2}"#], ",\"@odata.deltaLink\":\"\(base)Items?$deltatoken=1\"")
        }
        let store = try await service.clone()
        #expect(try await store.rows("Items").count == 2)
        try await store.download()
        #expect(service.lines.contains("GET Items?$deltatoken=1"), "\(service.lines)")
        #expect(try await store.rows("Items").count == 3)
    }

    @Test("A next link outside the service root is refused, and the message contains it")
    func linkElsewhere() async throws {
        let service = OddService()
        service.answer { request in
            guard request.target.hasPrefix("Items?") else { return nil }
            let link = "http://internal.host.invalid/other/Items?$skip=1"
            return .page([#"{"ID":1}"#], ",\"@odata.nextLink\":\"\(link)\"")
        }
        let store = try await service.store()
        let error = await #expect(throws: (any Error).self) { try await store.download() }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("link") && text.contains("internal.host.invalid"), "\(text)")
        #expect(!service.lines.contains { $0.contains("other/Items") })
    }

    @Test("Dot segments are removed from the next link of an expanded collection")
    func dots() async throws {
        let kid = """
            <EntityType Name="Kid"><Key><PropertyRef Name="ID"/></Key>\
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
            """
        let service = OddService(
            OddService.schema(
                #"<NavigationProperty Name="Kids" Type="Collection(N.Kid)"/>"#, types: kid,
                annotations: #"<NavigationPropertyBinding Path="Kids" Target="Kids"/>"#,
                sets: #"<EntitySet Name="Kids" EntityType="N.Kid"/>"#))
        service.answer { request in
            if request.target.contains("$skip=1") {
                return .json(#"{"@odata.context":"$metadata#Kids","value":[{"ID":2}]}"#)
            }
            guard request.target.contains("$expand") else { return nil }
            return .page([#"{"ID":1,"Kids":[{"ID":1}],"Kids@odata.nextLink":"../svc/Items(1)/Kids?$skip=1"}"#])
        }
        let store = try await service.store(["x": "Items?$expand=Kids"])
        try await store.download()
        #expect(service.lines.contains("GET Items(1)/Kids?$skip=1"))
        #expect(try await store.rows("Items(1)/Kids").count == 2)
    }

    @Test("Changed metadata are reported, and not requested again if they are known to be equal")
    func metadata() async throws {
        let service = OddService()
        let document = service.metadata
        service.answer { request in
            guard request.target == "$metadata" else { return nil }
            if request.fields[.ifNoneMatch] == "\"1\"" { return OddService.Answer(status: 304) }
            return OddService.Answer(fields: ["Content-Type": "application/xml", "ETag": "\"1\""], body: document)
        }
        let store = try await service.clone()
        #expect(try await store.maintenance.metadataDifferences().isEmpty)
        #expect(try await store.maintenance.metadataDifferences().isEmpty)
        #expect(service.requests.last?.fields[.ifNoneMatch] == "\"1\"")
        service.answer { _ in nil }
        service.metadata = OddService.schema(#"<Property Name="New" Type="Edm.String"/>"#)
        #expect(try await store.maintenance.metadataDifferences().count == 1)
        #expect(try await store.rows("Items").count == 1)
    }
}
