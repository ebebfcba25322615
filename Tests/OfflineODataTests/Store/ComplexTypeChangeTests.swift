import ODataModel
import ODataService
import OfflineOData
import Testing

/// A type that stands within others changes at the service while values of it wait to be sent.
@Suite("A changed complex type")
struct ComplexTypeChangeTests {
    private static let header = """
        <Property Name="Title" Type="Edm.String"/>
        """

    private func depot(zip: String, fax: String = "") async throws -> Depot {
        try await Depot { metadata in
            metadata.replacingOccurrences(
                of: "<EntityType Name=\"Header\">",
                with: """
                    <ComplexType Name="Address"><Property Name="Street" Type="Edm.String"/>
                    <Property Name="Zip" Type="\(zip)"/>\(fax)</ComplexType>
                    <EntityType Name="Header">
                    """
            ).replacingOccurrences(
                of: Self.header,
                with: Self.header + """
                    <Property Name="Home" Type="Depot.Address"/>
                    <Property Name="Homes" Type="Collection(Depot.Address)" Nullable="false"/>
                    """)
        }
    }

    private func address(_ depot: Depot, _ values: [String: ODataValue]) throws -> ODataValue {
        .complex(Entity(shape: try #require(depot.service.model.shape(QualifiedName("Depot", "Address"))), values))
    }

    @Test("that has no place for something puts what waits of it into the archive whole", arguments: [true, false])
    func lost(isGone: Bool) async throws {
        let fax = "<Property Name=\"Fax\" Type=\"Edm.String\"/>"
        let depot = try await depot(zip: "Edm.Int32", fax: isGone ? fax : "")
        var values: [String: ODataValue] = ["Street": "Mine", "Zip": .integer(777)]
        if isGone { values["Fax"] = "12" }
        let store = try await depot.clone()
        let home = try address(depot, values)
        try await store.change(.update, "Headers(1)", "Header", ["Title": "Mine", "Home": home])
        try await store.change(.update, "Headers(2)", "Header", ["Homes": .collection([home])])
        try store.close()
        let newer = try await self.depot(zip: isGone ? "Edm.Int32" : "Edm.String")
        let migrated = try await depot.reopen(at: newer).refreshMetadata().store
        let failed = try await migrated.status().failed
        #expect(failed.map(\.entityText) == ["Headers(1)", "Headers(2)"])
        let kept = failed.compactMap { $0.failure?.innerError }
        #expect(kept.count == 2 && kept.allSatisfy { $0.contains("777") && $0.contains("Mine") }, "\(kept)")
        // The rest of it can be looked at, given up, and the store goes on.
        #expect(failed.first?.changes["Title"] == "Mine")
        #expect(try await migrated.discard() == 2)
        #expect(try await migrated.status().failed.isEmpty)
    }

    @Test("that has more keeps what waits of it")
    func grown() async throws {
        let depot = try await depot(zip: "Edm.Int32")
        let store = try await depot.clone()
        let home = try address(depot, ["Street": "Mine", "Zip": .integer(777)])
        try await store.change(.update, "Headers(1)", "Header", ["Home": home])
        try store.close()
        let newer = try await self.depot(zip: "Edm.Int32", fax: "<Property Name=\"Fax\" Type=\"Edm.String\"/>")
        let migrated = try await depot.reopen(at: newer).refreshMetadata().store
        #expect(
            try await migrated.upload(options: UploadOptions(conflictPolicy: .clientWins)).failed.map(\.description)
                == [])
        guard case .complex(let theirs)? = try await newer.service.rows("Headers(1)").first?["Home"] else {
            throw ODataError.notFound("Home")
        }
        #expect(theirs["Street"] == "Mine" && theirs["Zip"] == 777)
    }

    @Test("A decimal that gets more places keeps its value, here and in what waits")
    func scale() async throws {
        func depot(_ scale: Int) async throws -> Depot {
            try await Depot { metadata in
                metadata.replacingOccurrences(
                    of: Self.header,
                    with: Self.header
                        + "<Property Name=\"Price\" Type=\"Edm.Decimal\" Precision=\"12\" Scale=\"\(scale)\"/>")
            }
        }
        let (former, newer) = (try await depot(2), try await depot(4))
        let value = ODataValue.decimal(try #require(ODataDecimal("1.5")))
        let mine = ODataValue.decimal(try #require(ODataDecimal("7.25")))
        for service in [former.service, newer.service] {
            try await service.change(.update, "Headers(1)", "Header", ["Price": value])
        }
        let store = try await former.clone()
        try await store.change(.update, "Headers(2)", "Header", ["Price": mine])
        try store.close()
        let migrated = try await former.reopen(at: newer).refreshMetadata().store
        let prices = try await migrated.rows("Headers?$orderby=ID").map { $0["Price"] }
        #expect(prices.allSatisfy { $0 == nil || $0 == value || $0 == mine }, "\(prices)")
        #expect(
            try await migrated.upload(options: UploadOptions(conflictPolicy: .clientWins)).failed.map(\.description)
                == [])
        try await migrated.download()
        #expect(try await migrated.rows("Headers?$orderby=ID").map { $0["Price"] } == [value, mine])
    }
}
