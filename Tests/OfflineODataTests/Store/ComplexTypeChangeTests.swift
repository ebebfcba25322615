import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

/// A complex type changes at the service while changes with its values are pending.
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
        .complex(ODataEntity(shape: try #require(depot.service.model.shape(QualifiedName("Depot", "Address"))), values))
    }

    @Test("with a removed property archives pending changes that contain it", arguments: [true, false])
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
        let migrated = try await depot.reopen(at: newer).maintenance.refreshMetadata().store
        let failed = try await migrated.observe.status().failed
        #expect(failed.map(\.entityText) == ["Headers(1)", "Headers(2)"])
        let kept = failed.compactMap { $0.failure?.innerError }
        #expect(kept.count == 2 && kept.allSatisfy { $0.contains("777") && $0.contains("Mine") }, "\(kept)")
        // The other properties can be read, the changes can be discarded, and the store still works.
        #expect(failed.first?.changes["Title"] == "Mine")
        #expect(try await migrated.changes.discard() == 2)
        #expect(try await migrated.observe.status().failed.isEmpty)
    }

    @Test("with a new property keeps pending changes")
    func grown() async throws {
        let depot = try await depot(zip: "Edm.Int32")
        let store = try await depot.clone()
        let home = try address(depot, ["Street": "Mine", "Zip": .integer(777)])
        try await store.change(.update, "Headers(1)", "Header", ["Home": home])
        try store.close()
        let newer = try await self.depot(zip: "Edm.Int32", fax: "<Property Name=\"Fax\" Type=\"Edm.String\"/>")
        let migrated = try await depot.reopen(at: newer).maintenance.refreshMetadata().store
        #expect(
            try await migrated.upload(options: UploadOptions(conflictPolicy: .clientWins)).failed.map(\.description)
                == [])
        guard case .complex(let theirs)? = try await newer.service.rows("Headers(1)").first?["Home"] else {
            throw ODataError.notFound("Home")
        }
        #expect(theirs["Street"] == "Mine" && theirs["Zip"] == 777)
    }

    /// - Parameter size: the facets of the price.
    private func depot(price size: String) async throws -> Depot {
        try await Depot { metadata in
            metadata.replacingOccurrences(
                of: Self.header, with: Self.header + "<Property Name=\"Price\" Type=\"Edm.Decimal\" \(size)/>")
        }
    }

    @Test("A decimal with more places keeps its value in rows and pending changes")
    func scale() async throws {
        let former = try await depot(price: #"Precision="12" Scale="2""#)
        let newer = try await depot(price: #"Precision="12" Scale="4""#)
        let value = ODataValue.decimal(try #require(ODataDecimal("1.5")))
        let mine = ODataValue.decimal(try #require(ODataDecimal("7.25")))
        for service in [former.service, newer.service] {
            try await service.change(.update, "Headers(1)", "Header", ["Price": value])
        }
        let store = try await former.clone()
        try await store.change(.update, "Headers(2)", "Header", ["Price": mine])
        try store.close()
        let migrated = try await former.reopen(at: newer).maintenance.refreshMetadata().store
        let prices = try await migrated.rows("Headers?$orderby=ID").map { $0["Price"] }
        #expect(prices.allSatisfy { $0 == nil || $0 == value || $0 == mine }, "\(prices)")
        #expect(
            try await migrated.upload(options: UploadOptions(conflictPolicy: .clientWins)).failed.map(\.description)
                == [])
        try await migrated.download()
        #expect(try await migrated.rows("Headers?$orderby=ID").map { $0["Price"] } == [value, mine])
    }

    @Test(
        "A decimal with more digits keeps its value in drafts, which only the store has",
        arguments: [#"Precision="20" Scale="4""#, #"Precision="20" Scale="2""#])
    func scaleOfDrafts(size: String) async throws {
        let former = try await depot(price: #"Precision="18" Scale="2""#)
        let newer = try await depot(price: size)
        let mine = ODataValue.decimal(try #require(ODataDecimal("7.25")))
        var options = OfflineStore.Options()
        options.creation.localDrafts = ["HeaderDrafts": "Headers"]
        let store = try await former.clone(options: options)
        try await store.drafts.make(of: ODataURL(parsing: "Headers(2)"))
        try await store.update("HeaderDrafts(2)", ["Price": mine])
        try store.close()
        let refresh = try await former.reopen(at: newer).maintenance.refreshMetadata()
        #expect(!refresh.isRebuilt)
        let migrated = refresh.store
        #expect(try await migrated.rows("HeaderDrafts").map { $0["Price"] } == [mine])
        #expect(try await migrated.rows("HeaderDrafts?$filter=Price eq 7.25").count == 1)
        try await migrated.drafts.activate(ODataURL(parsing: "HeaderDrafts(2)"))
        #expect(try await migrated.observe.status().pending.map { $0.changes["Price"] } == [mine])
    }

    @Test("A complex type with its first derived type keeps its values in drafts and pending changes")
    func derived() async throws {
        func depot(_ more: String) async throws -> Depot {
            try await Depot { metadata in
                metadata.replacingOccurrences(
                    of: "<EntityType Name=\"Header\">",
                    with: """
                        <ComplexType Name="Address"><Property Name="Street" Type="Edm.String"/></ComplexType>\(more)
                        <EntityType Name="Header">
                        """
                ).replacingOccurrences(
                    of: Self.header, with: Self.header + "<Property Name=\"Home\" Type=\"Depot.Address\"/>")
            }
        }
        let former = try await depot("")
        let newer = try await depot("<ComplexType Name=\"Abroad\" BaseType=\"Depot.Address\"/>")
        for depot in [former, newer] {
            try await depot.service.change(
                .update, "Headers(1)", "Header", ["Home": address(depot, ["Street": "Theirs"])])
        }
        var options = OfflineStore.Options()
        options.creation.localDrafts = ["HeaderDrafts": "Headers"]
        let store = try await former.clone(options: options)
        let home = try address(former, ["Street": "Mine"])
        try await store.drafts.make(of: ODataURL(parsing: "Headers(2)"))
        try await store.change(.update, "HeaderDrafts(2)", "Header", ["Home": home])
        try await store.change(.update, "Headers(2)", "Header", ["Home": home])
        try store.close()
        let refresh = try await former.reopen(at: newer).maintenance.refreshMetadata()
        #expect(!refresh.isRebuilt)
        for url in ["HeaderDrafts(2)", "Headers(2)"] {
            guard case .complex(let kept)? = try await refresh.store.rows(url).first?["Home"] else {
                Issue.record("\(url) has no home")
                continue
            }
            #expect(kept["Street"] == "Mine")
        }
        guard case .complex(let kept)? = try await refresh.store.rows("Headers(1)").first?["Home"] else {
            Issue.record("what was downloaded is gone")
            return
        }
        #expect(kept["Street"] == "Theirs")
    }
}
