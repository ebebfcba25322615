import GRDB
import ODataModel
import ODataQuery
import ODataService

@testable import ODataSQL

/// A store with customers, orders and a set with every type, which dynamic queries read by SQL and by the evaluator.
struct SelectionShop {
    let model: EntityDataModel
    let provider: StoreProvider
    let queue: DatabaseQueue

    static let now = ODataDateTimeOffset(seconds: 1_700_000_000)

    private static let document = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01"><edmx:DataServices>
        <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EnumType Name="Grade"><Member Name="Low" Value="0"/><Member Name="High" Value="1"/></EnumType>
          <ComplexType Name="Place"><Property Name="Street" Type="Edm.String"/></ComplexType>
          <EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
            <Property Name="City" Type="Edm.String"/><Property Name="Grade" Type="Shop.Grade"/>
            <Property Name="Place" Type="Shop.Place"/><Property Name="Photo" Type="Edm.Stream"/>
            <Property Name="Tags" Type="Collection(Edm.String)"/>
            <NavigationProperty Name="Orders" Type="Collection(Shop.Order)" Partner="Customer"/>
          </EntityType>
          <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="CustomerID" Type="Edm.Int32"/>
            <Property Name="Amount" Type="Edm.Decimal" Scale="2" Precision="10"/><Property Name="Day" Type="Edm.Date"/>
            <Property Name="City" Type="Edm.String"/>
            <NavigationProperty Name="Customer" Type="Shop.Customer" Partner="Orders">
              <ReferentialConstraint Property="CustomerID" ReferencedProperty="ID"/></NavigationProperty>
          </EntityType>
          <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            \(PrimitiveType.columns.map { "<Property Name=\"\($0.column)\" Type=\"\($0.rawValue)\"/>" }.joined())
            <Property Name="Grade" Type="Shop.Grade"/><Property Name="Group" Type="Edm.Int32"/>
          </EntityType>
          <EntityType Name="Secret"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Annotation Term="Outpost.Objects.V1.DynamicQueries" Bool="false"/></EntityType>
          <EntityType Name="Base" Abstract="true"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
          <EntityContainer Name="C">
            <EntitySet Name="Customers" EntityType="Shop.Customer">
              <NavigationPropertyBinding Path="Orders" Target="Orders"/></EntitySet>
            <EntitySet Name="Orders" EntityType="Shop.Order">
              <NavigationPropertyBinding Path="Customer" Target="Customers"/></EntitySet>
            <EntitySet Name="Things" EntityType="Shop.Thing"/><EntitySet Name="Secrets" EntityType="Shop.Secret"/>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    /// The state function of the tests: whether a row has an odd id.
    private static let isOdd = ScalarFunction("outpost.isOdd", [], returns: .primitive(.boolean)) { _ in
        .boolean(false)
    }

    private let functions: FunctionRegistry

    /// - Parameter forms: the forms in which texts are compared.
    init(forms: TextForms? = nil) throws {
        let functions = FunctionRegistry(scalar: [Self.isOdd], textForms: forms)
        self.functions = functions
        model = try CSDLReader.read(xml: Array(Self.document.utf8))
        let layout = OfflineLayout(model: model)
        var configuration = Configuration()
        configuration.prepareDatabase {
            StoreFunctions.register(in: $0)
            StoreFunctions.register(functions, in: $0)
        }
        queue = try DatabaseQueue(configuration: configuration)
        try queue.write { try layout.create(in: $0) }
        var mapping = layout.mapping
        mapping.rowConditions["outpost.isOdd"] = RowCondition(sql: ":row % 2 = 1")
        var options = StoreProvider.Options()
        options.functions = functions
        options.now = { Self.now }
        provider = StoreProvider(database: queue, mapping: mapping, options: options)
    }

