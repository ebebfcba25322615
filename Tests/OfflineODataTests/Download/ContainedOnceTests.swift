import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("A single contained entity without a key")
struct ContainedOnceTests {
    private func studio() async throws -> Studio {
        let studio = try await Studio {
            $0.replacing(
                "<NavigationProperty Name=\"Cover\" Type=\"Studio.Page\"",
                with: "<NavigationProperty Name=\"Cover\" Type=\"Studio.Sleeve\""
            ).replacing(
                "<EntityType Name=\"Profile\">",
                with: """
                    <EntityType Name="Sleeve"><Property Name="Colour" Type="Edm.String"/>
                    <Property Name="Size" Type="Edm.Int32"/></EntityType>
                    <EntityType Name="Profile">
                    """)
        }
        try await studio.service.change(.replace, "Albums(1)/Cover", "Sleeve", ["Colour": "red", "Size": 7])
        return studio
    }

    private func colours(_ store: any ODataProvider) async throws -> [ODataValue?] {
        try await store.rows("Albums?$expand=Cover&$orderby=ID").map { album in
            switch album.related["Cover"] {
            case .one(let cover): cover["Colour"]
            default: nil
            }
        }
    }

    @Test("is downloaded, updated and removed with its parent")
    func brought() async throws {
        let studio = try await studio()
        let store = try await studio.clone([try DefiningQuery("albums", "Albums?$expand=Cover")])
        #expect(try await colours(store) == ["red", nil])
        try await studio.service.change(.update, "Albums(1)/Cover", "Sleeve", ["Colour": "blue"])
        try await studio.service.change(.replace, "Albums(2)/Cover", "Sleeve", ["Colour": "green"])
        try await store.download()
        #expect(try await colours(store) == ["blue", "green"])
        #expect(try await store.download().updated == 0)
        _ = try await studio.service.execute(ODataRequest(.delete, try ODataURL(parsing: "Albums(2)/Cover")))
        try await store.download()
        #expect(try await colours(store) == ["blue", nil])
        try await store.queries.remove("albums")
        #expect(try await store.lacks("Albums"))
    }

    @Test("cannot be changed offline, and the error says so")
    func changed() async throws {
        let studio = try await studio()
        let store = try await studio.clone([try DefiningQuery("albums", "Albums?$expand=Cover")])
        let error = await #expect(throws: ODataError.self) {
            try await store.change(.update, "Albums(1)/Cover", "Sleeve", ["Colour": "mine"])
        }
        #expect(error?.status == 501)
        #expect(try await colours(store) == ["red", nil])
    }
}
