import ODataModel
import ODataQuery
import ODataService
import ODataStore
import Testing

@Suite("Complex values of derived types, and properties that only derived types have")
struct DerivedValueTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="T" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/>
            <Property Name="Zip" Type="Edm.String" DefaultValue="0000"/></ComplexType>
          <ComplexType Name="Office" BaseType="T.Address"><Property Name="Floor" Type="Edm.Int32"/></ComplexType>
          <EntityType Name="Shop" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Home" Type="T.Address"/>
            <Property Name="Places" Type="Collection(T.Address)" Nullable="false"/>
            <Property Name="BossID" Type="Edm.Int32"/>
            <NavigationProperty Name="Boss" Type="T.Shop">
              <ReferentialConstraint Property="BossID" ReferencedProperty="ID"/></NavigationProperty>
            <NavigationProperty Name="Near" Type="Collection(T.Shop)"/>
          </EntityType>
          <EntityType Name="Branch" BaseType="T.Shop" OpenType="true">
            <NavigationProperty Name="Parent" Type="T.Shop"/></EntityType>
          <EntityContainer Name="C"><EntitySet Name="Shops" EntityType="T.Shop">
            <NavigationPropertyBinding Path="Near" Target="Shops"/>
            <NavigationPropertyBinding Path="Boss" Target="Shops"/>
            <NavigationPropertyBinding Path="T.Branch/Parent" Target="Shops"/></EntitySet></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private let service: StoreService

    init() async throws {
        service = try await StoreService.open(
            ServiceDefinition(model: try CSDLReader.read(xml: Array(Self.metadata.utf8))), at: .memory)
        let office = try complex("Office", ["City": "Bonn", "Floor": 7])
        let address = try complex("Address", ["City": "Rome"])
        try await create("Shop", ["ID": 1, "Home": office, "Places": .collection([office, address])])
        try await create("Branch", ["ID": 2, "Home": address, "Places": []])
    }

    private func complex(_ type: String, _ values: [String: ODataValue]) throws -> ODataValue {
        .complex(ODataEntity(shape: try #require(service.model.shape(QualifiedName("T", type))), values))
    }

    private func create(_ type: String, _ values: [String: ODataValue]) async throws {
        let shape = try #require(service.model.shape(QualifiedName("T", type)))
        var entity = ODataEntity(shape: shape)
        for (name, value) in values { entity[name] = value }
        entity.control.type = shape.name
        try await send(.create, "Shops", .entity(entity))
    }

    @discardableResult
    private func send(
        _ method: ODataRequest.Method, _ url: String, _ body: RequestBody = .none, _ preferences: Preferences = .init()
    ) async throws -> ResponseBody {
        try await service.execute(
            ODataRequest(method, try ODataURL(parsing: url), body: body, preferences: preferences)
        ).body
    }

    private func value(_ url: String) async throws -> ODataValue? {
        guard case .value(let value, _) = try await send(.read, url) else { return nil }
        return value
    }

    private func entities(_ url: String) async throws -> [ODataEntity] {
        guard case .page(let page) = try await send(.read, url) else { return [] }
        return page.entities
    }

    /// Returns the types of values and their property `Floor`.
    private func floors(_ value: ODataValue?) -> [String] {
        switch value {
        case .complex(let value)?: ["\(value.shape.name.name) \(value["Floor"] == 7 ? "7" : "none")"]
        case .collection(let members)?: members.flatMap { floors($0) }
        default: []
        }
    }

    @Test("keep type and properties when another member is added (11.4.9.3)")
    func added() async throws {
        try await send(.create, "Shops(1)/Places", .value(try complex("Address", ["City": "Oslo"]), .untyped("")))
        #expect(floors(try await value("Shops(1)/Places")) == ["Office 7", "Address none", "Address none"])
    }

    @Test("keep the parts that a PATCH without a type omits (11.4.3)", arguments: ["Shops(1)", "Shops(1)/Home"])
    func patched(url: String) async throws {
        let home = try complex("Address", ["City": "Wien"])
        if url == "Shops(1)" {
            let shape = try #require(service.model.shape(QualifiedName("T", "Shop")))
            try await send(.update, url, .entity(ODataEntity(shape: shape, ["Home": home])))
        } else {
            try await send(.update, url, .value(home, .complex(QualifiedName("T", "Address"))))
        }
        let changed = try await value("Shops(1)/Home")
        #expect(floors(changed) == ["Office 7"])
        guard case .complex(let office)? = changed else { throw ODataError.notFound("Office") }
        #expect(office["City"] == "Wien")
    }

    @Test("have the type that a path names (OData URL Conventions 4.01, 4.11)")
    func castPath() async throws {
        #expect(floors(try await value("Shops(1)/Places/T.Office")) == ["Office 7"])
        #expect(try await value("Shops(1)/Home/T.Office/Floor") == 7)
        await #expect(throws: ODataError.self) { try await send(.read, "Shops(2)/Home/T.Office") }
    }

    @Test("are returned unchanged after a partial change, and replaced by PUT (8.2.8.7)")
    func represented() async throws {
        let body = RequestBody.value(
            try complex("Address", ["City": "Wien"]), .complex(QualifiedName("T", "Address")))
        guard
            case .value(.complex(let patched), _) = try await send(
                .update, "Shops(1)/Home", body, Preferences(returns: .representation)),
            case .value(.complex(let put), _) = try await send(
                .replace, "Shops(2)/Home", body, Preferences(returns: .representation))
        else {
            Issue.record("no value")
            return
        }
        #expect(patched["Floor"] == 7)
        #expect(put["Zip"] == "0000")
    }

    @Test("are expanded only in entities of that type (OData URL Conventions 4.01, 5.1.3)")
    func expanded() async throws {
        let shops = try await entities("Shops?$expand=T.Branch/Parent&$orderby=ID")
        #expect(shops.map { $0.related["Parent"] != nil } == [false, true])
    }

    @Test("a group by an empty relation has no link")
    func grouped() async throws {
        let groups = try await entities("Shops?$apply=groupby((Boss))")
        #expect(groups.count == 1)
        for group in groups {
            guard case .some(.none) = group.related["Boss"] else {
                Issue.record("\(group.related)")
                continue
            }
        }
    }

    @Test("Dynamic properties are found by lists of values (OData URL Conventions 4.01, 5.1.1.1.12)")
    func dynamicMembers() async throws {
        try await create("Shop", ["ID": 3, "Places": [], "Size": 5, "Kind": "abc"])
        for condition in ["Size eq 5", "Kind eq 'abc'", "Size in (4,5)", "Kind in ('abc','x')"] {
            #expect(
                try await entities("Shops?$filter=\(condition)").map { $0["ID"] } == [3], "\(condition)")
        }
        #expect(try await entities("Shops?$filter=Size in (4) or Kind in ('x')").isEmpty)
    }

    @Test("$levels=max ends at circles of entities (11.2.6.3)", .timeLimit(.minutes(1)))
    func circles() async throws {
        for id in Int64(10)...17 { try await create("Shop", ["ID": .integer(id), "Places": []]) }
        for id in 10...17 {
            for other in 10...17 {
                try await send(.create, "Shops(\(id))/Near/$ref", .reference("Shops(\(other))"))
            }
        }
        let shops = try await entities("Shops?$filter=ID ge 10&$select=ID&$expand=Near($levels=max;$select=ID)")
        func depth(_ entity: ODataEntity) -> Int {
            guard case .many(let near, _, _)? = entity.related["Near"] else { return 0 }
            return 1 + (near.map(depth).max() ?? 0)
        }
        #expect(shops.count == 8)
        #expect(shops.map(depth) == .init(repeating: 5, count: 8), "from 8 to 32,768 entities at a level")
        let error = await #expect(throws: ODataError.self) {
            try await send(.read, "Shops?$filter=ID ge 10&$select=ID&$expand=Near($levels=20;$select=ID)")
        }
        #expect(error?.code == "RowLimit")
    }
}