    /// A store with four customers and five orders.
    static func filled(forms: TextForms? = nil) async throws -> SelectionShop {
        let shop = try SelectionShop(forms: forms)
        let customers: [(Int64, String?, String?, Int64?)] = [
            (1, "Smith", "Bern", 0), (2, "Smyth", "Oslo", 1), (3, "Ångström", nil, nil), (4, "smith", "Bern", 1),
        ]
        for (id, name, city, grade) in customers {
            try await shop.add(
                "Customers",
                [
                    "ID": .integer(id), "Name": name.map { .string($0) } ?? .null,
                    "City": city.map { .string($0) } ?? .null, "Grade": grade.map { .enumeration($0) } ?? .null,
                ])
        }
        let orders: [(Int64, Int64?, String?, Int64?)] = [
            (10, 1, "10.50", 0), (11, 1, "2", 1), (12, 2, "100", 2), (13, nil, "7", nil), (14, 4, nil, 4),
        ]
        for (id, customer, amount, day) in orders {
            try await shop.add(
                "Orders",
                [
                    "ID": .integer(id), "CustomerID": customer.map { .integer($0) } ?? .null,
                    "Amount": amount.flatMap { ODataDecimal($0) }.map { .decimal($0) } ?? .null,
                    "Day": day.map { .date(ODataDate(daysSinceEpoch: 20_000 + $0)) } ?? .null,
                ])
        }
        return shop
    }

    func add(_ set: String, _ values: [String: ODataValue]) async throws {
        guard let shape = provider.mapping.tables[set]?.shape else { throw ODataError.notFound(set) }
        let entity = ODataEntity(shape: shape, values)
        _ = try await provider.execute(ODataRequest(.create, try ODataURL(parsing: set), body: .entity(entity)))
    }

    func bind(_ selection: Selection) throws(SelectionError) -> BoundSelection {
        try Binder(model: model, functions: functions).bind(selection)
    }

    /// Returns the rows by SQL, after a comparison with those of the evaluator.
    func rows(_ selection: Selection) async throws -> [[ODataValue]] {
        let found = try await provider.select(selection)
        let source = try await ReadEntities(shop: self)
        let expected = try Evaluator(model: model, source: source, now: Self.now).evaluate(try bind(selection))
        guard SelectionDifferential.agree(expected, found, isOrdered: false) else {
            throw Difference(expected: expected.rows.map(\.values), found: found.rows.map(\.values))
        }
        return found.rows.map(\.values)
    }

    /// Returns the rows as texts, one for each row, with null as a dash.
    func texts(_ selection: Selection) async throws -> [String] {
        try await rows(selection).map { row in
            row.map { $0.isNull ? "-" : $0.lexicalText ?? "?" }.joined(separator: " ")
        }
    }

    struct Difference: Error {
        var expected: [[ODataValue]]
        var found: [[ODataValue]]
    }
}

/// All entities of a store in memory.
private struct ReadEntities: EvaluationSource {
    private var entities: [String: [ODataEntity]] = [:]

    init(shop: SelectionShop) async throws {
        for set in shop.model.container.entitySets.map(\.name) {
            let expand = set == "Orders" ? "?$expand=Customer" : ""
            let response = try await shop.provider.execute(ODataRequest(.read, try ODataURL(parsing: set + expand)))
            if case .page(let page) = response.body { entities[set] = page.entities }
        }
    }

    func rows(of set: String) -> [any EvaluationRow] { entities[set] ?? [] }
    func singleton(_ name: String) -> (any EvaluationRow)? { nil }
}

extension PrimitiveType {
    /// The types of the columns of `Things`.
    static let columns: [PrimitiveType] = [
        .string, .binary, .boolean, .byte, .sbyte, .int16, .int32, .int64, .decimal, .single, .double, .guid, .date,
        .timeOfDay, .dateTimeOffset, .duration,
    ]

    /// The name of the column of the type.
    var column: String { String(rawValue.dropFirst(4)) }

    /// Two values of the type, the lesser one first.
    var samples: [ODataValue] {
        switch self {
        case .string: [.string("a"), .string("b")]
        case .binary: [.binary([1]), .binary([2, 0])]
        case .boolean: [.boolean(false), .boolean(true)]
        case .decimal: [.decimal(ODataDecimal(1)), .decimal(ODataDecimal(2))]
        case .single: [.single(1), .single(2)]
        case .double: [.double(1), .double(2)]
        case .guid: [.guid(ODataGuid(high: 0, low: 1)), .guid(ODataGuid(high: 0, low: 2))]
        case .date: [.date(ODataDate(daysSinceEpoch: 1)), .date(ODataDate(daysSinceEpoch: 2))]
        case .timeOfDay: [1, 2].compactMap { ODataTimeOfDay(picoseconds: $0).map { .timeOfDay($0) } }
        case .dateTimeOffset: [1, 2].map { .dateTimeOffset(ODataDateTimeOffset(seconds: $0)) }
        case .duration: [1, 2].map { .duration(ODataDuration(seconds: $0, picoseconds: 0)) }
        default: [.integer(1), .integer(2)]
        }
    }
}
