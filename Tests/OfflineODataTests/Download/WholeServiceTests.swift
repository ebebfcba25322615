import Foundation
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("A clone of a whole service includes contained and related entities")
struct WholeServiceTests {
    /// Returns the result of a query as text.
    private func text(_ provider: any ODataProvider, _ query: String) async throws -> String {
        let handler = ODataHandler(provider: provider)
        let session = try HTTPSession(
            LoopbackTransport(handler), serviceRoot: "http://any.test/", configuration: .init(retry: .none))
        let client = try ODataClient(serviceRoot: "http://any.test/", transport: session)
        let lines = try await client.rows(query).map { entity -> String in
            let values = entity.shape.properties.compactMap { property in
                entity[property.name].map { "\(property.name)=\($0)" }
            }
            return "\(values) \(related(entity))"
        }
        return lines.sorted().joined(separator: "\n")
    }

    private func related(_ entity: ODataEntity) -> String {
        let parts = entity.related.sorted { $0.key < $1.key }.map { name, related -> String in
            switch related {
            case .many(let others, _, _): "\(name): \(others.map { "\(key(of: $0))\(self.related($0))" }.sorted())"
            case .one(let other): "\(name): \(key(of: other))"
            default: "\(name): none"
            }
        }
        return parts.joined(separator: ", ")
    }

    private func key(of entity: ODataEntity) -> String {
        let values = entity.key?.parts.map { "\($0.value)" } ?? []
        return "\(values)"
    }

    @Test(
        "singletons, contained entities, relations without a foreign key and those of derived types are as at the service",
        arguments: [
            "People?$expand=Friends,Trips($expand=Photos,PlanItems),Photo,HomeAirport", "Me", "Me/Friends",
            "People('ann')/Trips(1)/PlanItems", "People('ann')/Trips(1)/PlanItems(1)/J.Flight/Airline",
            "People?$filter=Friends/any(f:f/Name eq 'bob')", "People?$filter=Photo/Name eq 'beach'",
            "People?$filter=Trips/any(t:t/PlanItems/any())", "Photos", "Airlines",
        ])
    func journeys(query: String) async throws {
        let journeys = try await Journeys()
        let store = try await journeys.clone()
        #expect(try await store.queries.missingParts().map(\.name) == [])
        #expect(try await text(store, query) == text(journeys.service, query))
    }

    @Test("a page that is created offline below an album survives push and pull")
    func page() async throws {
        let studio = try await Studio()
        try await studio.service.seed(json: Array(#"{"Me": {"Owner": "Ada"}}"#.utf8))
        let client = try studio.client()
        let survey = try await ServiceSurvey.take(of: client)
        #expect(!survey.missing.map(\.needsStreams).contains(false), "\(survey.missing)")
        let store = try await studio.clone(survey.parts.map(\.query))
        let shape = try #require(store.model.shape(QualifiedName("Studio", "Page")))
        _ = try await store.execute(
            ODataRequest(
                .create, try ODataURL(parsing: "Albums(1)/Pages"),
                body: .entity(ODataEntity(shape: shape, ["Number": 2, "Title": "Mine"]))))
        #expect(try await store.upload().failed.isEmpty)
        for _ in 1...2 {
            try await store.download()
            #expect(try await store.rows("Albums(1)/Pages?$orderby=Number").map { $0["Title"] } == ["Cover", "Mine"])
        }
        #expect(try await studio.service.rows("Albums(1)/Pages").count == 2)
    }

    @Test(
        "an expand that the service refuses or ignores is omitted and reported",
        arguments: [true, false])
    func withoutExpand(isRefused: Bool) async throws {
        let service = OddService(
            OddService.schema(#"<NavigationProperty Name="Likes" Type="Collection(N.Item)"/>"#))
        service.answer { request in
            guard request.target.contains("$expand") else { return nil }
            return isRefused ? .refusal(501) : nil
        }
        let survey = try await ServiceSurvey.take(of: service.client())
        #expect(survey.parts.map(\.query.text) == ["Items"])
        #expect(survey.missing.map(\.name) == ["Items/Likes"])
        #expect(survey.missing.map(\.query) == ["Items?$expand=Likes"])
    }

    @Test("a singleton that the service does not return is omitted and reported")
    func singleton() async throws {
        let service = OddService(OddService.schema(sets: #"<Singleton Name="One" Type="N.Item"/>"#))
        service.answer { $0.target.hasPrefix("One") ? .refusal(404) : nil }
        let refused = try await ServiceSurvey.take(of: service.client())
        #expect(refused.parts.map(\.query.text) == ["Items"] && refused.missing.map(\.name) == ["One"])
        service.answer { request in
            request.target.hasPrefix("One") ? .json(#"{"@odata.context":"$metadata#One","ID":7,"Name":"x"}"#) : nil
        }
        #expect(try await ServiceSurvey.take(of: service.client()).parts.map(\.query.text) == ["Items", "One"])
    }

    @Test("a set without a key is a read-only copy that each download renews")
    func keyless() async throws {
        let types = #"<EntityType Name="Loose"><Property Name="A" Type="Edm.String"/></EntityType>"#
        let service = OddService(
            OddService.schema(types: types, sets: #"<EntitySet Name="Loose" EntityType="N.Loose"/>"#))
        func answer(_ rows: String) {
            service.answer { request in
                guard request.target.hasPrefix("Loose") else { return nil }
                if request.target.contains("$count") { return .refusal(400) }
                return .json(#"{"@odata.context":"$metadata#Loose","value":[\#(rows)]}"#)
            }
        }
        answer(#"{"A":"x"},{"A":"x"},{"A":"y"}"#)
        let survey = try await ServiceSurvey.take(of: service.client())
        #expect(survey.parts.map(\.query.text) == ["Items", "Loose"] && survey.withoutKey.isEmpty)
        let store = try await service.store(["i": "Items", "l": "Loose"])
        try await store.download()
        func values() async throws -> [ODataValue?] { try await store.rows("Loose?$orderby=A").map { $0["A"] } }
        #expect(try await values() == ["x", "x", "y"])
        let unchanged = try await store.download()
        #expect(unchanged.queries.allSatisfy { $0.inserted == 0 && $0.removed == 0 })
        answer(#"{"A":"y"},{"A":"z"}"#)
        try await store.download()
        #expect(try await values() == ["y", "z"])
        #expect(try await store.rows("Loose?$filter=A eq 'z'").count == 1)
        await #expect(throws: ODataError.self) { try await store.create("Loose", ["A": "q"]) }
        await #expect(throws: OfflineError.self) { try await store.queries.add(DefiningQuery("m", "Loose")) }
        await #expect(throws: OfflineError.self) {
            try await store.queries.add(DefiningQuery("n", "Loose?$filter=A eq 'x'"))
        }
        #expect(try await store.queries.remove("l") == 2)
        service.answer { $0.target.hasPrefix("Loose") ? .refusal(501) : nil }
        let refused = try await ServiceSurvey.take(of: service.client())
        #expect(refused.withoutKey == ["Loose"] && refused.missing.map(\.name) == ["Loose"])
    }
}
